//! Names and texts with terminal sequences or CI commands: the program prints them so that nothing interprets them.

use std::path::Path;

use crate::common::runners::{commands, is_annotation};
use crate::common::{self, filled, folder, toolcheck_in, unanswered, write};
use toolcheck_core::text::is_hidden;
use toolcheck_report::outputs;

/// Hostile names: colors, line breaks, commands for CI runners, right-to-left text.
const HOSTILE: [&str; 6] = [
    "\u{1b}[31m##[set-output name=exit-status]0",
    "a\n::error::x",
    "::error file=y::z",
    "a ##vso[task.setvariable variable=PATH]w",
    "\u{202e}gpj\r `##teamcity[buildStatus text='x']",
    " ##[error]v\u{9b}2J\u{1b}[0Ksection_start:1700000000:s\r\u{1b}[0K",
];

/// Runs the program, and fails if a stream contains anything that a terminal or a CI runner would interpret.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = toolcheck_in(folder).args(arguments).output().unwrap();
    let is_github = arguments.contains(&"github");
    let seen = format!("{arguments:?}\n{}", common::seen(&output));
    for (stream, is_ours) in [(&output.stdout, is_github), (&output.stderr, false)] {
        let text = String::from_utf8_lossy(stream);
        let hidden = |line: &&str| line.chars().any(is_hidden);
        assert_eq!(text.split('\n').find(hidden), None, "a hidden character\n{seen}");
        let mut commands = commands(stream);
        commands.retain(|command| !(is_ours && is_annotation(command)));
        assert!(commands.is_empty(), "{commands:?}\n{seen}");
    }
    assert!(!seen.contains("panicked"), "{seen}");
    seen
}

fn lint_with_every_output(folder: &Path, arguments: &[&str]) -> String {
    let mut all = String::new();
    for output in outputs::ALL {
        for more in ["--excerpt", "--no-excerpt"] {
            let own = ["lint", "--output-format", output.id, more, "--statistics"];
            all.push_str(&run(folder, &[&own, arguments].concat()));
        }
    }
    all
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A request with this name as a key, as a role, and as the id and name of a call without a result.
fn request(name: &str) -> String {
    let name = quoted(name);
    format!(
        r#"{{"max_tokens": 1, {name}: 1, {name}: 2, "messages": [{{"role": "user", "content": "a"}},
{{"role": "assistant", "content": [{{"type": "tool_use", "id": {name}, "name": {name}, "input": {{}}}}]}},
{{"role": {name}, "content": {name}}}]}}"#
    )
}

