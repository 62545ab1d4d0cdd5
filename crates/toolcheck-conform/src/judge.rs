//! Verdicts on a run.

use toolcheck_core::text::bounded;
use toolcheck_lint::settings::ToolNames;
use toolcheck_lint::{FileReport, Options, Settings};

use crate::case::Case;
use crate::checks::{self, Check, Seen};
use crate::scenarios::Expected;

/// What a check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It is as it must or should be.
    Pass,
    /// It is not as it must be.
    Fail,
    /// It is not as it should be.
    Weak,
    /// It is only told.
    Info,
}

impl Status {
    /// The name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Weak => "weak",
            Self::Info => "info",
        }
    }
}

/// What a check says of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verdict {
    /// The check.
    pub check: &'static Check,
    /// What it says.
    pub status: Status,
    /// What is wrong; empty if nothing is.
    pub reason: String,
}

/// The longest reason in characters.
const LONGEST: usize = 400;

/// What the linter finds in the exchanges.
fn lint(case: &Case<'_>) -> FileReport {
    let Some(tool) = &case.scenario.final_tool else { return case.run.lint() };
    let mut settings = Settings::default();
    settings.completion_tools = ToolNames::exact(&[tool.as_str()]);
    let options = Options::new().settings(settings);
    toolcheck_lint::lint("exchanges.jsonl", case.run.json_lines().as_bytes(), &options)
}

/// Holds a run against what its scenario expects.
#[must_use]
pub fn judge(case: &Case<'_>) -> Vec<Verdict> {
    let report = lint(case);
    let seen = Seen { case, report: &report };
    let verdict = |expected: &Expected| {
        let check = checks::find(expected.check())?;
        let wrong = (check.judge)(&seen);
        let status = match (&wrong, &expected.must, &expected.should) {
            (None, ..) => Status::Pass,
            (_, Some(_), _) => Status::Fail,
            (_, _, Some(_)) => Status::Weak,
            _ => Status::Info,
        };
        let reason = bounded(&wrong.unwrap_or_default(), LONGEST);
        Some(Verdict { check, status, reason })
    };
    let format = case.run.exchanges.first().map(|exchange| exchange.format);
    let is_held = |expected: &&Expected| {
        expected.formats.is_empty()
            || format.is_none_or(|format| expected.formats.iter().any(|own| own == format))
    };
    case.scenario.checks.iter().filter(is_held).filter_map(verdict).collect()
}
