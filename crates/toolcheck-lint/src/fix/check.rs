//! Whether a file is better once it is fixed.

use foldhash::HashMap;
use toolcheck_core::RuleId;

use super::{Applied, Change};
use crate::compare_fix::Counts;
use crate::report::FileReport;

/// The findings by rule: of each record, and of all.
fn counts(report: &FileReport) -> (HashMap<usize, Counts>, Counts) {
    let mut counts: HashMap<usize, Counts> = HashMap::default();
    let mut all = Counts::default();
    for finding in &report.findings {
        counts.entry(finding.spot.record).or_default().add(finding);
        all.add(finding);
    }
    (counts, all)
}

/// The changed records in which a fault that was to be fixed is still there, or in which there is a new one, with the rule
/// that reports it.
pub(super) fn not_better(
    before: &FileReport,
    after: &FileReport,
    changes: &[Change],
) -> HashMap<Option<usize>, RuleId> {
    let ((old, all_old), (new, all_new)) = (counts(before), counts(after));
    let none = Counts::default();
    let mut worse = HashMap::default();
    for change in changes {
        // Records of a whole file get other numbers.
        let of = |records: &'_ HashMap<usize, Counts>, all: &Counts| match &change.record {
            Some(record) => records.get(record).unwrap_or(&none).clone(),
            None => all.clone(),
        };
        let (old, now) = (of(&old, &all_old), of(&new, &all_new));
        let rules = |applied: &[Applied]| applied.iter().map(|done| done.rule).collect::<Vec<_>>();
        if let Some(rule) = now.worse_than(old, &rules(&change.applied), &rules(&change.later)) {
            worse.insert(change.record, rule);
        }
    }
    worse
}

/// Whether there are fewer calls or results than what is fixed without a cost can take out: each finding is about one.
pub(super) fn takes_more(before: &FileReport, after: &FileReport, changes: &[Change]) -> bool {
    let applied = || changes.iter().flat_map(Change::done);
    if applied().any(|done| done.cost.is_some()) {
        return false;
    }
    let count = applied().count();
    before.tool_calls > after.tool_calls + count || before.tool_results > after.tool_results + count
}
