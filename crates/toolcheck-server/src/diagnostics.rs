//! Findings as an editor shows them.

use std::ops::Range as Bytes;

use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Position as Place, Range, Uri,
};
use serde_json::json;
use toolcheck_core::Level;
use toolcheck_core::text::Counted;
use toolcheck_json::Position;
use toolcheck_lint::Finding;
use toolcheck_project::SettingsFault;

use crate::text::Text;

/// The most diagnostics of a file: an editor becomes slow with more.
pub(crate) const MOST: usize = 1000;

/// The most places that a diagnostic refers to.
const MOST_LABELS: usize = 20;

pub(crate) const SOURCE: &str = "toolcheck";

/// The diagnostics of findings, each with the byte at which the text that it counts from starts. `left_out` findings are
/// there beside them.
pub(crate) fn all(found: &[(usize, &Finding)], left_out: usize, text: &Text, uri: &Uri) -> Vec<Diagnostic> {
    let is_error = |(_, finding): &&(usize, &Finding)| finding.level == Level::Error;
    // Errors first, if not all are shown.
    let errors = found.iter().filter(is_error);
    let others = found.iter().filter(|found| !is_error(found));
    let mut shown: Vec<&(usize, &Finding)> = errors.chain(others).take(MOST).collect();
    shown.sort_by_key(|(start, finding)| start + finding.spot.bytes.start);
    let left_out = left_out + found.len() - shown.len();
    let mut diagnostics: Vec<Diagnostic> =
        shown.into_iter().map(|(start, finding)| one(finding, *start, text, uri)).collect();
    if left_out > 0 {
        let more = Counted(left_out, "more finding");
        diagnostics.push(Diagnostic {
            range: Range::new(Place::new(0, 0), Place::new(0, 0)),
            severity: Some(DiagnosticSeverity::INFORMATION),
            source: Some(SOURCE.to_owned()),
            message: format!("{more} in this file: `toolcheck lint` shows all"),
            ..Diagnostic::default()
        });
    }
    diagnostics
}

/// What is wrong in a file of settings: the key or the text at its place, or what is left of the line.
pub(crate) fn of_settings(faults: &[&SettingsFault], text: &Text) -> Vec<Diagnostic> {
    let one = |fault: &&SettingsFault| {
        let from_0 = |number: u64| usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let marked = |at: Position| {
            let rest = text.rest_of_line(from_0(at.line), from_0(at.column));
            let line = String::from_utf8_lossy(&text.slice(rest.clone())).into_owned();
            let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
            let length = match quote {
                Some(quote) => line[1..].find(quote).map(|end| end + 2),
                None => line.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.".contains(letter)),
            };
            rest.start..length.filter(|length| *length > 0).map_or(rest.end, |length| rest.start + length)
        };
        let bytes = fault.position.map_or(0..0, marked);
        Diagnostic {
            range: text.between(bytes),
            severity: Some(DiagnosticSeverity::ERROR),
            source: Some(SOURCE.to_owned()),
            message: fault.message.clone(),
            ..Diagnostic::default()
        }
    };
    faults.iter().map(one).collect()
}

/// Where a finding is shown. What is about a request as a whole is shown at its first bracket, and what takes several lines
/// at the id or the name of the call, or in the first line: all of it would be marked, and each hover in it begin with the
/// finding.
pub(crate) fn place(finding: &Finding, start: usize, text: &Text) -> Bytes<usize> {
    let Bytes { start: from, end } = finding.spot.bytes;
    let (from, end) = (start + from, start + end);
    let is_whole =
        finding.spot.pointer.is_empty() && from + 1 < end && matches!(text.character(from), Some('{' | '['));
    if is_whole {
        return from..from + 1;
    }
    let first = text.end_of_line(from);
    if first >= end || first <= from {
        return from..end;
    }
    let value = text.slice(from..end.min(text.floor(from + MOST_SEARCHED)));
    let mut names = [&finding.tool_call_id, &finding.tool_name].into_iter().flatten();
    let named = names.find_map(|name| {
        let name = format!("\"{name}\"");
        let at = from + value.windows(name.len()).position(|part| part == name.as_bytes())?;
        Some(at..at + name.len())
    });
    named.unwrap_or(from..first)
}

/// How far the id of a call is searched in it.
const MOST_SEARCHED: usize = 4096;

fn one(finding: &Finding, start: usize, text: &Text, uri: &Uri) -> Diagnostic {
    let between = |bytes: &Bytes<usize>| text.between(start + bytes.start..start + bytes.end);
    let labels = finding.labels.iter().filter(|label| !label.message.is_empty()).take(MOST_LABELS);
    let related: Vec<DiagnosticRelatedInformation> = labels
        .map(|label| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), between(&label.spot.bytes)),
            message: label.message.to_string(),
        })
        .collect();
    let page = finding.url().parse().ok();
    Diagnostic {
        range: text.between(place(finding, start, text)),
        severity: Some(match finding.level {
            Level::Error => DiagnosticSeverity::ERROR,
            Level::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(finding.rule.to_string())),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: message(finding),
        related_information: (!related.is_empty()).then_some(related),
        tags: None,
        data: finding.fixable.map(|fix| json!({"fix": fix.as_str()})),
    }
}

/// What is wrong, what the target says, and what to do.
fn message(finding: &Finding) -> String {
    let mut message = finding.message.to_string();
    if let Some(answer) = finding.provider_sentence() {
        message.push('\n');
        message.push_str(&answer);
    }
    if let Some(help) = &finding.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    message
}
