use std::fmt::Write as _;
use std::io;

use toolcheck_core::text::{bounded, guard, line};

use super::picture::picture;
use super::{Report, ScenarioRun, Status};
use crate::junit_xml::{Case, Counts, Outcome, Writer};

/// The width of pictures in columns.
const WIDTH: usize = 100;
/// The most characters of a message.
const LONGEST: usize = 500;

/// Writes JUnit XML: a suite for the client, and a case for each run. What is known, skipped or unscored counts as skipped,
/// and what is inconclusive as an error.
pub fn junit(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let of = |status| report.runs.iter().filter(|run| run.is_unexpected() && run.status == status).count();
    let counts = Counts {
        tests: report.runs.len() + report.stale.len(),
        failures: of(Status::Fail) + report.stale.len(),
        errors: of(Status::Broke) + of(Status::Inconclusive),
        skipped: report.runs.iter().filter(|run| why_skipped(run).is_some()).count(),
    };
    let name = bounded(&report.name, LONGEST);
    let mut xml = Writer::begin("toolcheck conform", counts, out)?;
    xml.begin_suite(&name, counts)?;
    for run in &report.runs {
        case(run, &name, &mut xml)?;
    }
    for entry in &report.stale {
        let entry = line(entry);
        let outcome = Outcome::Failed { kind: "stale", message: "it no longer fails", text: &entry };
        xml.case(&Case { name: &format!("stale {entry}"), class: &name, file: None, line: None, outcome })?;
    }
    xml.end_suite()?;
    xml.end()
}

fn why_skipped(run: &ScenarioRun) -> Option<String> {
    let reason = run.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
    match run.status {
        Status::Skip => Some(format!("skip{reason}")),
        status if status.counts() && !run.scored => Some(format!("unscored: {status}{reason}")),
        status if status.counts() && run.is_known() => {
            let known = run.faults().find_map(|fault| fault.known.as_deref()).unwrap_or_default();
            Some(format!("known: {known}"))
        }
        _ => None,
    }
}

fn case(run: &ScenarioRun, suite: &str, xml: &mut Writer<'_>) -> io::Result<()> {
    let name = bounded(&format!("{} {} {}", run.scenario, run.format, run.way()), LONGEST);
    let class = format!("{suite}.{}", bounded(&run.scenario, LONGEST));
    let (message, text);
    let outcome = match run.status {
        _ if why_skipped(run).is_some() => {
            message = bounded(&why_skipped(run).unwrap_or_default(), LONGEST);
            Outcome::Skipped { message: &message }
        }
        Status::Fail => {
            let worst = run.faults().find(|fault| fault.status == Status::Fail);
            let words = worst.map_or_else(String::new, |fault| format!("{}: {}", fault.check, fault.reason));
            message = bounded(&words, LONGEST);
            text = said(run);
            Outcome::Failed { kind: run.status.as_str(), message: &message, text: &text }
        }
        Status::Inconclusive => {
            let first = run.faults().find(|fault| fault.status == Status::Inconclusive);
            let words = first.map_or_else(String::new, |fault| format!("{}: {}", fault.check, fault.reason));
            message = bounded(&format!("inconclusive: {words}"), LONGEST);
            Outcome::NotRun { message: &message }
        }
        Status::Broke => {
            message = bounded(run.reason.as_deref().unwrap_or("broke"), LONGEST);
            Outcome::NotRun { message: &message }
        }
        _ => Outcome::Passed,
    };
    xml.case(&Case { name: &name, class: &class, file: run.file.as_deref(), line: None, outcome })
}

/// The verdicts, what the API says, and the picture.
fn said(run: &ScenarioRun) -> String {
    let mut text = String::new();
    for fault in run.faults() {
        let known = fault.known.as_deref().map_or_else(String::new, |known| format!(" (known: {known})"));
        let _ =
            writeln!(text, "{}", line(&format!("{} {}: {}{known}", fault.status, fault.check, fault.reason)));
    }
    for refused in &run.refused {
        let words = refused.text.as_deref().unwrap_or("(the exact text is unknown)");
        let _ = writeln!(text, "{}", line(&format!("the API answers {}: {words}", refused.status)));
    }
    let _ = writeln!(text, "{}", line(&run.outcome));
    let picture = picture(run, WIDTH);
    if !picture.is_empty() {
        text.push('\n');
        for line in picture.lines() {
            let _ = writeln!(text, "{}", guard(line));
        }
    }
    text
}
