//! Verdicts on a run.

use toolcheck_core::text::bounded;
use toolcheck_lint::settings::ToolNames;
use toolcheck_lint::{FileReport, Options, Settings};
use toolcheck_report::conform::{Status, Verdict};

use crate::case::Case;
use crate::checks::{self, Judgement, Seen};
use crate::scenarios::Expected;

/// The longest reason in characters.
const LONGEST: usize = 400;
/// The longest error: what causes it is often said last.
const LONGEST_ERROR: usize = 2200;

fn lint(case: &Case<'_>) -> FileReport {
    let Some(tool) = &case.scenario.final_tool else { return case.run.lint() };
    let mut settings = Settings::default();
    settings.completion_tools = ToolNames::exact([tool.clone()]);
    let options = Options::new().settings(settings);
    toolcheck_lint::lint("exchanges.jsonl", case.run.json_lines().as_bytes(), &options)
}

/// Holds a run against what its scenario expects.
pub fn judge(case: &Case<'_>) -> Vec<Verdict> {
    let report = lint(case);
    let seen = Seen::new(case, &report);
    let verdict = |expected: &Expected| {
        let check = checks::find(expected.check())?;
        let judgement = match nothing_came(case) {
            // Who fails before the first request has not finished.
            Some(_) if check.id == "finishes" && !case.outcome.is_done => (check.judge)(&seen),
            Some(why) => Judgement::Inconclusive(why),
            None => (check.judge)(&seen),
        };
        let (status, reason) = match judgement {
            Judgement::Met => (Status::Pass, String::new()),
            Judgement::Inconclusive(why) if expected.info.is_none() => (Status::Inconclusive, why),
            Judgement::Broken(why) | Judgement::Inconclusive(why) => (expected.status(), why),
        };
        let longest = if check.id == "finishes" && !case.outcome.is_done { LONGEST_ERROR } else { LONGEST };
        Some(Verdict::new(check.id, status, &bounded(&reason, longest)))
    };
    let format = case.run.exchanges.first().map(|exchange| exchange.format);
    let mut verdicts: Vec<Verdict> = Vec::new();
    for expected in case.scenario.checks.iter().filter(|expected| expected.is_held_in(format)) {
        // Where no request tells the format, a check counts once.
        if verdicts.iter().all(|verdict| verdict.check != expected.check()) {
            verdicts.extend(verdict(expected));
        }
    }
    verdicts
}

/// That no request was sent, of which nothing can be judged.
fn nothing_came(case: &Case<'_>) -> Option<String> {
    if !case.run.exchanges.is_empty() {
        return None;
    }
    Some(match (case.run.unexpected.first(), case.run.not_found.first()) {
        (Some(path), _) => format!("requests were sent only to the path of another API: `{path}`"),
        (None, Some(path)) => format!("requests were sent only to unknown paths, such as `{path}`"),
        (None, None) => "no request was sent".to_owned(),
    })
}

impl Expected {
    /// What it is if the check is not met.
    fn status(&self) -> Status {
        match (&self.must, &self.should) {
            (Some(_), _) => Status::Fail,
            (_, Some(_)) => Status::Weak,
            _ => Status::Info,
        }
    }
}
