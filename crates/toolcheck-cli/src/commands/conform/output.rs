//! What a run of scenarios says.

use std::io::{self, Write};

use toolcheck_conform::{Scenario, checks, sets};
use toolcheck_core::text::guard;
use toolcheck_report::conform::{self, RefusedRequest, Report, ScenarioRun, Status, Verdict};
use toolcheck_serve::MockLog;

use super::client::Answer;
use crate::args::{Color, ConformOutput};
use crate::screen;

pub(super) fn list(scenarios: &[&Scenario], out: &mut dyn Write) -> io::Result<()> {
    let width = scenarios.iter().map(|scenario| scenario.id.len()).max().unwrap_or_default();
    for scenario in scenarios {
        let set = sets::first_with(scenario).map_or("-", |set| set.id);
        writeln!(out, "{:width$}  {set:6}  {}", scenario.id, scenario.title)?;
    }
    Ok(())
}

pub(super) fn enter(
    run: &mut ScenarioRun,
    answer: Answer,
    judge: impl FnOnce(&toolcheck_conform::Outcome) -> Vec<Verdict>,
) {
    match answer {
        Answer::Ended(outcome) => {
            run.outcome = format!("{}: {}", if outcome.is_done { "done" } else { "error" }, outcome.text);
            run.verdicts = judge(&outcome);
            run.judge();
        }
        Answer::Skipped(why) => (run.status, run.reason) = (Status::Skip, Some(why)),
        Answer::Broke(why) => (run.status, run.reason) = (Status::Broke, Some(why)),
    }
}

/// Enters what the mock has seen.
pub(super) fn keep(run: &mut ScenarioRun, seen: &MockLog) {
    run.keep(seen.exchanges.iter().map(toolcheck_serve::Exchange::json_line));
    run.exchanges_left_out += seen.not_kept;
    let refused = seen.refused().map(|refused| {
        let mut entry =
            RefusedRequest::new(refused.rule.as_str(), &refused.message, &refused.place, refused.status);
        (entry.text, entry.source) = (refused.text.clone(), refused.source.clone());
        entry
    });
    run.refused = refused.take(MOST_REFUSED).collect();
}

/// The most refusals of a run: one that is sent again and again is refused again and again.
const MOST_REFUSED: usize = 20;

pub(super) fn write(report: &Report, output: ConformOutput, out: &mut dyn Write) -> io::Result<()> {
    match output {
        ConformOutput::Text => conform::text(report, &|check| Some(checks::find(check)?.help), &wrap, out),
        ConformOutput::Json => conform::json(report, out),
        ConformOutput::Markdown => conform::markdown(report, out),
        ConformOutput::Junit => conform::junit(report, out),
        ConformOutput::Html => conform::html(report, out),
    }
}

/// A line as the screen has room for it.
fn wrap(text: &str) -> String {
    const INDENT: &str = "  ";
    let lines = screen::wrapped(text, INDENT, &screen::style(Color::Auto));
    let guarded: Vec<String> = lines.iter().map(|line| guard(line).into_owned()).collect();
    // Only what follows is indented.
    guarded.join("\n").trim_start().to_owned()
}
