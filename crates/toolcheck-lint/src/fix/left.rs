//! Why findings are left.

use std::borrow::Cow;

use foldhash::HashMap;
use toolcheck_core::remedy::Cost;
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
    /// How bad it is.
    pub level: Level,
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
            Self::Costs(Cost::Loss(lost)) => {
                format!("only with --unsafe-fixes, because this is lost: {lost}").into()
            }
            Self::Costs(Cost::Guess(guess)) => format!("only with --unsafe-fixes: {guess}").into(),
            Self::Because(reason) => reason.clone(),
        }
    }
}

/// What is known of why findings are left, while a file is fixed.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// Of findings, by rule and place.
    of_findings: HashMap<(RuleId, usize), Why>,
    /// Of all that is in a record.
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
    pub(super) fn add_tried(&mut self, done: &Applied, worse: RuleId) {
        let reason = match worse == done.rule {
            true => "it was tried, and the same was still found".to_owned(),
            false => format!("it was tried, and then there is `{worse}`"),
        };
        self.of_findings.insert((done.rule, done.spot.bytes.start), Why::Because(reason.into()));
    }

    /// Why a finding of the file as it was is not fixed.
    fn why(&self, finding: &Finding, is_wanted: bool, reader: Option<&'static str>) -> Why {
        if let Some(why) = self.of_findings.get(&(finding.rule, finding.spot.bytes.start)) {
            return why.clone();
        }
        let because = |reason: &'static str| Why::Because(reason.into());
        let rule = rules::get(finding.rule);
        if finding.remedy.is_none() && rule.fix.is_none() {
            return because(rule.unfixed);
        }
        if !is_wanted {
            return Why::Because(
                format!("the API accepts it; `--select {}` fixes it all the same", finding.rule).into(),
            );
        }
        if let Some(reason) = self.of_records.get(&finding.spot.record) {
            return Why::Because(reason.clone());
        }
        let reader = reader.and_then(readers::find);
        if reader.is_some_and(|reader| reader.mend().is_none()) {
            return because(
                "not in this sort of file: its messages have a form of their own, or are inside a string",
            );
        }
        let Some(fix) = &rule.fix else { return because("there is no fix here") };
        match &finding.help {
            Some(help) if fix.has_help => Why::Because(format!("{}: {}", fix.otherwise, &**help).into()),
            _ => because(fix.otherwise),
        }
    }

    /// The findings of a file that is not changed, each with why.
    pub(super) fn left(&self, report: &FileReport, how: &FixOptions) -> Vec<Skipped> {
        let left = report.findings.iter().filter(|finding| how.asks_for(finding)).map(|finding| {
            let why = self.why(finding, how.wants(finding), report.format);
            Skipped {
                rule: finding.rule,
                spot: finding.spot.clone(),
                level: finding.level,
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
