//! Why findings are left.

use std::borrow::Cow;
use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};
use toolcheck_core::fix::Cost;
use toolcheck_core::{Level, RuleId, readers};

use super::Applied;
use crate::finding::{Finding, Spot};
use crate::planner::FixOptions;
use crate::report::FileReport;
use crate::rules;

/// A finding that is left.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Skipped {
    /// The id of its rule.
    pub rule: RuleId,
    /// Its place in the file as it is now.
    pub spot: Spot,
    /// Its place in the file as it was; if it shows only once others are fixed, its place now.
    pub was: Spot,
    /// How bad it is.
    pub level: Level,
    /// Whether a fix was tried that files of its kind get, whatever its level.
    pub is_wanted: bool,
    /// What an unsafe fix would cost; `None` if there is none either.
    pub cost: Option<Cost>,
    /// Why it is left, in one clause.
    pub reason: Cow<'static, str>,
}

/// Why a finding is not fixed.
#[derive(Debug, Clone)]
pub(super) enum Why {
    /// Only an unsafe fix fixes it.
    Costs(Cost),
    /// Another reason.
    Because(Cow<'static, str>),
}

impl Why {
    fn reason(&self) -> Cow<'static, str> {
        match self {
            Self::Costs(Cost::Loss(lost)) => format!("needs --unsafe-fixes, which would lose {lost}").into(),
            Self::Costs(Cost::Guess(guess)) => format!("needs --unsafe-fixes: {guess}").into(),
            Self::Because(reason) => reason.clone(),
        }
    }
}

/// What fixes a finding that is left unless the user asks for its rule.
pub(super) fn only(rule: RuleId) -> String {
    format!("`fix --only {rule}` tries it all the same")
}

/// Why a finding is left that is no error, as the report has it.
fn accepted(finding: &Finding) -> String {
    let only = only(finding.rule);
    let doubt = finding.provider_error.as_ref().and_then(|answer| answer.only_warns.as_deref());
    match (doubt, &finding.harm) {
        (Some(doubt), _) => format!("only a warning: {}; {only}", doubt.trim_end_matches('.')),
        (None, Some(harm)) if finding.provider_error.is_none() => {
            format!("the API accepts it, but {}; {only}", harm.trim_end_matches('.'))
        }
        _ => format!("only a warning; {only}"),
    }
}

/// What holds for a finding whatever else is fixed.
type Mark<'f> = (RuleId, Option<usize>, &'f [u8]);

/// The places that the findings of a file had before it was fixed, where they were found then: of those of one rule about
/// the same bytes, in their order, first in the same record and then in any.
fn places_before<'b>(
    before: &'b FileReport,
    applied: &[Applied],
    after: &FileReport,
) -> Vec<Option<&'b Spot>> {
    let fixed: HashSet<(RuleId, usize)> =
        applied.iter().map(|done| (done.rule, done.spot.bytes.start)).collect();
    let mut open: Vec<&Finding> = before.findings.iter().collect();
    open.retain(|finding| !fixed.contains(&(finding.rule, finding.spot.bytes.start)));
    let mut places = vec![None; after.findings.len()];
    for in_record in [true, false] {
        let mark = |finding: &'_ Finding| (finding.rule, in_record.then_some(finding.spot.record));
        let mut known: HashMap<Mark<'_>, VecDeque<usize>> = HashMap::default();
        for (number, finding) in open.iter().enumerate() {
            let (rule, record) = mark(finding);
            known.entry((rule, record, finding.head.bytes())).or_default().push_back(number);
        }
        let mut found = HashSet::default();
        for (place, finding) in places.iter_mut().zip(&after.findings) {
            let (rule, record) = mark(finding);
            if place.is_none()
                && let Some(same) = known.get_mut(&(rule, record, finding.head.bytes()))
                && let Some(number) = same.pop_front()
            {
                *place = Some(&open[number].spot);
                found.insert(number);
            }
        }
        drop(known);
        let mut number = 0..;
        open.retain(|_| number.next().is_none_or(|number| !found.contains(&number)));
    }
    places
}

