//! Fixing any bytes.

use toolcheck_lint::fix::{Duplicates, Orphans, Unanswered};
use toolcheck_lint::{FixOptions, fix};

use super::lint;

/// The first bytes choose the format, the target, the kind and what fixes may do; the rest is the file.
pub fn run(mut data: &[u8]) {
    let ([format, target, kind], options) = lint::options(&mut data);
    let how = FixOptions::new()
        .unsafe_fixes(kind & 64 > 0)
        .accepted(kind & 128 > 0)
        .orphans([Orphans::Text, Orphans::Drop, Orphans::Leave][format % 3])
        .duplicates([Duplicates::Both, Duplicates::First, Duplicates::Last][target % 3])
        .unanswered([Unanswered::Answer, Unanswered::Drop][(format + target) % 2]);
    let fixed = fix("case.jsonl", data, &options, &how);
    if fixed.is_unchanged() {
        assert!(
            fixed.applied.is_empty() && *fixed.bytes == *data,
            "nothing is said to be done where nothing is"
        );
        return;
    }
    assert!(
        fixed.applied.iter().all(|done| how_allows(kind, done.cost.is_none())),
        "only what was asked for"
    );
    // Each inserted result has a bounded length, and so has each id.
    assert!(fixed.bytes.len() <= 8 * data.len() + 4096, "{} bytes of {}", fixed.bytes.len(), data.len());
    let now = toolcheck_lint::lint("case.jsonl", &fixed.bytes, &options);
    assert_eq!(now.findings.len(), fixed.report().findings.len());
    // What shows only once something else is fixed is fixed, too.
    let again = fix("case.jsonl", &fixed.bytes, &options, &how);
    assert!(again.is_unchanged(), "the second time changes {:?}", again.applied);
}

/// Whether a fix may be done.
fn how_allows(kind: usize, is_safe: bool) -> bool {
    is_safe || kind & 64 > 0
}
