//! What is said of the rows of a data set, where there are many.

use std::path::PathBuf;

use crate::common::{folder, seen_in, write};

/// A folder with a data set of this many rows, in each of which the arguments are broken.
fn broken(name: &str, count: usize) -> PathBuf {
    let row = |number| {
        format!(
            r#"{{"id": "row {number}", "messages": [{{"role": "user", "content": "tide?"}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": "c", "type": "function", "function": {{"name": "tide", "arguments": "{{'a'"}}}}]}}, {{"role": "tool", "tool_call_id": "c", "content": "low"}}, {{"role": "assistant", "content": "low"}}]}}"#
        )
    };
    let rows: Vec<String> = (0..count).map(row).collect();
    let folder = folder(name);
    write(&folder, "rows.jsonl", rows.join("\n") + "\n");
    folder
}

#[test]
fn what_is_left_out_of_a_report_is_told() {
    let folder = broken("rows-left-out", 5);
    let lint = |more: &[&str]| {
        seen_in(&folder, &[&["lint", "--kind", "dataset", "rows.jsonl", "--max-findings"], more].concat())
    };
    let text = lint(&["2", "--output-format", "concise"]);
    assert!(
        text.contains("[-] at least 2 fixable with `toolcheck fix --kind dataset --unsafe-fixes`"),
        "{text}"
    );
    let all = lint(&["0", "--output-format", "concise"]);
    assert!(all.contains("[-] 5 fixable with"), "{all}");
    let note = "note: 3 more findings not shown: at most 2 are printed per file (--max-findings)";
    let lines = lint(&["2", "--quiet", "--output-format", "jsonl"]);
    assert!(lines.contains(note), "{lines}");
    let quiet = lint(&["2", "--quiet", "--output-format", "concise"]);
    assert!(!quiet.contains(note), "{quiet}");
}

#[test]
fn a_key_that_no_row_has_is_noted() {
    let folder = broken("rows-key", 3);
    let lint = |key| {
        let format = ["--output-format", "summary", "--key", key];
        seen_in(&folder, &[&["lint", "--kind", "dataset", "rows.jsonl"], &format[..]].concat())
    };
    let text = lint("idd");
    assert!(
        text.contains("note: no example has `idd` (--key), so they are named by file and line"),
        "{text}"
    );
    let text = lint("id");
    assert!(text.contains("row 1") && !text.contains("no example has"), "{text}");
}

#[test]
fn what_a_fix_loses_is_told_once() {
    let folder = broken("rows-fix", 3);
    let text = seen_in(&folder, &["fix", "--kind", "dataset", "--unsafe-fixes", "rows.jsonl"]);
    let lost = "invalid-arguments-json, 3 times: lost: the original form of the arguments";
    assert!(text.contains(lost) && text.matches("lost: ").count() == 1, "{text}");
}

#[test]
fn one_row_can_be_shown() {
    let folder = broken("rows-show", 3);
    let text = seen_in(&folder, &["show", "--kind", "dataset", "--record", "2", "rows.jsonl"]);
    assert!(text.contains("invalid-arguments-json") && text.contains("in 1 transcript"), "{text}");
    let text = seen_in(&folder, &["show", "--record", "4", "rows.jsonl"]);
    assert!(text.contains("error: rows.jsonl has no record 4"), "{text}");
}
