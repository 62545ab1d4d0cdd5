//! `toolcheck fix` on files and on the standard input.

use std::fs;

use crate::common::{self, CLEAN, folder, root, run, run_with_input, seen_in, toolcheck_in, write};

const UNANSWERED: &str = r#"{"model": "gpt-4o", "messages": [
  {"role": "user", "content": "tides"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}]},
  {"role": "user", "content": "and now?"}
]}
"#;

const ORPHAN: &str = r#"{"model": "gpt-4o", "messages": [
  {"role": "user", "content": "tides"},
  {"role": "assistant", "content": "One moment."},
  {"role": "tool", "tool_call_id": "c1", "content": "low at six"},
  {"role": "user", "content": "and now?"}
]}
"#;

fn fixed() -> String {
    let result =
        "No result of this tool call is in the conversation. It may or may not have been carried out.";
    let message = format!(r#"{{"role": "tool", "tool_call_id": "c1", "content": "{result}"}}"#);
    UNANSWERED.replace("}}]},\n", &format!("}}}}]}},\n  {message},\n"))
}

#[test]
fn a_file_is_fixed_in_place_and_then_left_alone() {
    let folder = folder("fix-place");
    write(&folder, "a.json", UNANSWERED);
    write(&folder, "clean.json", CLEAN);
    let output = toolcheck_in(&folder).args(["fix", "--isolated", "a.json", "clean.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "a.json: 1 finding fixed (1 inserted); nothing lost\n"
    );
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), fixed());
    assert_eq!(fs::read_to_string(folder.join("clean.json")).unwrap(), CLEAN);
    let again = seen_in(&folder, &["fix", "--isolated", "a.json"]);
    assert_eq!(again, "status: 0\n--- stdout\n--- stderr\nnote: nothing to fix in 1 file\n");
}

#[test]
fn the_standard_input_is_always_written_whole() {
    let output = run_with_input(&["fix", "--isolated", "-"], UNANSWERED.as_bytes());
    assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap()), (Some(0), fixed()));
    for text in [CLEAN, ORPHAN, "[1", "", "no JSON"] {
        let output = run_with_input(&["fix", "--isolated", "-"], text.as_bytes());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}

#[test]
fn what_is_left_says_why_and_nothing_is_written() {
    let folder = folder("fix-left");
    write(&folder, "a.json", ORPHAN);
    let seen = seen_in(&folder, &["fix", "--isolated", "a.json"]);
    assert!(seen.starts_with("status: 1\n"), "{seen}");
    assert!(seen.contains("left: a.json:4:3: orphan-tool-result: needs --unsafe-fixes"), "{seen}");
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), ORPHAN);
    let seen = seen_in(&folder, &["fix", "--isolated", "--unsafe-fixes", "a.json"]);
    assert!(seen.starts_with("status: 0\n"), "{seen}");
    assert!(seen.contains("  4:3: orphan-tool-result: lost: the fact that it is a result"), "{seen}");
    assert!(fs::read_to_string(folder.join("a.json")).unwrap().contains("low at six"));
}

#[test]
fn what_is_left_of_a_session_says_why_also_where_it_is_a_warning() {
    let folder = folder("fix-session-left");
    let text = fs::read_to_string(root().join("fixtures/inputs/codex/continued.jsonl")).unwrap();
    write(&folder, "a.jsonl", &text);
    let seen = seen_in(&folder, &["fix", "--isolated", "a.jsonl"]);
    let why = "its records are numbered, and the program refuses a file with a gap in the numbers";
    let left = format!("left: a.jsonl:6:94: orphan-tool-result: {why}\n");
    assert_eq!(seen, format!("status: 0\n--- stdout\n--- stderr\n{left}"));
    assert_eq!(fs::read_to_string(folder.join("a.jsonl")).unwrap(), text);
}

