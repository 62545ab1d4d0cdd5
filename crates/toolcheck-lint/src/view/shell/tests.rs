use proptest::prelude::*;
use serde_json::json;

use super::script::MOST_SUBSTITUTIONS;
use super::*;

/// The writer of a file in a script, and the text of the write.
fn found(script: &str) -> Option<(&str, &str)> {
    in_script(script, true).expect("a thread can be started").map(|(by, bytes)| (by, &script[bytes]))
}

/// Each line of `scripts.jsonl` has a script, and the writer with the text of the write if it writes a file.
#[test]
fn scripts_that_write_files_or_none() {
    let mut wrong = Vec::new();
    for line in include_str!("scripts.jsonl").lines() {
        let (script, wanted): (String, Option<(String, String)>) = serde_json::from_str(line).expect(line);
        let found = found(&script);
        if found != wanted.as_ref().map(|(by, at)| (&**by, &**at)) {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A file that is written: by what, in which argument and element, and the bytes of it.
type Written = (String, String, Option<usize>, Option<(usize, usize)>);

/// Each line of `commands.jsonl` has the arguments of a call, and the file that it writes.
#[test]
fn commands_in_all_their_forms() {
    for line in include_str!("commands.jsonl").lines() {
        let (arguments, expected): (serde_json::Value, Option<Written>) =
            serde_json::from_str(line).expect(line);
        let mut commands = commands(&arguments).into_iter();
        let write = commands.find_map(|command| command.write().expect("a thread can be started"));
        let written = write.map(|Write { by, at, bytes }| {
            (by.to_owned(), at.key.to_owned(), at.element, bytes.map(|bytes| (bytes.start, bytes.end)))
        });
        assert_eq!(written, expected, "{line}");
    }
}

#[test]
fn lengths_include_separators() {
    let length = |arguments: serde_json::Value, unit| commands(&arguments)[0].length(unit);
    assert_eq!(length(json!({"command": "a\u{e9}\u{1F600}"}), Unit::Bytes), 7);
    assert_eq!(length(json!({"command": "a\u{e9}\u{1F600}"}), Unit::Utf16), 4);
    assert_eq!(length(json!({"command": "a\u{e9}\u{1F600}"}), Unit::Characters), 3);
    assert_eq!(length(json!({"command": ["ls", "-l"]}), Unit::Bytes), 5);
    assert_eq!(length(json!({"command": "ls", "args": ["-l", "a"]}), Unit::Bytes), 7);
}

/// Scripts on which a parser might be slow or overflow its stack.
#[test]
fn hostile_scripts_are_cheap() {
    let deep = |open: &str, close: &str, depth: usize| {
        format!("echo {}a{} > f", open.repeat(depth), close.repeat(depth))
    };
    let long = |piece: &str| piece.repeat((LONGEST - 4) / piece.len());
    let mut scripts: Vec<String> =
        ["(", "((", "{ ", "$(", "${a:-", "`", "\"$(", "<(", "$((", "[", "if ", "case a in a) "]
            .into_iter()
            .chain([
                "<<A ", "echo \\`", "`echo \"", "a=(", "! ", "time ", "> f ", "& ", "| ", "f() ", "\\",
                "# a\n", "\n",
            ])
            .flat_map(|piece| [format!("{} > f", piece.repeat(2000)), format!("{} > f", long(piece))])
            .collect();
    for depth in [8, MOST_SUBSTITUTIONS / 2, MOST_SUBSTITUTIONS, 1000, 10_000] {
        scripts.push(deep("$(echo ", ")", depth));
        scripts.push(deep("\"$(echo ", ")\"", depth));
        scripts.push(deep("${a:-", "}", depth));
        scripts.push(deep("\"${a:-", "}\"", depth));
        scripts.push(deep("<( echo ", " )", depth));
        scripts.push(deep("$(( ", " ))", depth));
        scripts.push(format!("[[ {} a {} ]] > f", "( ".repeat(depth), " )".repeat(depth)));
        scripts.push(format!("echo $({} {}) > f", "echo \"`x ".repeat(depth), "a".repeat(10_000)));
    }
    scripts.push(deep("( ", " )", 20_000));
    scripts.push(deep("{,", "}", 20_000));
    scripts.push(format!("echo {} > f", "$a{".repeat(80_000)));
    scripts.push(format!("echo \"{}\" > f", "$a { ".repeat(8000)));
    scripts.push(format!("echo \"{}\" > f", "$a { ".repeat(50_000)));
    scripts.push("cat > /dev/null <<EOF\na\nEOF\n".repeat(5000));
    for script in scripts {
        assert!(script.len() <= LONGEST);
        let _ = found(&script);
    }
}

#[test]
fn a_write_of_a_whole_program_is_found() {
    let program = "if (a > b) { print(\\`${a} $b\\`, \\\"c\\\"); }\n".repeat(3500);
    let script = format!("echo \"{program}\" > create_user.py");
    assert!(script.len() > 131_072);
    assert_eq!(found(&script), Some(("echo", "> create_user.py")));
    let script = format!("cat > deploy.sh <<'EOF'\n{}EOF\n", "echo $(date) `id` ${A:-'\n".repeat(1000));
    assert_eq!(found(&script), Some(("cat", "> deploy.sh")));
    // Scripts that are longer than any system accepts, or nested too deeply, are skipped.
    assert_eq!(found(&format!("echo {} > f", "a".repeat(LONGEST))), None);
    assert_eq!(found(&format!("echo {} > f", "$(a) ".repeat(1000))), None);
}

proptest! {
    #[test]
    fn nothing_panics(script in "([ -~\n\u{e9}\u{1F600}]|<<|>|>>|>&|\\(|\\)|\\$\\(|\\$\\{|`|'|\"|echo |cat |tee |EOF|\n){0,60}") {
        let _ = found(&format!("{script}>"));
    }

    #[test]
    fn quoted_text_is_not_a_redirection(text in "[ -~&&[^'\"]]{0,40}") {
        let script = format!("echo '{text}' 'tee f >'");
        prop_assert_eq!(found(&script), None);
    }
}
