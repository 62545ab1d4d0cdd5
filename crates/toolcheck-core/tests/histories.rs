//! What the readers of histories and trajectories count in the corpus: the corpus itself shows only what is reported.

use std::collections::BTreeMap;
use std::path::Path;

use toolcheck_core::readers::{self, Reading};
use toolcheck_json::{Document, Layout, Records, Value};

fn described(case: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs").join(case);
    let bytes = std::fs::read(&path).unwrap();
    let is_lines = case.ends_with(".jsonl");
    let document =
        if is_lines { Records::laid_out(&bytes, Layout::Lines).document() } else { Document::read(&bytes) };
    let records: Vec<Value<'_, '_>> =
        if is_lines { document.root().elements().collect() } else { vec![document.root()] };
    let reader = readers::detect(&records).unwrap();
    assert_eq!(Some(reader.id), case.split('/').next(), "{case}");
    describe(&reader.read(&records))
}

/// For each conversation its title, its numbers of calls and results, and how it ended; then what was left out.
fn describe(reading: &Reading<'_>) -> String {
    let conversations = reading.conversations.iter().map(|one| {
        let (calls, results) = one.transcript.counts();
        format!("{} {calls}/{results} {}", one.title, one.end.as_str())
    });
    let left_out = reading.left_out.iter().map(|(what, count)| format!("- {what} {count}"));
    conversations.chain(left_out).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_case_has_what_is_written_of_it() {
    type Cases = BTreeMap<String, BTreeMap<String, Vec<String>>>;
    let groups: Cases = serde_json::from_str(include_str!("histories.json")).unwrap();
    for (about, cases) in groups {
        for (case, expected) in cases {
            assert_eq!(described(&case), expected.join("\n"), "{about}: {case}");
        }
    }
}