#[test]
fn a_plan_and_a_diff_write_nothing() {
    let folder = folder("fix-plan");
    write(&folder, "a.json", UNANSWERED);
    let output = toolcheck_in(&folder).args(["fix", "--isolated", "--plan", "a.json"]).output().unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &plan["version"]), (Some(1), &1.into()));
    assert_eq!(plan["files"][0]["applied"][0]["rule"], "unanswered-tool-call");
    assert_eq!(plan["files"][0]["applied"][0]["safe"], true);
    assert_eq!(plan["files"][0]["findings_left"], 0);
    fits_the_schema(&plan);
    let output = toolcheck_in(&folder).args(["fix", "--isolated", "--diff", "a.json"]).output().unwrap();
    let diff = String::from_utf8(output.stdout).unwrap();
    assert!(diff.starts_with("--- a.json\n+++ a.json\n@@ -1,5 +1,6 @@\n {\"model\""), "{diff}");
    assert!(diff.contains("\n+  {\"role\": \"tool\", "), "{diff}");
    assert!(!diff.contains("and now?") && !diff.contains("tides"), "{diff}");
    let output = toolcheck_in(&folder)
        .args(["fix", "--isolated", "--diff", "--show-values", "a.json"])
        .output()
        .unwrap();
    let diff = String::from_utf8(output.stdout).unwrap();
    let added = fixed().lines().nth(3).unwrap().to_owned();
    assert!(diff.contains(&format!("\n+{added}\n")) && diff.contains("and now?"), "{diff}");
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), UNANSWERED);
    // The new result is marked, and not the one before it, whose closing bracket is the same.
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/seeds/coco-before.json");
    let seen = seen_in(&folder, &["show", "--isolated", "--fix", seed]);
    let marked: Vec<&str> = seen.lines().filter(|line| line.contains("changed by")).collect();
    assert!(marked.len() == 1 && marked[0].contains("2 search_patterns"), "{seen}");
}

#[track_caller]
fn fits_the_schema(plan: &serde_json::Value) {
    let schema = fs::read(root().join("schemas/fix-plan.v1.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(plan).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn a_plan_names_the_bytes_that_change_and_show_marks_their_lines() {
    let folder = folder("fix-edits");
    write(&folder, "a.json", UNANSWERED);
    let output = toolcheck_in(&folder).args(["fix", "--isolated", "--plan", "a.json"]).output().unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = &plan["files"][0];
    let edits = file["edits"].as_array().unwrap();
    let number = |of: &serde_json::Value, key: &str| usize::try_from(of[key].as_u64().unwrap()).unwrap();
    let change: isize = edits
        .iter()
        .map(|edit| {
            let old = number(edit, "byte_end") - number(edit, "byte_start");
            number(edit, "new_length").cast_signed() - old.cast_signed()
        })
        .sum();
    assert_eq!(number(file, "bytes_before"), UNANSWERED.len());
    assert_eq!(number(file, "bytes_after").cast_signed(), UNANSWERED.len().cast_signed() + change);
    assert!(number(&edits[0], "byte_start") <= number(file, "first_changed_byte"));
    let seen = seen_in(&folder, &["show", "--isolated", "--fix", "a.json"]);
    assert_eq!(seen.matches("changed by `toolcheck fix`").count(), 1, "{seen}");
    assert!(!seen.contains("unanswered-tool-call"), "{seen}");
    let seen = seen_in(&folder, &["show", "--isolated", "--fix", "--output-format", "html", "a.json"]);
    assert!(seen.contains("changed by <code>toolcheck fix</code>"), "{seen}");
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), UNANSWERED);
}

#[test]
fn what_is_left_in_a_form_of_its_own_is_said_to_be() {
    let folder = folder("fix-own-form");
    let text = fs::read_to_string(root().join("fixtures/inputs/langchain/state-lost-result.json")).unwrap();
    write(&folder, "a.json", &text);
    let seen = seen_in(&folder, &["fix", "--isolated", "--fail-on", "warning", "a.json"]);
    assert!(seen.contains("its messages have a form of their own, or are inside a string"), "{seen}");
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), text);
}

