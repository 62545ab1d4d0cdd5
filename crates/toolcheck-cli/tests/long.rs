//! Long inputs are read in pieces, linted in parallel, and print a limited number of findings.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value as Json;

use crate::common::{CLEAN, folder, gzip, report, seen_in, toolcheck_in, unanswered, write};

/// A log of several pieces, with a call without a result on one of `every` lines.
fn log(lines: usize, every: usize) -> String {
    let filler = "a".repeat(2000);
    let clean = format!(
        r#"{{"messages": [{{"role": "user", "content": "{filler}"}}, {{"role": "assistant", "content": [{{"type": "tool_use", "id": "toolu_a", "name": "tide", "input": {{}}}}]}}, {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "toolu_a", "content": "low"}}]}}]}}"#
    );
    let line = |number: usize| {
        if number % every == every - 1 { unanswered(&format!("toolu_{number}")) } else { clean.clone() }
    };
    (0..lines).map(|number| line(number) + "\n").collect()
}

#[test]
fn findings_do_not_depend_on_the_number_of_threads_or_the_source() {
    let folder = folder("long-threads");
    let text = log(3000, 97);
    write(&folder, "a.jsonl", &text);
    let one = report(&folder, &["a.jsonl", "-j", "1"]);
    let findings = one["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 3000 / 97);
    for (number, finding) in findings.iter().enumerate() {
        let line = 97 * (number + 1);
        assert_eq!((&finding["line"], &finding["record"]), (&line.into(), &(line - 1).into()));
        assert_eq!(finding["tool_call_id"], format!("toolu_{}", line - 1));
        let at = finding["byte_start"].as_u64().unwrap() as usize;
        assert!(
            text[at..].starts_with(r#"{"type": "tool_use""#) || text[at..].starts_with("\"toolu_"),
            "{finding}"
        );
    }
    assert_eq!(report(&folder, &["a.jsonl", "-j", "7"]), one);
    // Compressed, where nothing is fixable, and from a pipe.
    write(&folder, "packed/a.jsonl", gzip(&text));
    let packed = report(&folder, &["packed/a.jsonl"]);
    let unmarked = one["findings"].to_string().replace(r#""fixable":"safe","#, "");
    assert_eq!(packed["findings"].to_string().replace("packed/", ""), unmarked);
    let mut child = toolcheck_in(&folder)
        .args(["lint", "-", "--stdin-filename", "a.jsonl", "--output-format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&output.stdout).unwrap(), one);
}

#[test]
fn many_files_are_reported_in_order() {
    let folder = folder("long-order");
    for number in 0..600 {
        write(&folder, &format!("{number:03}.json"), unanswered(&format!("toolu_{number}")));
    }
    let report = report(&folder, &[]);
    let ids: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["tool_call_id"].as_str().unwrap())
        .collect();
    let expected: Vec<String> = (0..600).map(|number| format!("toolu_{number}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn findings_of_a_file_are_limited_and_the_others_counted() {
    let folder = folder("long-findings");
    write(&folder, "a.jsonl", log(1500, 1));
    write(&folder, "b.json", unanswered("toolu_b"));
    let arguments = ["lint", "--output-format", "concise", "--max-findings", "2", "--statistics"];
    insta::assert_snapshot!(seen_in(&folder, &arguments));
    let some = report(&folder, &["--max-findings", "1000"]);
    assert_eq!(some["findings"].as_array().unwrap().len(), 1001);
    assert_eq!((&some["summary"]["errors"], &some["summary"]["left_out"]), (&1501.into(), &500.into()));
    let usual = report(&folder, &[]);
    assert_eq!(usual["findings"].as_array().unwrap().len(), 1501);
    assert!(usual["summary"].get("left_out").is_none());
    write(&folder, "a.jsonl", log(10_500, 1));
    let (usual, all) = (report(&folder, &["a.jsonl"]), report(&folder, &["a.jsonl", "--max-findings", "0"]));
    assert_eq!(usual["findings"].as_array().unwrap().len(), 10_000);
    assert_eq!(
        (all["findings"].as_array().unwrap().len(), &all["summary"]),
        (10_500, &{
            let mut summary = usual["summary"].clone();
            summary.as_object_mut().unwrap().remove("left_out").unwrap();
            summary
        })
    );
}

#[test]
fn baselines_and_allowed_findings_apply_across_pieces() {
    let folder = folder("long-baseline");
    write(&folder, "a.jsonl", log(3000, 10));
    let lint = |more: &[&str]| {
        let arguments = ["lint", "a.jsonl", "--output-format", "concise", "--baseline", "b.json"];
        seen_in(&folder, &[&arguments[..], more].concat())
    };
    assert!(lint(&["--write-baseline"]).contains("b.json now lists 300 findings"));
    // A second identical finding is new.
    write(
        &folder,
        "a.jsonl",
        format!("{}{}\n{}\n", log(3000, 10), unanswered("toolu_9"), unanswered("toolu_new")),
    );
    insta::assert_snapshot!("grown", lint(&[]));
    write(
        &folder,
        "toolcheck.toml",
        "[[allow]]\nrule = \"unanswered-tool-call\"\nreason = \"all of them\"\n",
    );
    let allowed = seen_in(&folder, &["lint", ".", "--output-format", "concise"]);
    assert!(allowed.contains(", 302 allowed") && !allowed.contains("unused [[allow]]"), "{allowed}");
}

#[test]
fn findings_before_broken_data_are_reported() {
    let folder = folder("long-broken");
    let packed = gzip(log(3000, 1000));
    write(&folder, "a.jsonl.gz", &packed[..packed.len() * 2 / 3]);
    write(&folder, "b.json", CLEAN);
    let seen = seen_in(&folder, &["lint", "--output-format", "concise"]);
    assert!(seen.starts_with("status: 2"), "{seen}");
    assert!(
        seen.contains("a.jsonl.gz:1000:") && seen.contains("a.jsonl.gz: its gzip data is cut off"),
        "{seen}"
    );
    // A decompression bomb is stopped.
    write(&folder, "a.jsonl.gz", &packed);
    let seen = seen_in(&folder, &["lint", "--max-unpacked", "3000000", "--output-format", "concise"]);
    assert!(
        seen.contains(
            "a.jsonl.gz: its gzip data is larger than 3000000 bytes after decompression (--max-unpacked)"
        ),
        "{seen}"
    );
}

#[test]
fn a_call_dropped_long_after_its_response_is_found() {
    let folder = folder("long-exchanges");
    let user = r#"{"role": "user", "content": "tides and wind"}"#;
    let block = |id: &str, name: &str| {
        format!(r#"{{"type": "tool_use", "id": "{id}", "name": "{name}", "input": {{}}}}"#)
    };
    let (tide, wind) = (block("toolu_1", "tide"), block("toolu_2", "wind"));
    let first = format!(
        r#"{{"request": {{"messages": [{user}]}}, "response": {{"type": "message", "role": "assistant", "content": [{tide}, {wind}], "stop_reason": "tool_use"}}}}"#
    );
    let second = format!(
        r#"{{"request": {{"messages": [{user}, {{"role": "assistant", "content": [{tide}]}}, {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "toolu_1", "content": "low"}}]}}]}}, "response": null}}"#
    );
    write(&folder, "a.jsonl", format!("{first}\n{}{second}\n", log(3000, 5000)));
    let report = report(&folder, &["a.jsonl", "-j", "2"]);
    assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{report:#}");
    let finding = &report["findings"][0];
    assert_eq!((&finding["rule"], &finding["record"]), (&"dropped-tool-call".into(), &3001.into()));
    assert_eq!(finding["labels"][0]["record"], 0);
    // Its label is shown, although it is far away.
    let seen = seen_in(&folder, &["lint", "a.jsonl"]);
    assert!(seen.contains("a.jsonl:1:") && seen.contains("toolu_2"), "{seen}");
}
