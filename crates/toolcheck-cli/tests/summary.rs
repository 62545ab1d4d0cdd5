//! `toolcheck lint --output-format summary`.

use std::fs;
use std::path::Path;

use crate::common::{self, folder, seen, toolcheck_in, write};
use serde_json::{Value as Json, json};
use toolcheck_lint::Summary;

/// A row with a key, every third with a result of no call.
fn row(number: usize) -> String {
    let mut messages = vec![json!({"role": "user", "content": format!("tide {number}")})];
    if number.is_multiple_of(3) {
        messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "low"}));
    }
    json!({"id": format!("row-{number}"), "meta": {"of": number}, "messages": messages}).to_string() + "\n"
}

fn summary_of(folder: &Path, arguments: &[&str]) -> String {
    let mut all = vec!["lint", "--isolated", "--kind", "dataset", "--output-format", "summary-json"];
    all.extend(arguments);
    let output = toolcheck_in(folder).args(all).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", seen(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a summary says of results without a call.
fn orphans(summary: &str) -> Json {
    let summary: Json = serde_json::from_str(summary).unwrap();
    let rules = summary["rules"].as_array().unwrap();
    rules.iter().find(|rule| rule["rule"] == "orphan-tool-result").unwrap().clone()
}

#[test]
fn the_parts_of_a_file_have_the_sum_of_the_file() {
    let folder = folder("summary-parts");
    let rows: Vec<String> = (0..4000).map(row).collect();
    write(&folder, "all.jsonl", rows.concat());
    let whole = summary_of(&folder, &["all.jsonl", "--key", "id", "--threads", "1"]);
    assert_eq!(whole, summary_of(&folder, &["all.jsonl", "--key", "id", "--threads", "4"]));
    let read: Json = serde_json::from_str(&whole).unwrap();
    assert_eq!((&read["rows"], &read["errors"]), (&json!(4000), &json!(1334)));
    assert_eq!(orphans(&whole)["rows"], 1334);
    for parts in [4, 13] {
        let mut sum = Summary::default();
        let mut names = Vec::new();
        for part in 0..parts {
            let own = rows.iter().skip(part).step_by(parts);
            let name = format!("part-{parts}-{part}.jsonl");
            write(&folder, &name, own.cloned().collect::<String>());
            sum.add(Summary::from_json(&summary_of(&folder, &[&name, "--key", "id"])).unwrap());
            names.push(name);
        }
        assert_eq!(sum.to_json() + "\n", whole, "{parts} parts");
        let names: Vec<&str> = names.iter().map(String::as_str).rev().collect();
        assert_eq!(summary_of(&folder, &[&names[..], &["--key", "id"]].concat()), whole, "{parts} files");
    }
}

#[test]
fn it_is_as_the_schema_says() {
    let folder = folder("summary-schema");
    write(&folder, "rows.jsonl", (0..9).map(row).chain(["{}\n".to_owned()]).collect::<String>());
    let validator = common::validator("summary");
    for arguments in [&["rows.jsonl"][..], &["rows.jsonl", "--samples", "0"]] {
        let summary: Json = serde_json::from_str(&summary_of(&folder, arguments)).unwrap();
        assert!(validator.is_valid(&summary), "{summary}");
    }
    assert!(!validator.is_valid(&json!({"version": 1})));
}

/// The status of a run over a file, and how many errors and warnings its JSON counts.
fn counts_of(
    path: &Path,
    output: &str,
    counts: impl Fn(&Json) -> (Json, Json),
) -> (Option<i32>, (Json, Json)) {
    let args = ["lint", "--isolated", "--kind", "dataset", "--fail-on", "warning", "--output-format", output];
    let output = toolcheck_in(&common::root()).args(args).arg(path).output().unwrap();
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), counts(&json))
}

#[test]
fn a_summary_counts_what_the_report_lists() {
    let mut files: Vec<_> = fs::read_dir(common::root().join("fixtures/datasets"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| !path.to_string_lossy().ends_with(".expect.json"));
    assert!(files.len() > 10);
    for path in files {
        let listed = counts_of(&path, "json", |json| {
            let findings = json["findings"].as_array().unwrap();
            let of = |level: &str| json!(findings.iter().filter(|found| found["level"] == level).count());
            (of("error"), of("warning"))
        });
        let counted =
            counts_of(&path, "summary-json", |json| (json["errors"].clone(), json["warnings"].clone()));
        assert_eq!(listed, counted, "{}", path.display());
    }
}
