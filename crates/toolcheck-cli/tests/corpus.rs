//! `toolcheck test` with a corpus, as users run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value as Json;

use crate::common::{folder, root, seen, toolcheck};

const UNANSWERED: &str = r#"{
  "max_tokens": 1024,
  "tools": [{"name": "find_ferry", "input_schema": {"type": "object"}}],
  "messages": [
    {"role": "user", "content": "When does the ferry leave?"},
    {"role": "assistant", "content": [
      {"type": "tool_use", "id": "toolu_pier", "name": "find_ferry", "input": {}}
    ]},
    {"role": "user", "content": "Well?"}
  ]
}
"#;
const CLEAN: &str = r#"{"max_tokens": 9, "messages": [{"role": "user", "content": "Good morning."}]}"#;

/// The text of an expectation with these findings.
fn expecting(findings: &str) -> String {
    format!(
        "{{\n  \"source\": \"invented\",\n  \"description\": \"A ferry.\",\n  \"findings\": {findings}\n}}\n"
    )
}

const ONE: &str =
    r#"[{"rule": "unanswered-tool-call", "pointer": "/messages/1/content/0", "level": "error"}]"#;

fn corpus(name: &str) -> PathBuf {
    let folder = folder(name);
    for inside in ["anthropic", "logs", "same/ferry"] {
        fs::create_dir_all(folder.join(inside)).unwrap();
    }
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("anthropic/as-expected.json", UNANSWERED);
    write("anthropic/as-expected.expect.json", &expecting(ONE));
    write("anthropic/broken.json", CLEAN);
    write("anthropic/broken.expect.json", "{\"description\": \"A ferry.\",\n \"sauce\": \"invented\"}");
    write("anthropic/changed.json", UNANSWERED);
    let other = r#"[
    {"rule": "unanswered-tool-cal", "pointer": "/messages/1/content/0"}
  ]"#;
    write("anthropic/changed.expect.json", &expecting(other));
    write("anthropic/level.json", UNANSWERED);
    write("anthropic/level.expect.json", &expecting(&ONE.replace("error", "warning")));
    write("anthropic/missing.json", UNANSWERED);
    write("anthropic/renamed.expect.json", &expecting("[]"));
    let line = UNANSWERED.replace('\n', " ");
    write("logs/lines.jsonl", &format!("{CLEAN}\n{line}\n"));
    write("logs/lines.expect.json", &expecting("[]"));
    write("logs/more.ndjson", &format!("{CLEAN}\n{CLEAN}\n"));
    write("logs/more.expect.json", &expecting("[]"));
    write("logs/twice.json", CLEAN);
    write("logs/twice.jsonl", CLEAN);
    write("logs/twice.expect.json", &expecting("[]"));
    let one = r#"{"max_tokens": 9, "system": "Be brief.", "messages": [{"role": "user", "content": "Good morning."}]}"#;
    write("same/ferry/anthropic.json", one);
    let other = r#"{"contents": [{"role": "user", "parts": [{"text": "Good evening."}]}]}"#;
    write("same/ferry/gemini.json", other);
    write(".hidden.json", CLEAN);
    folder
}

