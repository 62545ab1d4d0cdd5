//! Fixing any bytes.

use toolcheck_core::InputFormat;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::targets::{self, Target};
use toolcheck_lint::fix::{Duplicates, Orphans, Unanswered};
use toolcheck_lint::{FixOptions, Options, fix, lint};

use super::take;

/// The first bytes choose the format, the target, the kind and what fixes may do; the rest is the file.
pub fn run(mut data: &[u8]) {
    let targets: Vec<&'static Target> = targets::all().collect();
    let (format, target, kind) = (take(&mut data), take(&mut data), take(&mut data));
    let options = Options::new()
        .format(InputFormat::all().nth(format % 64).filter(|_| format > 0 && format < 192))
        .target(targets.get(target % (2 * targets.len())).copied())
        .kind(TranscriptKind::ALL[kind % TranscriptKind::ALL.len()]);
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
    let now = lint("case.jsonl", &fixed.bytes, &options);
    assert_eq!(now.findings.len(), fixed.report().findings.len());
    // What shows only once something else is fixed is fixed, too.
    let again = fix("case.jsonl", &fixed.bytes, &options, &how);
    assert!(again.is_unchanged(), "the second time changes {:?}", again.applied);
}

/// Whether a fix may be done.
fn how_allows(kind: usize, is_safe: bool) -> bool {
    is_safe || kind & 64 > 0
}
