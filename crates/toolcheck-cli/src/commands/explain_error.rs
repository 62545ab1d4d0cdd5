//! `explain --error`: what an API's error means, and what in a file causes it.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use toolcheck_core::recognise::{Recognised, recognise};
use toolcheck_core::text::shown;
use toolcheck_lint::{Finding, Options, Report, lint, lint_opened, rules};
use toolcheck_project::{Input, Limits};
use toolcheck_report::Style;
use toolcheck_report::outputs;

use crate::args::{Color, ListFormat};
use crate::{Status, screen};

/// The maximum number of targets to name that return the same text.
const MAX_TARGETS: usize = 6;

pub(crate) fn run(
    error: &str,
    file: Option<&str>,
    format: ListFormat,
    out: &mut dyn Write,
) -> Result<Status> {
    let from_input;
    let error = if error == "-" {
        if file == Some("-") {
            bail!("standard input can't be both the error and the request");
        }
        let bytes = toolcheck_files::read_limited(std::io::stdin().lock());
        let bytes = bytes.context("cannot read the error from standard input")?;
        from_input = String::from_utf8_lossy(&bytes).into_owned();
        &from_input
    } else {
        error
    };
    let matches = recognise(error);
    let places = file.map(|file| places(file, &matches)).transpose()?;
    match format {
        ListFormat::Json => write_json(&matches, places.as_ref(), out)?,
        ListFormat::Text => write_text(&matches, places.as_ref(), out)?,
    }
    let is_explained =
        !matches.is_empty() && places.as_ref().is_none_or(|places| matches!(places, Places::Cause(_)));
    Ok(if is_explained { Status::Clean } else { Status::Findings })
}

/// The findings of a file, in relation to an error.
enum Places {
    /// The findings that cause the error.
    Cause(Report),
    /// All findings of the file, because none causes the error.
    Others(Report),
}

/// Finds the places in a file that cause the error: the findings of the matching rules for the matching target, limited
/// to the id that the error names, if any. If there are none, returns all findings for the target that returned the
/// error or, if it is unknown, for the provider of the file's format.
fn places(file: &str, matches: &[Recognised]) -> Result<Places> {
    let input = Input::file(Path::new(file));
    let bytes = input.read()?;
    let opened = toolcheck_project::open(&bytes, None, Limits::default());
    let lint = |options: &Options| match &opened {
        Some(opened) => lint_opened(&input.name, &bytes, opened, options),
        None => lint(&input.name, &bytes, options),
    };
    let mut seen: Vec<&str> = Vec::new();
    for found in matches {
        // The findings for a target do not depend on which of its texts was recognised.
        if seen.contains(&&*found.target.id) {
            continue;
        }
        seen.push(&found.target.id);
        let wanted: Vec<_> = matches
            .iter()
            .filter(|other| other.target.id == found.target.id)
            .filter_map(|other| rules::find(&other.refusal.rule))
            .collect();
        let mut linted = lint(&Options::new().target(Some(found.target)).rules(wanted));
        let names_it = |finding: &Finding| finding.tool_call_id.as_ref().is_some_and(|id| names(found, id));
        if linted.findings.iter().any(names_it) {
            linted.findings.retain(names_it);
        }
        if !linted.findings.is_empty() {
            return Ok(Places::Cause(Report::new(vec![linted])));
        }
    }
    let target = matches.first().map(|found| found.target);
    let linted = lint(&Options::new().target(target));
    Ok(Places::Others(Report::new(vec![linted])))
}

/// Whether an error names the call with this id. If the error is cut short, it may contain only the beginning of the
/// id.
fn names(found: &Recognised, id: &str) -> bool {
    let value = |name: &str| found.captures.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let Some(named) = value("ids").or_else(|| value("id")) else { return false };
    let last = named.rsplit(", ").next().unwrap_or(named);
    let is_cut = found.is_partial && last.len() >= MIN_CUT_ID && id.starts_with(last);
    named.contains(id) || is_cut
}

/// The minimum length at which the beginning of an id identifies it.
const MIN_CUT_ID: usize = 8;

