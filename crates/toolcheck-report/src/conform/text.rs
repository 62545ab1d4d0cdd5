use std::collections::{BTreeMap, HashMap};
use std::io;

use toolcheck_core::text::{Counted, guard, line};

use super::{Report, ScenarioRun, Status, Verdict};

/// Runs of a scenario of which the same is to be said.
struct Group<'r> {
    what: FailureGroup<'r>,
    reason: &'r str,
    runs: Vec<&'r ScenarioRun>,
    /// How many of them have another reason.
    otherwise: usize,
}

#[derive(PartialEq)]
struct FailureGroup<'r> {
    status: Status,
    /// The scenario; `None` if there are several.
    scenario: Option<&'r str>,
    /// The check; empty if it is about none.
    check: &'r str,
    known: Option<&'r str>,
}

/// Writes what is not as it must or should be, for the terminal. `help` says what to do about a loop that does not meet
/// a check, and `wrap` breaks a line.
pub fn text<'h>(
    report: &Report,
    help: &dyn Fn(&str) -> Option<&'h str>,
    wrap: &dyn Fn(&str) -> String,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut runs = &*report.runs;
    while let Some(first) = runs.first() {
        let (of_scenario, rest) =
            runs.split_at(runs.iter().take_while(|run| run.scenario == first.scenario).count());
        let groups = groups(of_scenario);
        for group in &groups {
            writeln!(out, "{}", wrap(&guard(&group.line(of_scenario))))?;
        }
        // The first check that is not met is mostly the cause of the others.
        let mut checks = groups.iter().map(|group| &group.what);
        let is_new = |status| matches!(status, Status::Fail | Status::Weak);
        let first_new = checks.find(|check| is_new(check.status) && check.known.is_none());
        if let Some(help) = first_new.and_then(|fault| help(fault.check)) {
            let more = format!("help: {help} (toolcheck explain {})", line(&first.scenario));
            writeln!(out, "  {}", wrap(&guard(&more)))?;
        }
        runs = rest;
    }
    for group in missing(&report.runs) {
        writeln!(out, "{}", wrap(&guard(&group.line(&report.runs))))?;
    }
    for entry in &report.stale {
        writeln!(out, "{}", wrap(&format!("stale {}: it no longer fails", line(entry))))?;
    }
    let counted = |scored: bool| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for run in report.runs.iter().filter(|run| run.scored == scored) {
            *counts.entry(run.status.as_str()).or_default() += 1;
        }
        let sum: usize = counts.values().sum();
        let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        (sum, counts.join(", "))
    };
    let (scored, unscored) = (counted(true), counted(false));
    writeln!(out, "{}: {}", Counted(scored.0, "run"), if scored.0 == 0 { "none" } else { &scored.1 })?;
    if unscored.0 > 0 {
        writeln!(out, "{}, unscored: {}", Counted(unscored.0, "run"), unscored.1)?;
    }
    if report.runs_left > 0 {
        writeln!(out, "{} still to come", Counted(report.runs_left, "run"))?;
    }
    Ok(())
}

fn groups(runs: &[ScenarioRun]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        for Verdict { check, status, reason, known } in run.faults() {
            let what = FailureGroup {
                status: *status,
                scenario: Some(&run.scenario),
                check,
                known: known.as_deref(),
            };
            match groups.iter_mut().find(|group| group.what == what) {
                Some(group) => {
                    group.otherwise += usize::from(group.reason != reason);
                    group.runs.push(run);
                }
                None => groups.push(Group { what, reason, runs: vec![run], otherwise: 0 }),
            }
        }
    }
    groups
}

/// The runs without verdicts, by their reasons: mostly the client has one reason for many scenarios.
fn missing(runs: &[ScenarioRun]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(Status, &str), usize> = HashMap::new();
    for run in runs.iter().filter(|run| matches!(run.status, Status::Skip | Status::Broke)) {
        let reason = run.reason.as_deref().unwrap_or_default();
        let place = *places.entry((run.status, reason)).or_insert_with(|| {
            let what =
                FailureGroup { status: run.status, scenario: Some(&run.scenario), check: "", known: None };
            groups.push(Group { what, reason, runs: Vec::new(), otherwise: 0 });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.what.scenario = group.what.scenario.filter(|scenario| *scenario == run.scenario);
        group.runs.push(run);
    }
    groups
}

impl Group<'_> {
    fn line(&self, all: &[ScenarioRun]) -> String {
        let FailureGroup { status, scenario, check, known } = self.what;
        let unscored = if self.runs.iter().any(|run| run.scored) { "" } else { "unscored " };
        let scenario = scenario.map_or_else(|| Counted(self.runs.len(), "run").to_string(), line);
        let check = if check.is_empty() { String::new() } else { format!(" {}", line(check)) };
        let known = known.map_or_else(String::new, |why| format!(" (known: {})", line(why)));
        let otherwise = match self.otherwise {
            0 => String::new(),
            count => format!(" (and other words in {})", Counted(count, "run")),
        };
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", line(self.reason)) };
        format!("{unscored}{status} {scenario}{check} [{}]{reason}{otherwise}{known}", self.places(all))
    }

    /// The formats; the ways are named where it is only some.
    fn places(&self, all: &[ScenarioRun]) -> String {
        // Runs without verdicts have a line of their own.
        let is_other = |run: &&ScenarioRun| {
            let has_verdicts = !matches!(run.status, Status::Skip | Status::Broke);
            (self.what.check.is_empty() || has_verdicts)
                && self.what.scenario.is_none_or(|scenario| scenario == run.scenario)
        };
        let count = all.iter().filter(is_other).count();
        if self.runs.len() == count && count > 1 {
            return if count == 2 { "both runs".to_owned() } else { format!("all {count} runs") };
        }
        let mut formats: Vec<(&str, Vec<&str>)> = Vec::new();
        for run in &self.runs {
            match formats.iter_mut().find(|(format, _)| *format == run.format) {
                Some((_, ways)) if ways.contains(&run.way()) => {}
                Some((_, ways)) => ways.push(run.way()),
                None => formats.push((&run.format, vec![run.way()])),
            }
        }
        let named = formats.iter().map(|(format, ways)| match &**ways {
            [way] => format!("{} {way}", line(format)),
            _ => line(format),
        });
        named.collect::<Vec<_>>().join(", ")
    }
}
