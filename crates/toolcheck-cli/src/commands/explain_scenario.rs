//! `toolcheck explain SCENARIO`: what happens in a scenario of `conform`, and what a loop must do.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use serde_json::json;
use toolcheck_conform::{Expected, Scenario, checks, scenarios, sets};
use toolcheck_core::text::line;
use toolcheck_serve::{ScriptedCall, Turn};

use super::explain::write_page;
use crate::Status;
use crate::args::ListFormat;

pub(super) fn run(scenario: &Scenario, output: ListFormat, out: &mut dyn Write) -> Result<Status> {
    if output == ListFormat::Json {
        serde_json::to_writer_pretty(&mut *out, &as_json(scenario))?;
        writeln!(out)?;
    } else {
        write_page(&page(scenario), out)?;
    }
    Ok(Status::Clean)
}

pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    scenarios::all().iter().map(|scenario| &*scenario.id)
}

/// What a check is, and a scenario that needs it; `None` if there is no such check.
pub(super) fn about_check(id: &str) -> Option<String> {
    let check = checks::find(id)?;
    let uses = |scenario: &&Scenario| scenario.checks.iter().any(|used| used.check() == check.id);
    let what = format!("a check of `toolcheck conform`: {}", check.summary);
    Some(match scenarios::all().iter().find(uses) {
        Some(scenario) => {
            format!("{what}\n\nTo see a scenario that needs it: toolcheck explain {}", scenario.id)
        }
        None => what,
    })
}

fn as_json(scenario: &Scenario) -> serde_json::Value {
    let expected = scenario.checks.iter().map(|expected| {
        let (level, check) = level_of(expected);
        let check = checks::find(check);
        json!({
            "check": expected.check(), "level": level, "formats": expected.formats,
            "summary": check.map(|check| check.summary), "help": check.map(|check| check.help),
        })
    });
    json!({
        "id": scenario.id, "title": scenario.title, "set": sets::first_with(scenario).map(|set| set.id),
        "formats": scenario.formats, "needs": scenario.needs(), "sources": scenario.sources,
        "checks": expected.collect::<Vec<_>>(),
    })
}

pub(super) fn page(scenario: &Scenario) -> String {
    let mut page = format!("# {}\n\n{}\n", scenario.id, scenario.title);
    if !scenario.formats.is_empty() {
        let _ = writeln!(page, "\nFormats: {}.", scenario.formats.join(", "));
    }
    let needs = scenario.needs();
    if !needs.is_empty() {
        let _ = writeln!(page, "\nThe driver needs: {}.", needs.join(", "));
    }
    page.push_str("\n## What happens\n\n");
    let _ = writeln!(page, "- The user says \"{}\"", line(&scenario.prompt));
    for turn in scenario.said() {
        let _ = writeln!(page, "- {}", said(turn));
    }
    if scenario.interrupt {
        page.push_str("- The user ends the run as soon as the tool `slow` is called.\n");
    }
    if let Some(most) = scenario.max_turns {
        let _ = writeln!(page, "- The first run may send {most} requests.");
    }
    if let Some(then) = &scenario.then {
        let _ = writeln!(page, "- After the run, the user says \"{}\"", line(then));
    }
    page.push_str("\n## What is checked\n\n");
    let mut told: Vec<&str> = Vec::new();
    for expected in &scenario.checks {
        let (level, id) = level_of(expected);
        let Some(check) = checks::find(id) else { continue };
        let only = match &*expected.formats {
            [] => String::new(),
            formats => format!(" (in {})", formats.join(", ")),
        };
        let _ = writeln!(page, "- {level} `{id}`{only}: {}", check.summary);
        if !told.contains(&id) {
            let _ = writeln!(page, "  To fix a loop: {}.", check.help);
            told.push(id);
        }
    }
    page.push_str("\n## Where it was seen\n\n");
    for source in &scenario.sources {
        let _ = writeln!(page, "- <{source}>");
    }
    let _ = writeln!(page, "\nTo run it: `toolcheck conform --client COMMAND --only {}`", scenario.id);
    page
}

/// How much depends on a check, and its id.
fn level_of(expected: &Expected) -> (&'static str, &str) {
    let level = match expected {
        Expected { must: Some(_), .. } => "must",
        Expected { should: Some(_), .. } => "should",
        _ => "info",
    };
    (level, expected.check())
}

fn said(turn: &Turn) -> String {
    if let Some(status) = turn.status {
        return format!("The API answers {status}.");
    }
    let calls: Vec<String> = turn.calls.iter().map(call).collect();
    let text = (!turn.text.is_empty()).then(|| format!("says \"{}\"", line(&turn.text)));
    let calls = (!calls.is_empty()).then(|| format!("calls {}", calls.join(" and ")));
    let parts: Vec<String> = text.into_iter().chain(calls).collect();
    let what = if parts.is_empty() { "says nothing".to_owned() } else { parts.join(" and ") };
    let end = match (turn.error_after, turn.cut_after.is_some() || turn.cut_in.is_some()) {
        (Some(_), _) => " An error ends the stream before that.",
        (None, true) if turn.clean_end => " The stream ends before it is complete.",
        (None, true) => " The connection closes before the stream is complete.",
        _ => "",
    };
    let stop = if what.ends_with(".\"") { "" } else { "." };
    format!("The model {what}{stop}{end}")
}

/// A call with its arguments, at most so many characters of them.
fn call(call: &ScriptedCall) -> String {
    const MOST: usize = 80;
    let arguments = match (&call.raw, &call.arguments) {
        (Some(raw), _) => raw.clone(),
        (None, Some(arguments)) => json!(arguments).to_string(),
        (None, None) => return format!("`{}`", call.tool),
    };
    format!("`{}` with `{}`", call.tool, toolcheck_core::text::bounded(&arguments, MOST))
}
