//! Summaries: any partition of the rows, in any order, has the same sum.

use proptest::prelude::*;
use toolcheck_core::Level;
use toolcheck_lint::{Options, Report, Summary, lint};

/// Rows with and without faults, and some that are not read.
const ROWS: [&str; 6] = [
    r#"{"messages": [{"role": "user", "content": "hello"}]}"#,
    r#"{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "user", "content": "well?"}]}"#,
    r#"{"messages": [{"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "b", "content": "1"}, {"role": "tool", "tool_call_id": "c", "content": "2"}]}"#,
    r#"{"messages": [{"role": "usr", "content": "hello"}]}"#,
    "{}",
    r#"{"messages": ["#,
];

fn of_row(number: usize, samples: usize) -> Summary {
    let mut summary = Summary::new(samples);
    let row = ROWS[number % ROWS.len()];
    summary.add_row(&format!("row {number}"), &lint("rows.jsonl", row.as_bytes(), &Options::new()));
    summary
}

fn sum(parts: impl IntoIterator<Item = Summary>) -> Summary {
    let mut sum = Summary::default();
    parts.into_iter().for_each(|part| sum.add(part));
    sum
}

#[test]
fn rows_are_counted() {
    let summary = sum((0..12).map(|number| of_row(number, 3)));
    assert_eq!((summary.rows, summary.unread), (12, 2));
    let found: Vec<_> = summary
        .rules
        .iter()
        .map(|((rule, level), found)| (&**rule, *level, found.findings, found.rows, found.samples.len()))
        .collect();
    assert_eq!(
        found,
        [
            ("malformed-json", Level::Error, 2, 2, 2),
            ("orphan-tool-result", Level::Error, 4, 2, 2),
            ("unanswered-tool-call", Level::Error, 2, 2, 2),
            ("unknown-role", Level::Error, 2, 2, 2),
            ("unrecognised-format", Level::Error, 2, 2, 2),
        ]
    );
    let orphans = &summary.rules[&("orphan-tool-result".to_owned(), Level::Error)];
    let mut places: Vec<_> = orphans.samples.iter().map(|one| (&*one.row, &*one.pointer)).collect();
    places.sort_unstable();
    assert_eq!(places, [("row 2", "/messages/1"), ("row 8", "/messages/1")]);
}

#[test]
fn a_report_without_a_summary_is_a_row_a_file() {
    let files = (0..2).map(|number| lint("file.json", ROWS[number + 1].as_bytes(), &Options::new()));
    let report = Report::new(files.collect());
    let summary = report.summary();
    assert_eq!((summary.rows, summary.count(Level::Error)), (2, report.count(Level::Error) as u64));
}

#[test]
fn findings_that_are_not_listed_are_counted() {
    let mut summary = Summary::new(5);
    summary.add_row("a", &lint("a", ROWS[2].as_bytes(), &Options::new().max_findings(1)));
    assert_eq!(summary.count(Level::Error), 2);
}

#[test]
fn what_is_no_summary_is_an_error() {
    for text in ["", "{}", "[]", r#"{"version": 2}"#, "null"] {
        let error = Summary::from_json(text).unwrap_err().to_string();
        assert!(error.starts_with("not a summary of version 1: "), "{error}");
    }
    let other = Summary::new(1).to_json().replace(r#""version":1"#, r#""version":2"#);
    assert!(Summary::from_json(&other).unwrap_err().to_string().ends_with("version 2"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_partition_in_any_order_has_the_same_bytes(
        rows in proptest::collection::vec((0usize..40, 0usize..5), 0..40),
        samples in 0usize..6,
        turned in any::<bool>(),
    ) {
        let whole = sum(std::iter::once(Summary::new(samples)).chain(rows.iter().map(|(row, _)| of_row(*row, samples))));
        // Each row goes to one of five parts, some of which cross from one process to another.
        let mut parts: Vec<Summary> = (0..5)
            .map(|part| {
                let own = rows.iter().filter(|(_, of)| *of == part).map(|(row, _)| of_row(*row, samples));
                let own = sum(std::iter::once(Summary::new(samples)).chain(own));
                if part % 2 == 0 { own } else { Summary::from_json(&own.to_json()).unwrap() }
            })
            .collect();
        if turned {
            parts.reverse();
        }
        let divided = sum(parts);
        prop_assert_eq!(whole.to_json(), divided.to_json());
        prop_assert_eq!(&Summary::from_json(&whole.to_json()).unwrap(), &whole);
    }
}

#[test]
fn examples_are_from_all_over_the_data() {
    let report = lint("rows.jsonl", ROWS[1].as_bytes(), &Options::new());
    let mut summary = Summary::new(20);
    for row in 0..100_000 {
        summary.add_row(&row.to_string(), &report);
    }
    let samples = &summary.rules.values().next().unwrap().samples;
    let parts = samples.iter().map(|sample| sample.row.parse::<u32>().unwrap() / 10_000);
    assert!(parts.collect::<std::collections::BTreeSet<_>>().len() >= 6, "{samples:?}");
}

/// A body that looks like one of another API, and has fewer mistakes as one of this.
#[test]
fn a_file_has_the_format_that_it_is_read_as() {
    let body = r#"{"model":"gpt-5.1","messages":[{"role":"user","content":[{"text":"tides"}]}]}"#;
    let report = lint("body.json", body.as_bytes(), &Options::new());
    let read: Vec<_> =
        report.readings.iter().map(|reading| (reading.format, reading.target.clone())).collect();
    assert_eq!(read, [(report.format.unwrap(), report.target)]);
}
