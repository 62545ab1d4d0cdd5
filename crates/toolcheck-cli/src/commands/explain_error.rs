//! `explain --error`: what an API's error speaks of, and where in a file.

use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use toolcheck_core::recognise::{Recognised, recognise};
use toolcheck_lint::{FileReport, Options, Report, lint, render, rules, shown};

use super::show;
use crate::args::{Color, ListFormat};
use crate::{Status, screen};

/// How many targets that print the same words are named.
const TARGETS_NAMED: usize = 6;

pub(crate) fn run(
    error: &str,
    file: Option<&str>,
    format: ListFormat,
    out: &mut dyn Write,
) -> Result<Status> {
    let from_input;
    let error = if error == "-" {
        if file == Some("-") {
            bail!("the standard input can't be both the error and the request");
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        from_input = String::from_utf8_lossy(&bytes).into_owned();
        &from_input
    } else {
        error
    };
    let matches = recognise(error);
    let report = file.map(|file| places(file, &matches)).transpose()?;
    match format {
        ListFormat::Json => write_json(&matches, report.as_ref(), out)?,
        ListFormat::Text => write_text(&matches, report.as_ref(), out)?,
    }
    Ok(if matches.is_empty() { Status::Findings } else { Status::Clean })
}

/// The places in a file that the error speaks of: what its rules find for its target, and of that the very id that the
/// error names where one is named.
fn places(file: &str, matches: &[Recognised]) -> Result<Report> {
    let input = show::input(Path::new(file));
    let bytes = show::whole(&input)?;
    let mut report = Report::default();
    let mut seen: Vec<&str> = Vec::new();
    for found in matches {
        // What a target's rules find does not depend on which of its texts was recognised.
        if seen.contains(&found.target.id.as_str()) {
            continue;
        }
        seen.push(&found.target.id);
        let wanted: Vec<_> = matches
            .iter()
            .filter(|other| other.target.id == found.target.id)
            .filter_map(|other| rules::find(&other.refusal.rule))
            .collect();
        let mut linted = lint(
            &input.name,
            &bytes,
            &Options { target: Some(found.target), rules: wanted, ..Options::default() },
        );
        let names_it = |id: &Option<String>| {
            let value =
                |name: &str| found.captures.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            id.as_ref().is_some_and(|id| {
                value("ids").or_else(|| value("id")).is_some_and(|said| said.contains(id.as_str()))
            })
        };
        if linted.findings.iter().any(|finding| names_it(&finding.tool_call_id)) {
            linted.findings.retain(|finding| names_it(&finding.tool_call_id));
        }
        if !linted.findings.is_empty() {
            linted.source = bytes.into();
            report.files.push(linted);
            return Ok(report);
        }
        // Nothing for this target: the file may still be shown as read.
        if report.files.is_empty() {
            report.files.push(FileReport { findings: Vec::new(), ..linted });
        }
    }
    Ok(report)
}

fn write_json(matches: &[Recognised], report: Option<&Report>, out: &mut dyn Write) -> Result<()> {
    let matches = matches.iter().map(|found| {
        let captures: serde_json::Map<String, Value> =
            found.captures.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "rule": found.refusal.rule,
            "target": found.target.id,
            "status": found.refusal.status,
            "captures": captures,
        })
    });
    let mut document = json!({"version": 1, "matches": matches.collect::<Vec<_>>()});
    if let Some(report) = report {
        let output = render::find("json").context("the report has a JSON form")?;
        let mut written = Vec::new();
        (output.render)(report, &render::Style::default(), &mut written)?;
        let written: Value = serde_json::from_slice(&written)?;
        document["findings"] = written["findings"].clone();
    }
    Ok(render::write_json(&serde_json::to_string_pretty(&document)?, out)?)
}

fn write_text(matches: &[Recognised], report: Option<&Report>, out: &mut dyn Write) -> Result<()> {
    let Some(best) = matches.first() else {
        writeln!(out, "No target that is known here answers this.")?;
        writeln!(
            out,
            "If it is about tool calls or the order of messages, please report it with the request."
        )?;
        return Ok(());
    };
    let rule = rules::find(&best.refusal.rule).context("every refusal names a rule")?;
    let mut targets: Vec<&str> = Vec::new();
    for found in matches.iter().filter(|found| found.refusal.rule == best.refusal.rule) {
        targets.push(&found.target.id);
    }
    targets.truncate(TARGETS_NAMED);
    let status = best.refusal.status.map(|status| format!(", status {status}")).unwrap_or_default();
    writeln!(out, "{} ({}{status})", rule.id, targets.join(", "))?;
    writeln!(out, "\n{}", rule.summary.trim())?;
    if let Some(doubt) = &best.refusal.doubt {
        writeln!(out, "In doubt: {doubt}")?;
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
        writeln!(out, "\nThe same words may also mean: {}", others.join(", "))?;
    }
    match report {
        None => writeln!(out, "\nName the request's file behind the error to see the place.")?,
        Some(report) if report.files.iter().all(|file| file.findings.is_empty()) => {
            writeln!(out, "\nNothing in the file explains it: is it the request that was answered?")?;
        }
        Some(report) => {
            writeln!(out)?;
            let output = render::find("full").context("the report has a form for people")?;
            // Each finding names the page behind it.
            return Ok((output.render)(report, &screen::style(Color::Auto), out)?);
        }
    }
    writeln!(out, "\nmore: toolcheck explain {}", rule.id)?;
    Ok(())
}