fn write_json(matches: &[Recognised], places: Option<&Places>, out: &mut dyn Write) -> Result<()> {
    let matches = matches.iter().map(|found| {
        let captures: serde_json::Map<String, Value> =
            found.captures.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "rule": found.refusal.rule,
            "target": found.target.id,
            "status": found.refusal.status,
            "captures": captures,
            "probable": found.is_partial,
        })
    });
    let mut document = json!({"version": 1, "matches": matches.collect::<Vec<_>>()});
    if let Some(places) = places {
        let output = outputs::find("json").context("the report has a JSON form")?;
        let findings = |report: &Report| -> Result<Value> {
            let mut written = Vec::new();
            (output.write)(report, &Style::default(), &mut written)?;
            let written: Value = serde_json::from_slice(&written)?;
            Ok(written["findings"].clone())
        };
        match places {
            Places::Cause(report) => document["findings"] = findings(report)?,
            Places::Others(report) => {
                document["findings"] = json!([]);
                document["other_findings"] = findings(report)?;
            }
        }
    }
    Ok(outputs::write_json(&document, out)?)
}

fn write_text(matches: &[Recognised], places: Option<&Places>, out: &mut dyn Write) -> Result<()> {
    let Some(best) = matches.first() else {
        writeln!(out, "No known provider error matches this text.")?;
        if let Some(Places::Others(report)) = places {
            return write_others(report, "The problems in this file:", out);
        }
        writeln!(out, "If it is about tool calls or the order of messages, please report it.")?;
        writeln!(out, "\nTo see the problems of the request that failed, add its file: --error TEXT FILE")?;
        return Ok(());
    };
    let rule = rules::find(&best.refusal.rule).context("every refusal names a rule")?;
    let mut targets: Vec<&str> = Vec::new();
    for found in matches.iter().filter(|found| found.refusal.rule == best.refusal.rule) {
        targets.push(&found.target.id);
    }
    let left_out = targets.len().saturating_sub(MAX_TARGETS);
    targets.truncate(MAX_TARGETS);
    let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
    let status = best.refusal.status.map(|status| format!(", status {status}")).unwrap_or_default();
    let probably = if best.is_partial { "probably " } else { "" };
    writeln!(out, "{probably}{} ({}{more}{status})", rule.id, targets.join(", "))?;
    writeln!(out)?;
    write_wrapped(rule.summary(), out)?;
    if best.is_partial {
        write_wrapped("Only the beginning of the provider's error text matches.", out)?;
    }
    if let Some(doubt) = &best.refusal.doubt {
        write_wrapped(&format!("In doubt: {doubt}"), out)?;
    }
    if !best.captures.is_empty() {
        writeln!(out)?;
    }
    for (name, value) in &best.captures {
        writeln!(out, "  {name}: {}", shown(value))?;
    }
    let mut others: Vec<&str> = Vec::new();
    for found in matches {
        let other = &*found.refusal.rule;
        if other != rule.id && !others.contains(&other) {
            others.push(other);
        }
    }
    if !others.is_empty() {
        writeln!(out)?;
        write_wrapped(&format!("The same text can also mean: {}", others.join(", ")), out)?;
    }
    match places {
        None => writeln!(out, "\nTo find the cause, add the request that failed: --error TEXT FILE")?,
        Some(Places::Others(report)) if rule.only_explains() => {
            writeln!(out, "\nThis error has no visible cause in a request.")?;
            write_others(report, "The problems in this file:", out)?;
        }
        Some(Places::Others(report)) => {
            writeln!(
                out,
                "\ntoolcheck finds nothing in this file that causes this error. Is it the request that failed?"
            )?;
            write_others(report, "Other problems in this file:", out)?;
        }
        Some(Places::Cause(report)) => {
            writeln!(out)?;
            // Each finding names its rule's page.
            return write_full(report, out);
        }
    }
    writeln!(out, "\nmore: toolcheck explain {}", rule.id)?;
    Ok(())
}

/// Writes a text wrapped to the width of the screen, or on one line in a pipe.
fn write_wrapped(text: &str, out: &mut dyn Write) -> Result<()> {
    let width = if screen::is_wrapped() { screen::style(Color::Auto).width } else { usize::MAX };
    let options = textwrap::Options::new(width).word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Writes the findings that do not cause the error, or that there are none.
fn write_others(report: &Report, title: &str, out: &mut dyn Write) -> Result<()> {
    if report.files.iter().all(|file| file.findings.is_empty()) {
        let target = report.files.iter().find_map(|file| file.target.as_deref()).unwrap_or("any target");
        writeln!(out, "No problems found in this file for {target}.")?;
        return Ok(());
    }
    writeln!(out, "{title}\n")?;
    write_full(report, out)
}

fn write_full(report: &Report, out: &mut dyn Write) -> Result<()> {
    let output = outputs::find("full").context("the report has a form for people")?;
    let style = screen::style(Color::Auto).has_excerpts(!screen::is_ci());
    Ok((output.write)(report, &style, out)?)
}
