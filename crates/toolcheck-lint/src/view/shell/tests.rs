use proptest::prelude::*;
use serde_json::json;

use super::script::MOST_SUBSTITUTIONS;
use super::*;

/// The writer of a file in a script, and the text of the write.
fn found(script: &str) -> Option<(&'static str, &str)> {
    in_script(script, true).expect("a thread can be started").map(|(by, bytes)| (by, &script[bytes]))
}

#[test]
fn scripts_that_write_files() {
    let table: &[(&str, &str, &str)] = &[
        ("echo hi > f", "echo", "> f"),
        ("echo hi>f", "echo", ">f"),
        ("echo hi >> f", "echo", ">> f"),
        ("echo hi >| f", "echo", ">| f"),
        ("echo hi &> f", "echo", "&> f"),
        ("echo hi &>> f", "echo", "&>> f"),
        ("echo hi >& f", "echo", ">& f"),
        ("echo hi 1> f", "echo", "> f"),
        ("> f echo hi", "echo", "> f"),
        ("echo 2 > f", "echo", "> f"),
        ("echo hi > f 2>&1", "echo", "> f"),
        ("echo hi 2>/dev/null > \"my file\"", "echo", "> \"my file\""),
        ("printf '%s\\n' hi > f", "printf", "> f"),
        ("/bin/echo hi > f", "echo", "> f"),
        ("\"echo\" hi > f", "echo", "> f"),
        ("\\echo hi > f", "echo", "> f"),
        ("command echo hi > f", "echo", "> f"),
        ("sudo -u root echo hi > f", "echo", "> f"),
        ("LANG=C echo hi > f", "echo", "> f"),
        ("env LANG=C echo hi > f", "echo", "> f"),
        ("cat > f <<EOF\na > b\nEOF\n", "cat", "> f"),
        ("cat > f <<'EOF'\nit's `x` $(y\nEOF", "cat", "> f"),
        ("cat <<EOF > f\na\nEOF\nls", "cat", "> f"),
        ("cat > f <<EOF\nnever closed", "cat", "> f"),
        ("cat <<-EOF >> f\n\ta\n\tEOF\n", "cat", ">> f"),
        ("cat <<A <<B > f\na\nA\nb\nB\n", "cat", "> f"),
        ("base64 -d <<< aGk= > f", "a here-document", "> f"),
        ("envsubst <<EOF > f\n$A\nEOF", "a here-document", "> f"),
        ("echo hi | tee f", "tee", "f"),
        ("echo hi | tee >(wc) log", "tee", "log"),
        ("echo hi | cat > f", "cat", "> f"),
        ("{ { echo a; }; cd b; } > f", "echo", "> f"),
        ("echo hi | sudo tee -a /etc/hosts > /dev/null", "tee", "/etc/hosts"),
        ("tee -- -f <<EOF\na\nEOF", "tee", "-f"),
        ("tee f <<EOF > /dev/null\na\nEOF", "tee", "f"),
        ("cd a && echo hi > f", "echo", "> f"),
        ("false || echo hi > f; ls", "echo", "> f"),
        ("ls; sleep 1 & echo hi > f", "echo", "> f"),
        ("ls\necho hi > f\n", "echo", "> f"),
        ("# it's\necho hi > f", "echo", "> f"),
        ("(echo hi > f)", "echo", "> f"),
        ("(cd a; echo b) > f", "echo", "> f"),
        ("{ echo a; echo b; } > f", "echo", "> f"),
        ("{ echo a; } 2>/dev/null >> f", "echo", ">> f"),
        ("if true; then echo a > f; fi", "echo", "> f"),
        ("for x in a b; do echo $x; done > f", "echo", "> f"),
        ("for x in a b\ndo\n  echo $x >> f\ndone", "echo", ">> f"),
        ("for ((i=0; i<3; i++)); do echo $i >> f; done", "echo", ">> f"),
        ("while read x; do echo $x > f; done < list", "echo", "> f"),
        ("case $x in a) echo a > f;; b) ls;; esac", "echo", "> f"),
        ("case $x in\n  (a|b)\n    echo a > f\n    ;;\nesac", "echo", "> f"),
        ("f() { echo a > f; }", "echo", "> f"),
        ("function f { echo a > f; }", "echo", "> f"),
        ("! echo a > f", "echo", "> f"),
        ("time echo a > f", "echo", "> f"),
        ("f(){ echo a > f; }", "echo", "> f"),
        ("echo {a,b} ${c} \"{d\" > {f}", "echo", "> {f}"),
        ("a=(x y); echo $a > f", "echo", "> f"),
        ("[[ a > b ]] && echo a > f", "echo", "> f"),
        ("diff <(ls a) <(ls b); echo a > f", "echo", "> f"),
        ("bash -c 'echo hi > f'", "echo", "'echo hi > f'"),
        ("sudo bash -lc \"cat > f <<EOF\na\nEOF\n\"", "cat", "\"cat > f <<EOF\na\nEOF\n\""),
        ("echo a > /dev/null; echo b > f", "echo", "> f"),
        ("echo a > /dev/shm/f", "echo", "> /dev/shm/f"),
        ("echo a > $HOME/f", "echo", "> $HOME/f"),
        ("echo \u{1F600}\u{e9} > \u{e9}", "echo", "> \u{e9}"),
        ("echo a \\\n  > f", "echo", "> f"),
    ];
    let wrong = table.iter().filter(|(script, by, at)| found(script) != Some((*by, *at)));
    let wrong: Vec<_> = wrong.map(|(script, ..)| (script, found(script))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn scripts_that_write_no_files() {
    let table = [
        "",
        "echo hi",
        "cat file",
        "printf hi",
        "tee",
        "ls | tee",
        "ls | tee f",
        "make 2>&1 | tee build.log",
        "cargo test 2>&1 | tee /tmp/out.txt | tail -5",
        "git diff | tee x",
        "cat a b > c",
        "cat /var/log/x > /tmp/y",
        "ls | cat > f",
        "python3 - <<'EOF' > out.txt\nprint(1)\nEOF",
        "sqlite3 db > out.txt <<'EOF'\nselect 1;\nEOF",
        "{ time make; echo done; } > build.log",
        "for f in *; do echo $f; grep x $f; done > out",
        "{ { echo a; }; ls; } > f",
        "if true; then ls; else echo a; fi > f",
        "echo 1 > /proc/sys/vm/drop_caches",
        "echo hi | tee /dev/null",
        "echo hi | tee -a /dev/stderr",
        "echo hi > /dev/null",
        "echo hi > /dev/stdout",
        "echo hi >/dev/tty",
        "echo hi >&2",
        "echo hi 1>&2",
        "echo hi >&-",
        "echo hi 2> err.log",
        "echo hi 2>&1",
        "echo hi > NUL",
        "echo hi > >(cat)",
        "echo 'a > b'",
        "echo \"a > b\"",
        "echo a \\> b",
        "echo hi # > f",
        "echo \"$(date > f)\"",
        "npm test > out.log",
        "npm test > out.log 2>&1 && echo done",
        "npm test &> out.log",
        "grep -c x < in > out",
        "sort a | uniq > out",
        "echo a | sort > out",
        "{ echo a | sort; } > out",
        "{ ls; } > out",
        "{ echo a > /dev/null; } > out",
        "for cat in a; do ls; done > out",
        "case $x in echo) ls;; cat) ls;; esac > out",
        "python - <<EOF\nprint(1 > 2)\nEOF",
        "cat <<EOF\na > b\nEOF",
        "cat <<EOF | python\na > b\nEOF",
        "cat <<< a",
        "[[ a > b ]]",
        "(( a > b ))",
        "diff <(echo a) <(echo b)",
        "bash -c 'echo hi'",
        "bash -c 'echo \"a > b\"'",
        "bash script.sh 'echo hi > f'",
        "bash -c \"bash -c 'echo hi > f'\"",
        "committee f",
        "echo 'never closed > f",
        "echo $(never closed > f",
        "f=echo; $f a > f",
    ];
    let wrong: Vec<_> = table.iter().filter_map(|script| Some((script, found(script)?))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn commands_in_all_their_forms() {
    let written = |arguments: serde_json::Value| {
        let commands = commands(&arguments);
        commands
            .iter()
            .find_map(|command| command.write().expect("a thread can be started"))
            .map(|write| (write.by, write.at.key, write.at.element, write.bytes))
    };
    let table = [
        (json!({"command": "echo hi > f"}), Some(("echo", "command", None, Some(8..11)))),
        (json!({"cmd": "echo hi > f"}), Some(("echo", "cmd", None, Some(8..11)))),
        (json!({"CommandLine": "echo hi > f"}), Some(("echo", "CommandLine", None, Some(8..11)))),
        (json!({"command": ["bash", "-lc", "echo hi > f"]}), Some(("echo", "command", Some(2), Some(8..11)))),
        (
            json!({"command": ["env", "A=b", "sh", "-c", "echo > f"]}),
            Some(("echo", "command", Some(4), Some(5..8))),
        ),
        (json!({"command": ["tee", "f"]}), Some(("tee", "command", Some(1), None))),
        (json!({"command": ["echo", "hi", ">", "f"]}), None),
        (json!({"command": ["bash", "f.sh", "echo hi > f"]}), None),
        (json!({"commands": ["ls", "echo hi > f"]}), Some(("echo", "commands", Some(1), Some(8..11)))),
        (json!({"command": "echo", "args": ["hi", ">", "f"]}), Some(("echo", "command", None, None))),
        (json!({"command": "echo", "args": ["a > b", "it's"]}), None),
        (
            json!({"command": "bash", "args": ["-c", "echo hi > f"]}),
            Some(("echo", "args", Some(1), Some(8..11))),
        ),
        (json!({"command": "tee", "args": ["f"]}), Some(("tee", "args", Some(0), None))),
        (json!({"command": "echo hi > f", "args": []}), Some(("echo", "command", None, Some(8..11)))),
        (json!({"command": 5, "cmd": "echo hi > f"}), Some(("echo", "cmd", None, Some(8..11)))),
        (json!({"command": ["echo", 5]}), None),
        (json!({"other": "echo hi > f"}), None),
        (json!([]), None),
    ];
    for (arguments, expected) in table {
        assert_eq!(written(arguments.clone()), expected, "{arguments}");
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
