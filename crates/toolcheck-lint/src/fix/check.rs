//! Whether a file is better once it is fixed.

use foldhash::HashMap;
use toolcheck_core::diff::{Level, Side, diff};
use toolcheck_core::fix::Cost;
use toolcheck_core::{RuleId, formats, targets};
use toolcheck_json::Document;

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

/// Calls a guess what was thought to lose something of a request, if nothing of it is gone in the end.
pub(super) fn settle_losses(report: &FileReport, before: &[u8], after: &[u8], applied: &mut [Applied]) {
    let [reading] = &report.readings[..] else { return };
    let Some(format) = formats::find(reading.format) else { return };
    let documents = [before, after].map(Document::read);
    let [Some(one), Some(other)] = documents.each_ref().map(|document| format.read(document.root())) else {
        return;
    };
    let target = report.target.as_deref().and_then(targets::find);
    let bound_as = target.and_then(|target| formats::find(target.format.as_deref()?)).unwrap_or(format);
    let sides = [(&one, &documents[0]), (&other, &documents[1])];
    let sides = sides.map(|(side, document)| Side::new(side, document).bound_as(bound_as));
    let is_lost = |done: &Applied| matches!(done.cost, Some(Cost::Loss(_)));
    if applied.iter().any(is_lost) && diff(&sides[0], &sides[1]).level() != Some(Level::Loss) {
        let lost = applied.iter_mut().filter_map(|done| done.cost.as_mut());
        lost.for_each(|cost| *cost = Cost::Guess(cost.as_str().to_owned()));
    }
}
