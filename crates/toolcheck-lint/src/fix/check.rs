//! Whether a file is better once it is fixed.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::HashMap;
use toolcheck_core::RuleId;
use toolcheck_core::diff::Level;
use toolcheck_core::diff::files::{File, compare};
use toolcheck_core::fix::Cost;
use toolcheck_core::formats::Format;

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
        let rules = |applied: &[Applied]| {
            applied.iter().filter(|done| !done.is_copy).map(|done| done.rule).collect::<Vec<_>>()
        };
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

/// Requests that were changed, each by its number with how it was and how it is now.
#[derive(Default)]
pub(super) struct Requests<'b>(HashMap<usize, Request<'b>>);

struct Request<'b> {
    format: &'static Format,
    /// Where it began in the file as it was.
    start: usize,
    before: Cow<'b, [u8]>,
    after: Vec<u8>,
}

impl<'b> Requests<'b> {
    /// Adds the changes of a round, whose text `part` gives.
    pub(super) fn add(&mut self, part: impl Fn(Range<usize>) -> Cow<'b, [u8]>, changes: Vec<Change>) {
        for change in changes {
            let (Some(number), Some(format)) = (change.record, change.format) else { continue };
            let before = || part(change.start..change.end);
            let new = || Request { format, start: change.start, before: before(), after: Vec::new() };
            self.0.entry(number).or_insert_with(new).after = change.bytes;
        }
    }

    /// Says of fixes that cost something whether they lose it, as `diff` does. Of the first of them, the places are those in
    /// the file as it was.
    pub(super) fn weigh(&self, applied: &mut [Applied], first: usize) {
        let mut by_record: HashMap<usize, Vec<(&mut Applied, bool)>> = HashMap::default();
        for (number, done) in applied.iter_mut().enumerate().filter(|(_, done)| done.cost.is_some()) {
            by_record.entry(done.spot.record).or_default().push((done, number < first));
        }
        for (number, mut all) in by_record {
            let Some(lost) = self.0.get(&number).and_then(Request::losses) else { continue };
            let is_loss = |done: &Applied| done.cost.as_ref().is_some_and(|cost| cost.lost().is_some());
            let meets = |done: &Applied| {
                let own = &done.spot.bytes;
                let holds = |one: &Range<usize>, other: &Range<usize>| {
                    one.start <= other.start && other.end <= one.end
                };
                lost.iter().any(|lost| holds(lost, own) || holds(own, lost))
            };
            let is_any = all.iter().any(|(done, is_first)| is_loss(done) || *is_first && meets(done));
            for (done, is_first) in &mut all {
                match done.cost.take() {
                    Some(Cost::Loss(what)) if lost.is_empty() => {
                        done.cost = Some(Cost::Guess(format!("assumes that {what} is not needed")));
                    }
                    Some(Cost::Guess(guess)) if !lost.is_empty() && (!is_any || *is_first && meets(done)) => {
                        let what = done.or_lost.clone();
                        done.cost =
                            Some(Cost::Loss(what.unwrap_or_else(|| format!("what was there ({guess})"))));
                    }
                    cost => done.cost = cost,
                }
            }
        }
    }
}

impl Request<'_> {
    /// The places of what `diff` says is lost; `None` if it can't compare them.
    fn losses(&self) -> Option<Vec<Range<usize>>> {
        let read = |bytes| File::read(bytes, Some(self.format.into())).ok();
        let changes = compare(&read(&self.before)?, &read(&self.after)?, None).changes;
        let lost = changes.into_iter().filter(|change| change.level == Level::Loss);
        let at = |bytes: Range<usize>| bytes.start + self.start..bytes.end + self.start;
        Some(lost.map(|change| change.before.map(|spot| at(spot.bytes)).unwrap_or_default()).collect())
    }
}
