//! Findings about the text of a file outside of any JSON value.

use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::{Level, unsupported};
use toolcheck_json::{Document, NodeId, Position, Record, Records, Span};

use crate::finding::{Draft, Finding};
use crate::options::Options;
use crate::report::locate_all;
use crate::rules::{blank_line, unrecognised_format};

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
    finding.level = options.settings.levels.get(rule).copied().unwrap_or(Level::Error);
    finding.caption("nothing in here was checked").help(kind.advice);
    let position = Position { line: 1, column: 1 };
    locate(&Record { index: 0, bytes, start: 0, position }, finding)
}

/// The finding for the first blank line among the records of a data set, and where that line starts.
pub(super) fn blank_line(records: &Records<'_>, options: &Options) -> Option<(usize, Vec<Finding>)> {
    let rule = &blank_line::RULE;
    let is_wanted =
        options.kind == TranscriptKind::Dataset && options.rules.iter().any(|asked| asked.id == rule.id);
    let line = records.first_blank_line().filter(|_| is_wanted)?;
    let mut finding = blank_line::finding(place(line.bytes.len()));
    let own = options.settings.levels.get(rule.id).copied();
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
