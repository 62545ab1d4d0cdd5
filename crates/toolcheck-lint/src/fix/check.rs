//! Whether a file is better once it is fixed.

use foldhash::HashMap;
use toolcheck_core::RuleId;
use toolcheck_core::diff::{Level, Side, diff};
use toolcheck_core::fix::{Cost, Fix};
use toolcheck_core::formats::Format;
use toolcheck_core::ir::Transcript;
use toolcheck_json::{Document, Span};

use super::{Applied, Change};
use crate::compare_fix::Counts;
use crate::finding::Finding;
use crate::planner::Planned;
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

/// Says of the fixes of a request that may lose something whether they do: what a `diff` with the new text finds.
pub(super) fn weigh(
    plan: &mut Planned,
    (before, transcript, format): (&Document<'_>, &Transcript<'_>, &Format),
    findings: &[Finding],
) {
    let fix = |finding: usize| findings[finding].fix.as_deref().filter(|fix| fix.or_lost.is_some());
    if !plan.done.iter().any(|done| fix(done.finding).is_some()) {
        return;
    }
    let lost = losses((before, transcript), (&plan.bytes, format));
    let meets = |fix: &Fix| {
        let mut spans = fix.changes.iter().map(|change| before.value(change.node()).span());
        spans.any(|span| lost.iter().any(|lost| lost.contains(span) || span.contains(*lost)))
    };
    for done in &mut plan.done {
        if let Some(fix) = fix(done.finding).filter(|fix| meets(fix)) {
            done.cost = fix.or_lost.clone().map(Cost::Loss);
        }
    }
}

/// The same of fixes of what showed only later: they are weighed by the text as it was, which may have been read.
pub(super) fn weigh_later(change: &mut Change, bytes: &[u8]) {
    let (Some(format), true) = (change.format, change.later.iter().any(|done| done.or_lost.is_some())) else {
        return;
    };
    let before = Document::read(&bytes[change.start..change.end]);
    let Some(transcript) = format.read(before.root()) else { return };
    let is_told = change.done().any(|done| done.cost.as_ref().is_some_and(|cost| cost.lost().is_some()));
    if !is_told && !losses((&before, &transcript), (&change.bytes, format)).is_empty() {
        for done in change.later.iter_mut().filter(|done| done.or_lost.is_some()) {
            done.cost = done.or_lost.clone().map(Cost::Loss);
        }
    }
}

/// Where something is that a new text has no more.
fn losses(
    (before, transcript): (&Document<'_>, &Transcript<'_>),
    (text, format): (&[u8], &Format),
) -> Vec<Span> {
    let document = Document::read(text);
    let Some(after) = format.read(document.root()) else { return Vec::new() };
    let changes = diff(&Side::new(transcript, before), &Side::new(&after, &document)).changes;
    let lost = changes.iter().filter(|change| change.level == Level::Loss);
    lost.filter_map(|change| Some(change.before?.span)).collect()
}