#[test]
fn a_plan_says_what_is_skipped_and_why() {
    let folder = folder("fix-skipped");
    write(&folder, "a.json", ORPHAN);
    let output = toolcheck_in(&folder).args(["fix", "--isolated", "--plan", "a.json"]).output().unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    fits_the_schema(&plan);
    assert_eq!(plan["files"][0]["skipped"][0]["unsafe"], true);
    assert_eq!(plan["files"][0]["first_changed_byte"], serde_json::Value::Null);
}

#[test]
fn lint_marks_what_can_be_fixed_and_fixes_it() {
    let folder = folder("fix-lint");
    write(&folder, "a.json", UNANSWERED);
    write(&folder, "b.json", ORPHAN);
    let seen = seen_in(&folder, &["lint", "--isolated", "--output-format", "concise", "."]);
    assert!(seen.contains("a.json:3:57: error unanswered-tool-call [*] tool call"), "{seen}");
    assert!(seen.contains("b.json:4:3: error orphan-tool-result [-] tool result"), "{seen}");
    assert!(
        seen.contains("\n[*] 1 fixable with `toolcheck fix --isolated`, [-] 1 more with `--unsafe-fixes`\n"),
        "{seen}"
    );
    let seen = seen_in(&folder, &["lint", "--isolated", "--output-format", "concise", "--fix", "."]);
    assert!(seen.starts_with("status: 1\n") && seen.contains("a.json: 1 finding fixed"), "{seen}");
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), fixed());
    assert_eq!(fs::read_to_string(folder.join("b.json")).unwrap(), ORPHAN);
    let seen = seen_in(&folder, &["lint", "--isolated", "--fix", "--unsafe-fixes", "."]);
    assert!(seen.starts_with("status: 0\n"), "{seen}");
    assert!(run(&["lint", "--isolated", "--fix", "-"]).status.code() == Some(2));
}

#[test]
fn large_files_are_fixed_like_small_ones() {
    let folder = folder("fix-large");
    let line = |text: &str| format!("{}\n", text.replace("\n", ""));
    let clean = line(CLEAN).repeat((17 << 20) / CLEAN.len());
    write(&folder, "clean.jsonl", &clean);
    write(&folder, "broken.jsonl", format!("{}{}", line(CLEAN), line(UNANSWERED)));
    assert!(seen_in(&folder, &["fix", "--isolated", "."]).starts_with("status: 0\n"));
    assert_eq!(
        fs::read_to_string(folder.join("broken.jsonl")).unwrap(),
        format!("{}{}", line(CLEAN), line(&fixed()))
    );
    assert!(fs::read_to_string(folder.join("clean.jsonl")).unwrap() == clean);
}

#[test]
fn a_call_without_a_result_can_be_removed_instead() {
    let args = ["fix", "--isolated", "--unsafe-fixes", "--unanswered", "drop", "-"];
    let output = run_with_input(&args, UNANSWERED.as_bytes());
    let wanted: String = UNANSWERED
        .lines()
        .filter(|line| !line.contains("tool_calls"))
        .map(|line| format!("{line}\n"))
        .collect();
    // Two messages of the user in a row are taken by this API.
    assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap()), (Some(0), wanted));
}

