//! Findings about the text of a file outside of any JSON value.

use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::{Level, unsupported};
use toolcheck_json::origins::{NotBuilt, Notation, Opened, Unread};
use toolcheck_json::{Document, NodeId, Position, Record, Records, Span};

use crate::finding::{Draft, Finding};
use crate::options::Options;
use crate::report::{FileReport, locate_all};
use crate::rule::Rule;
use crate::rules::{blank_line, malformed_json, unrecognised_format};

/// The maximum number of bytes to mark in the first line of a file that is not read.
const LONGEST_MARK: usize = 40;

/// Whether files that are not transcripts are reported.
pub(super) fn reports_unrecognised(options: &Options) -> bool {
    options.rules.iter().any(|rule| rule.id == unrecognised_format::RULE.id)
}

/// The finding for a file that is known not to be JSON.
pub(super) fn not_json(bytes: &[u8], kind: &unsupported::Text, options: &Options) -> Vec<Finding> {
    let rule = unrecognised_format::RULE.id;
    // The first line is its place.
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len()).min(LONGEST_MARK);
    let mut finding = Draft::new(rule, place(line), unrecognised_format::message(kind.name));
    finding.level = options.settings.levels.get(&rule).copied().unwrap_or(Level::Error);
    finding.caption("nothing in here was checked").help(kind.advice);
    let position = Position { line: 1, column: 1 };
    locate(&Record { index: 0, bytes, start: 0, position }, finding)
}

/// The report of the first blank line among the records of a data set, and its number among their lines; `None` if there is
/// none, or it does not matter.
pub fn blank_line_of(path: &str, records: &Records<'_>, options: &Options) -> Option<(u64, FileReport)> {
    let (_, findings) = blank_line(records, options)?;
    let mut report = FileReport::empty(path, options.kind);
    report.findings = findings;
    Some((records.first_blank_line()?.position.line, report))
}

/// Reports the first blank line among the records of a data set, at its place. It belongs to none of them.
pub(super) fn report_blank_line(records: &Records<'_>, options: &Options, report: &mut FileReport) {
    let Some((start, found)) = blank_line(records, options) else { return };
    let at = report.findings.partition_point(|finding| finding.spot.record_bytes.start < start);
    report.findings.splice(at..at, found);
}

/// The finding for the first blank line among the records of a data set, and where that line starts.
fn blank_line(records: &Records<'_>, options: &Options) -> Option<(usize, Vec<Finding>)> {
    let rule = &blank_line::RULE;
    let is_wanted =
        options.kind == TranscriptKind::Dataset && options.rules.iter().any(|asked| asked.id == rule.id);
    let line = records.first_blank_line().filter(|_| is_wanted)?;
    let mut finding = blank_line::finding(place(line.bytes.len()));
    let own = options.settings.levels.get(&rule.id).copied();
    finding.level = own.or(rule.default_level).unwrap_or(Level::Warning);
    Some((line.start, locate(&line, finding)))
}

/// A place at the start of a text, outside of any value.
fn place(length: usize) -> Place {
    Place { node: NodeId::ROOT, span: Span::new(0, length as u32) }
}

fn locate(record: &Record<'_>, finding: Draft) -> Vec<Finding> {
    // A place is in a value: this document provides one.
    locate_all(&Document::read(b"null"), record, vec![finding])
}

/// The finding for a file that was opened, but holds no request to an LLM.
pub(super) fn without_requests(bytes: &[u8], opened: &Opened, options: &Options) -> Vec<Finding> {
    let left_out: Vec<String> = opened.left_out.iter().map(ToString::to_string).collect();
    let what = match &*left_out {
        [] => format!("no readable request to an LLM in this {}: it is empty", opened.name),
        _ => format!("no readable request to an LLM in this {}: {}", opened.name, left_out.join(", ")),
    };
    of_opened(bytes, 0, what, REST, None, options)
}

/// The finding for a file of which something needs a program that was built with more features.
pub(super) fn not_built(bytes: &[u8], lacking: NotBuilt, opened: &Opened, options: &Options) -> Vec<Finding> {
    let what = format!("this build of toolcheck can't read {}", lacking.what);
    of_opened(bytes, 0, what, unchecked(opened), Some(lacking.advice), options)
}

/// How much of a file is not checked.
fn unchecked(opened: &Opened) -> &'static str {
    if opened.exchanges == 0 { unrecognised_format::NOT_CHECKED } else { "not all in here was checked" }
}

/// The finding for a file that was opened, up to a place that makes no sense.
pub(super) fn broken(bytes: &[u8], at: usize, opened: &Opened, options: &Options) -> Vec<Finding> {
    let what = format!("the rest of this {} can't be read", opened.name);
    of_opened(bytes, at, what, REST, None, options)
}

/// The finding for something in a file that should be read and is not.
pub(super) fn unread(bytes: &[u8], unread: &Unread, opened: &Opened, options: &Options) -> Vec<Finding> {
    let at = unread.at.min(bytes.len());
    let what = unread.what.clone();
    let mut findings = of_opened(bytes, at, what, unchecked(opened), unread.advice.as_deref(), options);
    // What the API took may be written well in a format that is not read.
    let status = unread.origin.as_ref().and_then(|origin| origin.status);
    let is_accepted = status.is_some_and(|status| (200..300).contains(&status));
    for finding in &mut findings {
        finding.spot.origin.clone_from(&unread.origin);
        if is_accepted {
            finding.level = finding.level.min(Level::Warning);
        }
    }
    findings
}

const REST: &str = "nothing from here on was checked";

/// The finding for values that are not JSON, but were read, or left out.
pub(super) fn notation(bytes: &[u8], notation: &Notation, options: &Options) -> Vec<Finding> {
    let rule = &malformed_json::RULE;
    if !options.rules.iter().any(|asked| asked.id == rule.id) {
        return Vec::new();
    }
    let (mut finding, line) = at_line(rule, bytes, notation.at, notation.what.clone());
    finding.level = options.settings.levels.get(&rule.id).copied().unwrap_or(Level::Warning);
    finding.caption(notation.caption).help(notation.advice.to_owned());
    locate(&line, finding)
}

fn of_opened(
    bytes: &[u8],
    at: usize,
    what: String,
    unread: &'static str,
    advice: Option<&str>,
    options: &Options,
) -> Vec<Finding> {
    let rule = &unrecognised_format::RULE;
    let (mut finding, line) = at_line(rule, bytes, at, what);
    finding.level = options.settings.levels.get(&rule.id).copied().unwrap_or(Level::Error);
    finding.caption(unread);
    if let Some(advice) = advice {
        finding.help(advice.to_owned());
    }
    locate(&line, finding)
}

/// A finding at the beginning of the line of a byte, and that line.
fn at_line<'b>(rule: &Rule, bytes: &'b [u8], at: usize, what: String) -> (Draft, Record<'b>) {
    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
    let line = bytes[start..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - start);
    let finding = Draft::new(rule.id, place(line.min(LONGEST_MARK)), what);
    let position = toolcheck_json::locate(bytes, &[start])[0];
    (finding, Record { index: 0, bytes: &bytes[start..start + line], start, position })
}
