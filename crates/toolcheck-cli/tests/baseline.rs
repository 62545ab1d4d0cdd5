//! The life of a baseline: written, matched, outdated and pruned.

use std::path::Path;

use crate::common::{CLEAN, folder, seen_in, unanswered, write};

const LINT: [&str; 5] = ["lint", "logs", "--output-format", "concise", "--baseline"];

fn lint(folder: &Path, more: &[&str]) -> String {
    let arguments: Vec<&str> =
        LINT.iter().copied().chain(["ci/baseline.json"]).chain(more.iter().copied()).collect();
    seen_in(folder, &arguments)
}

fn baseline(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("ci/baseline.json")).unwrap()
}

#[test]
fn a_baseline_is_written_matched_and_pruned() {
    let folder = folder("baseline");
    std::fs::create_dir_all(folder.join("ci")).unwrap();
    let (one, two) = (unanswered("toolu_1"), unanswered("toolu_2"));
    write(&folder, "logs/a.jsonl", format!("{one}\n{two}\n"));
    write(&folder, "logs/b.json", unanswered("toolu_3"));

    insta::assert_snapshot!("missing", lint(&folder, &[]));
    insta::assert_snapshot!("written", lint(&folder, &["--write-baseline"]));
    insta::assert_snapshot!("baseline", baseline(&folder));
    insta::assert_snapshot!("matched", lint(&folder, &[]));

    // If a log grows at both ends, only the new finding is reported.
    write(&folder, "logs/a.jsonl", format!("{CLEAN}\n{one}\n{two}\n{}\n", unanswered("toolu_4")));
    insta::assert_snapshot!("grown", lint(&folder, &[]));

    // Fixed findings and deleted files fail the run until they are removed from the baseline.
    write(&folder, "logs/a.jsonl", format!("{CLEAN}\n{two}\n"));
    std::fs::remove_file(folder.join("logs/b.json")).unwrap();
    insta::assert_snapshot!("stale", lint(&folder, &[]));
    insta::assert_snapshot!("pruned", lint(&folder, &["--prune-baseline"]));
    insta::assert_snapshot!("baseline-pruned", baseline(&folder));
    assert!(lint(&folder, &[]).starts_with("status: 0"));

    // A run with other rules or files does not change the other entries.
    let before = baseline(&folder);
    write(&folder, "other/c.json", unanswered("toolu_5"));
    assert!(lint(&folder, &["--select", "blank-text"]).starts_with("status: 0"));
    lint(&folder, &["--select", "blank-text", "--write-baseline"]);
    assert_eq!(baseline(&folder), before);
    let other = ["lint", "other", "--baseline", "ci/baseline.json", "--write-baseline"];
    assert!(seen_in(&folder, &other).starts_with("status: 0"));
    assert!(baseline(&folder).contains("toolu_2") && baseline(&folder).contains("toolu_5"));
    // Paths are relative to the baseline's folder, not to the current directory.
    let below = ["lint", "../logs", "../other", "--baseline", "baseline.json"];
    assert!(seen_in(&folder.join("ci"), &below).starts_with("status: 0"));
}

#[test]
fn an_invalid_baseline_is_reported_before_linting() {
    let folder = folder("no-baseline");
    write(&folder, "logs/a.json", unanswered("toolu_1"));
    write(&folder, "ci/baseline.json", "{\"version\": 2, \"files\": {}}\n");
    insta::assert_snapshot!(lint(&folder, &["--write-baseline"]));
    assert_eq!(baseline(&folder), "{\"version\": 2, \"files\": {}}\n");
    for flag in ["--write-baseline", "--prune-baseline"] {
        assert!(seen_in(&folder, &["lint", "logs", flag]).starts_with("status: 2"));
    }
}