#[test]
fn a_compressed_file_is_not_written() {
    let folder = folder("fix-compressed");
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, UNANSWERED.as_bytes()).unwrap();
    let zipped = zipped.finish().unwrap();
    fs::write(folder.join("a.json.gz"), &zipped).unwrap();
    let seen = seen_in(&folder, &["fix", "--isolated", "a.json.gz"]);
    let left = "left: a.json.gz:3:57: unanswered-tool-call: a compressed file is not changed";
    assert!(seen.starts_with("status: 1\n") && seen.contains(left), "{seen}");
    assert_eq!(fs::read(folder.join("a.json.gz")).unwrap(), zipped);
    // The plan and the marks say the same.
    let plan = seen_in(&folder, &["fix", "--isolated", "--plan", "a.json.gz"]);
    assert!(plan.contains("\"applied\": []") && plan.contains("a compressed file is not changed"), "{plan}");
    let marks = seen_in(&folder, &["lint", "--isolated", "a.json.gz"]);
    assert!(marks.contains("unanswered-tool-call") && !marks.contains("fixable"), "{marks}");
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    assert_eq!(run(&["fix", "--isolated", "no/such/file.json"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_link_is_changed_where_it_is_named_and_not_where_a_glob_found_it() {
    let folder = folder("fix-links");
    write(&folder, "outside/a.json", UNANSWERED);
    write(&folder, "inside/own.json", UNANSWERED);
    std::os::unix::fs::symlink("../outside/a.json", folder.join("inside/a.json")).unwrap();
    std::os::unix::fs::symlink("../outside", folder.join("inside/folder")).unwrap();
    let outside = || fs::read_to_string(folder.join("outside/a.json")).unwrap();
    let seen = seen_in(&folder.join("inside"), &["fix", "--isolated", "*.json", "*/*.json"]);
    assert!(seen.starts_with("status: 1\n") && seen.contains("own.json: 1 finding fixed"), "{seen}");
    for found in ["a.json", "folder/a.json"] {
        let note = format!("note: {found}: not changed, because a glob found it through a link");
        // The same file is told of once, by its first name.
        assert_eq!(seen.contains(&note), found == "a.json", "{seen}");
    }
    assert_eq!(outside(), UNANSWERED);
    // Neither does a search, nor a glob that a folder of the user's leads to.
    for path in [".", "../inside", "**/*.json", "fol*/a.json", "[f]older/*.json"] {
        let seen = seen_in(&folder.join("inside"), &["fix", "--isolated", path]);
        let is_found = path.contains('*');
        assert!(seen.starts_with(if is_found { "status: 1\n" } else { "status: 0\n" }), "{path}: {seen}");
        assert_eq!(seen.contains("unanswered-tool-call: not changed, because"), is_found, "{path}: {seen}");
        assert_eq!(outside(), UNANSWERED, "{path}");
    }
    let marks = seen_in(&folder.join("inside"), &["lint", "--isolated", "*.json"]);
    assert!(marks.contains("unanswered-tool-call") && !marks.contains("fixable"), "{marks}");
    // What stands before the first wildcard was named by the user, as a folder is.
    for path in ["folder/*.json", "folder", "folder/a.json"] {
        write(&folder, "outside/a.json", UNANSWERED);
        let seen = seen_in(&folder.join("inside"), &["fix", "--isolated", path]);
        assert!(seen.contains("folder/a.json: 1 finding fixed"), "{path}: {seen}");
        assert_eq!(outside(), fixed(), "{path}");
    }
    write(&folder, "outside/a.json", UNANSWERED);
    let seen = seen_in(&folder.join("inside"), &["fix", "--isolated", "*.json", "a.json"]);
    assert!(seen.contains("a.json: 1 finding fixed"), "{seen}");
    assert_eq!(outside(), fixed());
    assert!(folder.join("inside/a.json").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn what_is_left_has_its_place_in_the_file_that_is_named() {
    let folder = folder("fix-places-left");
    let result = r#"{"role": "tool", "tool_call_id": "zz", "content": "x"}]}"#;
    let text = UNANSWERED.trim_end().strip_suffix("\n]}").unwrap().to_owned() + ",\n" + result;
    write(&folder, "a.json", &text);
    let found = seen_in(&folder, &["lint", "--isolated", "--output-format", "concise", "a.json"]);
    let last = text.lines().count();
    assert!(found.contains(&format!("a.json:{last}:1: error orphan-tool-result")), "{found}");
    let plan = toolcheck_in(&folder).args(["fix", "--isolated", "--plan", "a.json"]).output().unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
    let left = &plan["files"][0]["skipped"][0];
    assert_eq!(left["line"], last, "{plan:#}");
    let pointer = left["pointer"].as_str().unwrap().to_owned();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json.pointer(&pointer).unwrap()["tool_call_id"], "zz");
    let seen = seen_in(&folder, &["fix", "--isolated", "--diff", "a.json"]);
    assert!(seen.contains(&format!("left: a.json:{last}:1: orphan-tool-result")), "{seen}");
    // What is written has one line more.
    let seen = seen_in(&folder, &["fix", "--isolated", "a.json"]);
    assert!(seen.contains(&format!("left: a.json:{}:1: orphan-tool-result", last + 1)), "{seen}");
}

#[test]
fn a_diff_of_a_file_with_a_byte_order_mark_shows_its_lines() {
    let folder = folder("fix-bom");
    write(&folder, "a.json", format!("\u{feff}{UNANSWERED}"));
    write(&folder, "b.json", UNANSWERED);
    let diff = |name: &str| seen_in(&folder, &["fix", "--isolated", "--diff", name]);
    assert_eq!(diff("a.json").replace('\u{feff}', ""), diff("b.json").replace("b.json", "a.json"));
}

#[test]
fn what_is_asked_for_and_not_there_is_said() {
    let folder = folder("fix-nothing-there");
    write(&folder, "a.json", UNANSWERED);
    let of = |args: &[&str]| {
        let mut all = vec!["fix", "--isolated", "--diff", "a.json"];
        all.extend(args);
        seen_in(&folder, &all)
    };
    for (args, wanted) in [
        (&["--only", "blank-text"][..], "warning: no finding of `blank-text`"),
        (&["--place", "99999"], "warning: no finding at line 99999"),
        (&["--place", "3:1"], "warning: no finding at 3:1"),
        (&["--place", "/messages/0"], "warning: no finding at /messages/0"),
        (&["--place", "/mess"], "warning: no finding at /mess"),
        (&["--place", "3", "--only", "blank-text"], "warning: no finding of `blank-text` at line 3"),
    ] {
        let seen = of(args);
        assert!(seen.starts_with("status: 1\n") && seen.contains(wanted) && !seen.contains("@@"), "{seen}");
    }
    // A pointer covers what is in its value.
    for place in ["3", "3:57", "/messages/1", "/messages/1/tool_calls/0"] {
        let seen = of(&["--place", place]);
        assert!(seen.contains("@@") && !seen.contains("warning: "), "{place}: {seen}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_an_error_at_once() {
    let folder = folder("fix-pipe");
    common::mkfifo(&folder.join("pipe.json"));
    for arguments in [&["fix", "--isolated", "pipe.json"][..], &["fix", "--isolated", "--plan", "/dev/zero"]]
    {
        let seen = common::seen_soon(toolcheck_in(&folder).args(arguments));
        assert!(seen.starts_with("status: 2\n"), "{seen}");
        assert!(seen.contains("not a file: `toolcheck fix -` reads standard input"), "{seen}");
    }
}

#[test]
fn an_error_is_fixed_although_a_warning_shows_then() {
    let folder = folder("fix-same");
    let call = |id: usize| {
        format!(
            r#"{{"role": "assistant", "content": [{{"type": "tool_use", "id": "t{id}", "name": "tide", "input": {{}}}}]}}, {{"role": "user", "content": "and?"}}"#
        )
    };
    let calls: Vec<String> = (0..5).map(call).collect();
    let text = format!(
        r#"{{"model": "m", "max_tokens": 5, "messages": [{{"role": "user", "content": "go"}}, {}]}}"#,
        calls.join(", ")
    );
    write(&folder, "a.json", text);
    let seen = seen_in(&folder, &["fix", "--isolated", "a.json"]);
    assert!(seen.contains("a.json: 5 findings fixed (5 inserted); nothing lost"), "{seen}");
    let seen = seen_in(&folder, &["lint", "--isolated", "--output-format", "concise", "a.json"]);
    assert!(seen.contains("0 errors, 1 warning") && seen.contains("repeated-failing-call"), "{seen}");
}

/// The same body as people have it in hand, with the place of the result without a call.
fn printed_orphans() -> [(&'static str, String, String); 5] {
    let encoded = serde_json::to_string(ORPHAN).unwrap();
    let inside = format!("1:{}", encoded.find(r#"{\"role\": \"tool\""#).unwrap() + 1);
    [
        ("a.txt", format!("This fails:\n{ORPHAN}"), "5:3".to_owned()),
        ("a.md", format!("# Bug\n\n```json\n{ORPHAN}```\n"), "7:3".to_owned()),
        ("a.py.txt", format!("body = {}", ORPHAN.replace('"', "'")), "4:3".to_owned()),
        ("b.json", encoded.clone(), inside.clone()),
        ("b.jsonl", format!("{encoded}\n{encoded}\n"), inside),
    ]
}

#[test]
fn errors_in_printed_values_are_left_and_named() {
    let folder = folder("fix-printed");
    for (name, text, place) in printed_orphans() {
        write(&folder, name, &text);
        let left = format!("left: {name}:{place}: orphan-tool-result");
        for how in [&["--diff"][..], &["--diff", "--unsafe-fixes"], &["--unsafe-fixes"], &[]] {
            let seen = seen_in(&folder, &[&["fix", "--isolated", name], how].concat());
            assert!(seen.starts_with("status: 1\n--- stdout\n--- stderr\n"), "{seen}");
            assert!(
                seen.contains(&left) && seen.contains("not in this kind of file (printed value)"),
                "{seen}"
            );
        }
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
        let output = toolcheck_in(&folder).args(["fix", "--isolated", "--plan", name]).output().unwrap();
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        fits_the_schema(&plan);
        let is_left = |left: &serde_json::Value| left["rule"] == "orphan-tool-result";
        assert!(plan["files"][0]["skipped"].as_array().unwrap().iter().any(is_left), "{plan}");
        assert_eq!((output.status.code(), &plan["files"][0]["applied"]), (Some(1), &serde_json::json!([])));
        let output = run_with_input(&["fix", "--isolated", "-"], text.as_bytes());
        assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap()), (Some(1), text));
    }
    // A warning is not an error.
    write(&folder, "clean.md", format!("```\n{CLEAN}\n```\n"));
    let seen = seen_in(&folder, &["fix", "--isolated", "clean.md"]);
    assert_eq!(
        seen,
        "status: 0\n--- stdout\n--- stderr\nnote: clean.md: the printed value is not changed\nnote: nothing to fix in 1 file\n"
    );
}

#[test]
fn many_findings_that_are_left_for_one_reason_are_one_line_and_all_in_the_plan() {
    let folder = folder("fix-many");
    let calls: Vec<String> = (0..1025)
        .map(|id| format!(r#"{{"type": "tool_use", "id": "t{id}", "name": "tide", "input": {{"n": {id}}}}}"#))
        .collect();
    let text = format!(
        r#"{{"model": "m", "max_tokens": 5, "messages": [{{"role": "user", "content": "go"}}, {{"role": "assistant", "content": [{}]}}, {{"role": "user", "content": "and?"}}]}}"#,
        calls.join(", ")
    );
    write(&folder, "a.json", text);
    let seen = seen_in(&folder, &["fix", "--isolated", "a.json"]);
    let left: Vec<&str> = seen.lines().filter(|line| line.starts_with("left: ")).collect();
    assert_eq!(left.len(), 1, "{seen}");
    let reason = "a turn of more than 1000 calls or results is not changed";
    assert!(left[0].ends_with(&format!("unanswered-tool-call, 1025 times: {reason}")), "{seen}");
    let output = toolcheck_in(&folder).args(["fix", "--isolated", "--plan", "a.json"]).output().unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    fits_the_schema(&plan);
    let skipped = plan["files"][0]["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1025);
    assert!(skipped.iter().all(|left| left["reason"] == reason));
}

#[test]
fn each_finding_has_its_own_reason() {
    let folder = folder("fix-own-reason");
    let text = r#"{"model": "claude-sonnet-4-5", "max_tokens": 5, "messages": [
  {"role": "user", "content": "go"},
  {"role": "assistant", "content": "yes", "id": "msg_1", "usage": {"output_tokens": 5}},
  {"role": "user", "content": "on"}
]}
"#;
    write(&folder, "a.json", text);
    let seen = seen_in(&folder, &["fix", "--isolated", "a.json"]);
    for key in ["id", "usage"] {
        assert!(seen.contains(&format!("assumes that `{key}` with its value (")), "{seen}");
    }
}

/// A text is not an id, whatever key is missing beside it.
#[test]
fn no_text_becomes_an_id() {
    let folder = folder("text-for-id");
    let body = r#"{"model": "gpt-5", "input": "When is low tide?", "prompt": {"text": "Tides."}}"#;
    write(&folder, "a.json", body);
    let linted = seen_in(&folder, &["lint", "a.json", "--output-format", "concise"]);
    assert!(linted.contains("error missing-field `prompt` is missing `id`"), "{linted}");
    let fixed = seen_in(&folder, &["fix", "--unsafe-fixes", "a.json"]);
    assert!(fixed.starts_with("status: 1"), "{fixed}");
    assert_eq!(std::fs::read_to_string(folder.join("a.json")).unwrap(), body);
}

#[test]
fn a_diff_of_responses_shows_ids_and_what_is_left_is_said_beside_it() {
    let folder = folder("fix-diff-responses");
    let body = r#"{"model": "gpt-4.1", "input": [
  {"role": "user", "content": "hi"},
  {"type": "function_call", "call_id": "call_a1", "name": "f", "arguments": "{}"},
  {"type": "function_call_output", "call_id": "call_zz", "output": "4 C"}
]}
"#;
    write(&folder, "a.json", body);
    let seen = seen_in(&folder, &["fix", "--isolated", "--unsafe-fixes", "--diff", "a.json"]);
    assert!(seen.starts_with("status: 1\n"), "{seen}");
    assert!(seen.contains("\n-  {\"type\": \"function_call_output\", \"call_id\": \"call_zz\""), "{seen}");
    assert!(seen.contains("\n+  {\"type\": \"function_call_output\", \"call_id\": \"call_a1\""), "{seen}");
    assert!(seen.contains("note: a.json:4:3: orphan-tool-result: assumes that the result"), "{seen}");
    let seen = seen_in(&folder, &["fix", "--isolated", "--diff", "a.json"]);
    assert!(seen.starts_with("status: 1\n--- stdout\n--- stderr\n"), "{seen}");
    assert!(seen.contains("left: a.json:4:3: orphan-tool-result: needs --unsafe-fixes"), "{seen}");
    assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), body);
}

/// A conversation under another key of a text that is broken is left alone, as a request that is broken is.
#[test]
fn a_conversation_in_a_broken_text_is_not_changed() {
    let folder = folder("fix-broken");
    let unanswered = UNANSWERED.trim();
    for (name, text) in [
        ("cut.json", format!("{{\"a\": {unanswered}\n")),
        ("comma.json", format!("{{\"a\": {unanswered},,}}\n")),
        ("word.json", format!("{{\"a\": foo {unanswered}}}\n")),
    ] {
        write(&folder, name, &text);
        for how in [&["--unsafe-fixes"][..], &[]] {
            let seen = seen_in(&folder, &[&["fix", "--isolated", name], how].concat());
            assert!(seen.starts_with("status: 1\n"), "{seen}");
            assert!(seen.contains("not valid JSON is not changed"), "{seen}");
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
        }
    }
    let whole = format!("{{\"a\": {unanswered}}}\n");
    write(&folder, "whole.json", &whole);
    seen_in(&folder, &["fix", "--isolated", "--unsafe-fixes", "whole.json"]);
    assert_ne!(fs::read_to_string(folder.join("whole.json")).unwrap(), whole);
}
