//! Whether a file is better once it is fixed.

use std::collections::BTreeMap;

use foldhash::HashMap;
use toolcheck_core::Level;

use super::Change;
use crate::finding::Finding;
use crate::report::FileReport;

/// A rule, and the rule that can only be checked once findings of the first are fixed: what is found then is not new.
const SEEN_AFTER: [(&str, &str); 2] = [
    ("invalid-arguments-json", "arguments-schema-mismatch"),
    // A result without its call stands where a text of the user does then.
    ("orphan-tool-result", "misplaced-message"),
];

/// How often each rule has findings: errors, and others.
#[derive(Debug, Clone, Default)]
struct Counts {
    errors: BTreeMap<&'static str, usize>,
    others: BTreeMap<&'static str, usize>,
}

impl Counts {
    fn add(&mut self, finding: &Finding) {
        let of_level = if finding.level == Level::Error { &mut self.errors } else { &mut self.others };
        *of_level.entry(finding.rule).or_default() += 1;
    }

    /// The same without what was fixed.
    fn without(mut self, applied: impl Iterator<Item = &'static str>) -> Self {
        for done in applied {
            let of_level = if self.errors.contains_key(done) { &mut self.errors } else { &mut self.others };
            of_level.entry(done).and_modify(|count| *count = count.saturating_sub(1));
            if let Some((_, other)) = SEEN_AFTER.iter().find(|(rule, _)| *rule == done) {
                // One fixed call may lack several arguments.
                self.errors.insert(other, usize::MAX);
                self.others.insert(other, usize::MAX);
            }
        }
        self
    }

    /// The rule of which there is more than before, but for what was fixed. An error weighs more than a warning: what leaves
    /// fewer errors may have new warnings.
    fn worse_than(&self, before: Self, applied: impl Iterator<Item = &'static str>) -> Option<&'static str> {
        let sum = |counts: &Self| counts.errors.values().sum::<usize>();
        let has_fewer_errors = sum(self) < sum(&before);
        let allowed = before.without(applied);
        let more = |own: &BTreeMap<&'static str, usize>, allowed: &BTreeMap<&'static str, usize>| {
            let mut rules = own.iter();
            let more = rules.find(|(rule, count)| **count > allowed.get(*rule).copied().unwrap_or(0));
            more.map(|(rule, _)| *rule)
        };
        let of_errors = more(&self.errors, &allowed.errors);
        of_errors.or_else(|| more(&self.others, &allowed.others).filter(|_| !has_fewer_errors))
    }
}

/// The rule of whose findings a record has more than before, but for those that were fixed.
pub(crate) fn worse(
    before: &[Finding],
    after: &[Finding],
    applied: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let [old, new] = [before, after].map(|findings| {
        let mut counts = Counts::default();
        findings.iter().for_each(|finding| counts.add(finding));
        counts
    });
    new.worse_than(old, applied)
}

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
) -> HashMap<Option<usize>, &'static str> {
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
        if let Some(rule) = now.worse_than(old, change.applied.iter().map(|done| done.rule)) {
            worse.insert(change.record, rule);
        }
    }
    worse
}