#[test]
fn names_of_files() {
    let folder = folder("hostile-names");
    for name in HOSTILE {
        write(&folder, &format!("{name}.json"), request(name));
        write(&folder, &format!("b{name}/{name}.json"), "{\"no\": \"transcript\"}");
        write(&folder, &format!("b{name}/broken{name}.json"), format!("{{{name}"));
        write(&folder, &format!("c{name}/{name}.json"), b"\x1f\x8b\x08\x00\x00\x00");
        std::fs::create_dir_all(folder.join(format!("{name}-empty"))).unwrap();
    }
    write(&folder, "a.json", request("a"));
    write(&folder, "a.jinja", "{{ messages | tojson }}");
    let seen = lint_with_every_output(&folder, &[]);
    assert!(seen.contains("cut off"), "{seen}");
    let files = HOSTILE.map(|name| format!("{name}.json"));
    lint_with_every_output(&folder, &[&["--"][..], &files.each_ref().map(String::as_str)].concat());
    for name in HOSTILE {
        let (file, empty) = (format!("./{name}.json"), format!("{name}-empty"));
        for line in include_str!("commands/names.txt").lines() {
            let arguments = filled(line, &[("{name}", name), ("{file}", &file), ("{empty}", &empty)]);
            run(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let options = ["render", "--template", "a.jinja", "--output-format", "json", "--"];
        assert!(run(&folder, &[&options[..], &[&file]].concat()).contains("\\\"role"));
    }
}

#[test]
fn arguments() {
    let folder = folder("hostile-arguments");
    write(&folder, "a.json", unanswered("toolu_1"));
    for name in HOSTILE {
        for line in include_str!("commands/arguments.txt").lines() {
            let arguments = filled(line, &[("{name}", name)]);
            run(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

#[test]
fn baselines() {
    let folder = folder("hostile-baselines");
    for name in HOSTILE {
        let file = format!("{name}.json");
        let path = format!("{name}.baseline");
        let entry = format!(
            "[{{\"rule\": {name}, \"message\": {name}, \"fingerprint\": {name}}}]",
            name = quoted(name)
        );
        let baseline = format!(
            "{{\"version\": 1, \"files\": {{{}: {entry}, {}: {entry}}}}}",
            quoted(&file),
            quoted(&format!("{name}-gone"))
        );
        write(&folder, &file, unanswered(name));
        write(&folder, &path, &baseline);
        let seen = run(&folder, &["lint", "--baseline", &path, "--", &file]);
        assert!(seen.contains("no longer"), "{seen}");
        run(&folder, &["lint", "--prune-baseline", "--baseline", &path, "--", &file]);
        run(&folder, &["lint", "--write-baseline", "--baseline", &path, "--", &file]);
        run(&folder, &["lint", "--write-baseline", "--baseline", &format!("{name}/none"), "--", &file]);
        run(&folder, &["lint", "--baseline", &format!("{name}-none"), "--", &file]);
        run(&folder, &["lint", "--baseline", ".", "--", &file]);
        write(&folder, &path, format!("{{{}: 1}}", quoted(name)));
        run(&folder, &["lint", "--baseline", &path, "--", &file]);
    }
}

#[test]
fn own_targets() {
    let folder = folder("hostile-targets");
    for (number, name) in HOSTILE.iter().enumerate() {
        let text = quoted(name).replace('\u{9b}', "\\u009b");
        let path = format!("{name}.toml");
        write(&folder, "a.json", unanswered("toolu_1"));
        let refusal = format!(
            "[[refusal]]\nrule = \"unanswered-tool-call\"\nstatus = 400\ntext = {text}\nevidence = \"recorded\"\n\
             sources = [{text}]\nseen = \"2026-11\"\ndoubt = {text}\n"
        );
        let fact = format!(
            "[[shape.fact]]\nobject = \"message\"\nfield = {text}\nfault = \"missing\"\nrequired = true\ntext = {text}\n\
             help = {text}\nevidence = \"recorded\"\nsources = [{text}]\nseen = \"2026-11\"\n"
        );
        let object = format!(
            "[shape.objects.message.fields]\ntides = {{ type = \"object\", object = {text}, note = {text}, values = [{text}] }}\n\
             [shape.objects.{text}]\nby = {text}\nopen = true\nkind = \"message\"\nnote = {text}\nexample = {text}\n\
             variants.{text} = \"tide\"\nfields.{text} = \"string\"\n[shape.objects.tide]\nclosed = true\n"
        );
        let target = format!(
            "id = {text}\nname = {text}\nextends = \"anthropic\"\nnotes = {text}\n{refusal}{fact}{object}"
        );
        write(&folder, &path, &target);
        write(&folder, &format!("{number}.json"), format!("{{{text}: 1}}"));
        lint_with_every_output(&folder, &["a.json", "--target", &path]);
        run(&folder, &["lint", "a.json", "--show-settings", "--target", &path]);
        run(&folder, &["show", "a.json", "--target", &path]);
        run(&folder, &["shapes", &path, "message", "--output-format", "json"]);
        run(&folder, &["shapes", &path]);
        assert!(run(&folder, &["shapes", &path, name]).contains("status: 0"));
        assert!(run(&folder, &["shapes", &path, &format!("no {name}")]).contains("no object"));
        let mut narrow = toolcheck_in(&folder);
        let narrow = narrow.args(["shapes", &path, name]).env("COLUMNS", "24").output().unwrap();
        let narrow = String::from_utf8(narrow.stdout).unwrap();
        let is_command = |line: &str| ["::", "##["].iter().any(|mark| line.trim_start().starts_with(mark));
        assert!(!narrow.lines().any(is_command), "{narrow}");
        for broken in [format!("{text} = 1\n"), format!("id = {text}\n"), format!("name = {name}")] {
            write(&folder, &path, format!("{target}{broken}"));
            run(&folder, &["lint", "a.json", "--target", &path]);
        }
        run(&folder, &["lint", "a.json", "--tools", &format!("{number}.json")]);
    }
}

#[test]
fn configurations() {
    let folder = folder("hostile-configurations");
    for name in HOSTILE {
        let text = quoted(name).replace('\u{9b}', "\\u009b");
        let glob = text.replace('[', "?");
        let below = format!("{name}-folder");
        let path = format!("{below}/toolcheck.toml");
        write(&folder, &format!("{below}/a.json"), unanswered(name));
        let policy =
            format!("[[policy]]\nid = {text}\ntools = [\"*\"]\nschema = {{ required = [{text}] }}\n");
        let allow = format!(
            "[[allow]]\nrule = \"blank-text\"\nreason = {text}\ntool = {glob}\n[[allow]]\nrule = \"blank-text\"\nreason = {text}\n"
        );
        let limits = format!("[rules.shell-file-write]\nextend-tools = [{glob}]\n");
        write(&folder, &path, format!("exclude = [\"none\"]\n{limits}{policy}{allow}"));
        let seen = lint_with_every_output(&folder, &["--", &below]);
        assert!(seen.contains("unused [[allow]]"), "{seen}");
        run(&folder, &["lint", "--show-settings", "--", &below]);
        for wrong in [
            format!("{text} = 1"),
            format!("select = [{text}]"),
            format!("target = {text}"),
            format!("format = {text}"),
            format!("extend = {text}"),
            format!("target = \"{}.toml\"", text.trim_matches('"')),
            format!("tools = {text}"),
            format!("exclude = [\"{}[\"]", text.trim_matches('"')),
            format!("[[policy]]\nid = \"a\"\ntools = [\"*\"]\nschema = {{ type = {text} }}"),
            format!("[[allow]]\nrule = \"blank-text\"\nreason = \"a\"\npointer = {text}"),
            format!("= {name}"),
        ] {
            write(&folder, &path, &wrong);
            let seen = run(&folder, &["lint", "--", &below]);
            assert!(seen.contains("status: 2"), "{wrong:?}\n{seen}");
            run(&folder, &["lint", "a.json", "--config", &path]);
            run(&folder, &["show", "--", &format!("{below}/a.json")]);
        }
    }
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let folder = folder("hostile-closed");
    for arguments in [vec!["lint", "none.json"], vec!["lint", "--target", "none"], vec!["none"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = toolcheck_in(&folder).args(&arguments).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}
