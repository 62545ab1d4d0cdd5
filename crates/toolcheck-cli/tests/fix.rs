//! `toolcheck fix` on files and on the standard input.

use std::fs;

use crate::common::{self, CLEAN, folder, seen_in, toolcheck_in, write};

const UNANSWERED: &str = r#"{"model": "gpt-4o", "messages": [
  {"role": "user", "content": "tides"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}]},
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
fn a_diff_of_a_file_with_a_byte_order_mark_shows_its_lines() {
    let folder = folder("fix-bom");
    write(&folder, "a.json", format!("\u{feff}{UNANSWERED}"));
    write(&folder, "b.json", UNANSWERED);
    let diff = |name: &str| seen_in(&folder, &["fix", "--isolated", "--diff", name]);
    assert_eq!(diff("a.json").replace('\u{feff}', ""), diff("b.json").replace("b.json", "a.json"));
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
    common::assert_fits(&common::validator("fix-plan"), &plan);
    let skipped = plan["files"][0]["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1025);
    assert!(skipped.iter().all(|left| left["reason"] == reason));
}