/// Why nothing is fixed where nobody knows how the messages are written.
pub(super) const OWN_FORM: &str =
    "not in this kind of file: its messages have a form of their own, or are inside a string";

/// What is known of why findings are left, while a file is fixed.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    of_findings: HashMap<(RuleId, usize), Why>,
    of_records: HashMap<usize, Cow<'static, str>>,
}

impl Reasons {
    pub(super) fn add(&mut self, rule: RuleId, spot: &Spot, why: Why) {
        self.of_findings.entry((rule, spot.bytes.start)).or_insert(why);
    }

    pub(super) fn add_record(&mut self, record: usize, reason: impl Into<Cow<'static, str>>) {
        self.of_records.entry(record).or_insert_with(|| reason.into());
    }

    /// What was tried, and left or made findings of another rule.
    pub(super) fn add_tried(&mut self, (rule, at): (RuleId, usize), worse: RuleId) {
        let reason = match worse == rule {
            true => "it was tried, and the same was still found".to_owned(),
            false => format!("it was tried, and then there is `{worse}`"),
        };
        self.of_findings.insert((rule, at), Why::Because(reason.into()));
    }

    /// Why what was tried for a finding was given up.
    pub(super) fn tried(&self, place: (RuleId, usize)) -> Option<&str> {
        match self.of_findings.get(&place)? {
            Why::Because(reason) => Some(reason),
            Why::Costs(_) => None,
        }
    }

    /// Why a finding of the file as it was is not fixed.
    fn why(&self, finding: &Finding, is_wanted: bool, reader: Option<&'static str>) -> Why {
        if let Some(why) = self.of_findings.get(&(finding.rule, finding.spot.bytes.start)) {
            return why.clone();
        }
        let because = |reason: &'static str| Why::Because(reason.into());
        let rule = rules::get(finding.rule);
        if finding.fix.is_none() && rule.fix.is_none() {
            return because(rule.unfixed);
        }
        if !is_wanted {
            return Why::Because(accepted(finding).into());
        }
        if let Some(reason) = self.of_records.get(&finding.spot.record) {
            return Why::Because(reason.clone());
        }
        let reader = reader.and_then(readers::find);
        if reader.is_some_and(|reader| reader.file_style.is_none()) {
            return because(OWN_FORM);
        }
        let Some(fix) = &rule.fix else { return because("no fix is known for this case") };
        match &finding.help {
            Some(help) if fix.has_help => Why::Because(format!("{} ({})", fix.otherwise, &**help).into()),
            _ => because(fix.otherwise),
        }
    }

    /// The findings that are left of those that were asked for, each with why. `before` is the file as it was, with what was
    /// fixed in it; `None` if it is the same.
    pub(super) fn left(
        &self,
        report: &FileReport,
        how: &FixOptions,
        before: Option<(&FileReport, &[Applied])>,
    ) -> Vec<Skipped> {
        let places = before.map(|(before, applied)| places_before(before, applied, report));
        let with_places = report.findings.iter().enumerate().map(|(number, finding)| {
            let before = places.as_ref().and_then(|places| places[number]);
            (finding, before.unwrap_or(&finding.spot))
        });
        let asked =
            with_places.filter(|(finding, was)| how.asks_for(finding.rule, was) && !how.leaves_out(finding));
        let left = asked.map(|(finding, was)| {
            let why = self.why(finding, how.takes(finding), report.format);
            let is_tried = self.of_findings.contains_key(&(finding.rule, finding.spot.bytes.start));
            let has_fix = || finding.fix.is_some() || rules::get(finding.rule).fix.is_some();
            Skipped {
                rule: finding.rule,
                spot: finding.spot.clone(),
                was: was.clone(),
                level: finding.level,
                is_wanted: is_tried && has_fix(),
                reason: why.reason(),
                cost: match why {
                    Why::Costs(cost) => Some(cost),
                    Why::Because(_) => None,
                },
            }
        });
        left.collect()
    }
}