/// Runs `toolcheck test` in the directory above a corpus.
fn test(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = toolcheck();
    command
        .current_dir(folder.parent().unwrap())
        .arg("test")
        .arg(folder.file_name().unwrap())
        .args(arguments);
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn failures_are_reported() {
    let folder = corpus("corpus-failures");
    insta::assert_snapshot!("failures", seen(&test(&folder, &[])));
    // Inside the corpus, paths are short.
    let mut command = toolcheck();
    let output = command.current_dir(&folder).args(["test", ".", "changed"]).output().unwrap();
    insta::assert_snapshot!("failures-in-the-corpus", seen(&output));
    // The names of parent folders are used too.
    let mut command = toolcheck();
    let output = command.current_dir(folder.join("same/ferry")).args(["test", "."]).output().unwrap();
    assert!(stdout(&output).contains("FAILED gemini.json\n  differs from anthropic.json"));
}

#[test]
fn colors_mark_expected_and_actual_findings() {
    let output = test(&corpus("corpus-colored"), &["changed", "--color", "always"]);
    let text = stdout(&output);
    assert!(text.contains("\u{1b}[31m- unanswered-tool-cal at"), "{text:?}");
    assert!(text.contains("\u{1b}[32m+ error unanswered-tool-call at"), "{text:?}");
    assert!(!stdout(&test(&corpus("corpus-plain"), &[])).contains('\u{1b}'));
}

#[test]
fn outputs_for_machines() {
    let folder = corpus("corpus-outputs");
    let output = test(&folder, &["--output-format", "junit"]);
    insta::assert_snapshot!("junit", stdout(&output));
    let output = test(&folder, &["--output-format", "json"]);
    let run: Json = serde_json::from_slice(&output.stdout).unwrap();
    let schema = fs::read(root().join("schemas/corpus-run.v1.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&run).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(run["summary"]["failed"], 8);
    let outcomes = |name: &str| {
        let cases = run["cases"].as_array().unwrap();
        cases.iter().find(|case| case["name"] == name).unwrap()["outcome"].clone()
    };
    assert_eq!(outcomes("anthropic/as-expected.json"), "passed");
    assert_eq!(outcomes("anthropic/missing.json"), "failed");
}

#[test]
fn outputs_go_to_files_and_the_screen() {
    let folder = corpus("corpus-two-outputs");
    let file = folder.parent().unwrap().join("corpus-two-outputs.xml");
    let output = test(&folder, &["--output-format", "text,junit=corpus-two-outputs.xml"]);
    assert!(stdout(&output).contains("FAILED anthropic/changed.json"));
    assert!(fs::read_to_string(&file).unwrap().starts_with("<?xml"));
    fs::remove_file(file).unwrap();
    let output = test(&folder, &["as-expected", "--output-format", "junit=no/such/folder.xml"]);
    assert_eq!(output.status.code(), Some(2));
    // Files of the corpus are not overwritten.
    for held in ["anthropic/changed.json", "anthropic/changed.expect.json"] {
        let wanted = format!("json={}/{held}", folder.file_name().unwrap().to_string_lossy());
        let before = fs::read(folder.join(held)).unwrap();
        let output = test(&folder, &["--output-format", &wanted]);
        assert_eq!(output.status.code(), Some(2));
        assert!(seen(&output).contains("is part of the corpus"), "{}", seen(&output));
        assert_eq!(fs::read(folder.join(held)).unwrap(), before);
    }
    let output = test(&folder, &["--output-format", "json=x.out,junit=x.out"]);
    assert!(seen(&output).contains("two outputs can't be written to the same file: x.out"));
    insta::assert_snapshot!("two-outputs", seen(&test(&folder, &["--output-format", "text,junit"])));
    insta::assert_snapshot!("mistyped-output", seen(&test(&folder, &["--output-format", "junt"])));
}

#[test]
fn cases_are_listed_and_filtered() {
    let folder = corpus("corpus-filtered");
    insta::assert_snapshot!("list", seen(&test(&folder, &["--list"])));
    let names = |filters: &[&str]| stdout(&test(&folder, &[&["--list"], filters].concat()));
    assert_eq!(names(&["chang"]), "anthropic/changed.json\n");
    assert_eq!(names(&["*.jsonl"]), "logs/lines.jsonl\nlogs/twice.jsonl\n");
    assert_eq!(names(&["logs/*.ndjson", "level"]), "anthropic/level.json\nlogs/more.ndjson\n");
    assert_eq!(test(&folder, &["as-expected"]).status.code(), Some(0));
    // A filter that matches nothing is an error, but the cases of the others still run.
    insta::assert_snapshot!("mistyped-filter", seen(&test(&folder, &["as-expected", "chnaged", "[x"])));
    assert_eq!(test(&folder, &["chnaged", "--list"]).status.code(), Some(2));
}

#[test]
fn only_requested_expectations_are_written() {
    let folder = corpus("corpus-blessed");
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let before = read("anthropic/broken.expect.json").unwrap();
    insta::assert_snapshot!("blessed", seen(&test(&folder, &["--bless"])));
    insta::assert_snapshot!("blessed-expectation", read("anthropic/changed.expect.json").unwrap());
    assert_eq!(read("anthropic/level.expect.json").unwrap(), expecting(ONE));
    assert!(read("anthropic/missing.expect.json").is_err(), "new ones were not requested");
    assert_eq!(read("anthropic/broken.expect.json").unwrap(), before);
    assert!(read("anthropic/renamed.expect.json").is_ok());
    assert_eq!(test(&folder, &["changed", "level", "logs/lines"]).status.code(), Some(0));

    insta::assert_snapshot!("blessed-new", seen(&test(&folder, &["missing", "--bless=new"])));
    insta::assert_snapshot!("new-expectation", read("anthropic/missing.expect.json").unwrap());
    let output = test(&folder, &["missing"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("TODO in 1 expectation"), "{}", stdout(&output));
}

#[test]
fn new_keeps_existing_expectations_and_all_updates_both() {
    let folder = corpus("corpus-blessed-new");
    let changed = || fs::read_to_string(folder.join("anthropic/changed.expect.json")).unwrap();
    let before = changed();
    let output = test(&folder, &["--bless=new"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(changed(), before);
    fs::remove_file(folder.join("anthropic/missing.expect.json")).unwrap();
    let output = test(&folder, &["anthropic", "--bless=all", "--output-format", "junit"]);
    assert_ne!(changed(), before);
    let notes = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(
        notes,
        "note: wrote corpus-blessed-new/anthropic/changed.expect.json\n\
         note: wrote corpus-blessed-new/anthropic/level.expect.json\n\
         note: wrote corpus-blessed-new/anthropic/missing.expect.json\n"
    );
    let output = test(&folder, &["--bless", "new"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(seen(&output).contains("did you mean `--bless=new`?"), "{}", seen(&output));
    let output = test(&folder, &["--bless=everything"]);
    assert_eq!(output.status.code(), Some(2), "{}", seen(&output));
}

#[cfg(unix)]
#[test]
fn hostile_names_are_data_in_every_output() {
    let folder = folder("corpus-hostile");
    let name = "a\u{1b}[31m\n::error::b\u{202e}<c>&\"d";
    fs::write(folder.join(format!("{name}.json")), UNANSWERED).unwrap();
    for output in ["text", "junit", "json"] {
        let output = test(&folder, &["--output-format", output]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1));
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\n::error"), "{text}");
        assert!(!text.contains("<c>") || !text.starts_with('<'), "{text}");
    }
    let output = test(&folder, &["--list"]);
    assert_eq!(stdout(&output), "a\\u{1b}[31m\\u{a}::error::b\\u{202e}<c>&\"d.json\n");
    let output = test(&folder, &["--bless=new"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(folder.join(format!("{name}.expect.json")).is_file());
    // A filter may be hostile too.
    let output = test(&folder, &["\u{1b}[2Jx"]);
    assert!(!seen(&output).contains('\u{1b}'), "{}", seen(&output));
}

#[cfg(unix)]
#[test]
fn unreadable_cases_do_not_hide_others() {
    let folder = corpus("corpus-unreadable");
    // A dangling link, and a link to a parent folder.
    std::os::unix::fs::symlink("nowhere.json", folder.join("anthropic/dangling.json")).unwrap();
    std::os::unix::fs::symlink("..", folder.join("anthropic/loop")).unwrap();
    // An expectation that is a folder.
    fs::write(folder.join("anthropic/folder.json"), CLEAN).unwrap();
    fs::create_dir(folder.join("anthropic/folder.expect.json")).unwrap();
    fs::write(folder.join("anthropic/bytes.json"), CLEAN).unwrap();
    fs::write(folder.join("anthropic/bytes.expect.json"), b"\xff").unwrap();
    insta::assert_snapshot!("unreadable", seen(&test(&folder, &["anthropic"])));
}

#[test]
fn nothing_to_run_is_an_error() {
    let folder = folder("corpus-empty");
    insta::assert_snapshot!("empty", seen(&test(&folder, &[])));
    insta::assert_snapshot!("no-directory", seen(&test(&folder.join("nowhere"), &[])));
    fs::write(folder.join("case.json"), CLEAN).unwrap();
    let output = test(&folder.join("case.json"), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", seen(&output));
}

#[test]
fn many_differences_are_summarised() {
    let folder = folder("corpus-many");
    let text = vec![r#"{"role": "user", "content": ""}"#; 5000].join(",");
    fs::create_dir(folder.join("anthropic")).unwrap();
    fs::write(folder.join("anthropic/case.json"), format!(r#"{{"max_tokens": 1, "messages": [{text}]}}"#))
        .unwrap();
    for output in ["text", "junit"] {
        let text = stdout(&test(&folder, &["--output-format", output]));
        assert!(text.lines().count() < 60 && text.contains("more differences"), "{text}");
    }
}

#[test]
fn help() {
    insta::assert_snapshot!("help", seen(&toolcheck().args(["test", "--help"]).output().unwrap()));
}

#[cfg(unix)]
#[test]
fn endless_configurations_are_reported() {
    let folder = folder("corpus-endless");
    fs::write(folder.join("a.json"), CLEAN).unwrap();
    let expectation = r#"{"description": "a", "source": "b", "config": "/dev/zero", "findings": []}"#;
    fs::write(folder.join("a.expect.json"), expectation).unwrap();
    let seen = seen(&test(&folder, &[]));
    assert!(seen.starts_with("status: 1") && seen.contains("`config` /dev/zero: it is a device"), "{seen}");
}
