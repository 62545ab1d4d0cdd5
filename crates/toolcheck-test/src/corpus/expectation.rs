//! Reads and rewrites the expectation file of a case.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::suggest::unknown;
use toolcheck_core::targets::{self, Target};
use toolcheck_core::text::{bounded, name_of};
use toolcheck_core::{InputFormat, Level};
use toolcheck_json::{Document, Value};

use crate::expected::{ActualFinding, Difference, Expected, Place, Step, align, has_level};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectationFile {
    /// A sentence about what the case shows.
    description: String,
    source: String,
    /// The target; by default the format's own.
    target: Option<String>,
    /// The format; by default the one that the folder is named after, or else the detected one.
    format: Option<String>,
    kind: Option<String>,
    /// The configuration, as a path relative to the case's folder.
    config: Option<String>,
    /// The findings, in the order of the text.
    findings: Vec<FindingEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingEntry {
    rule: String,
    pointer: String,
    #[serde(default)]
    record: usize,
    level: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Expectation {
    pub(super) format: Option<InputFormat>,
    pub(super) target: Option<&'static Target>,
    pub(super) kind: TranscriptKind,
    pub(super) config: Option<String>,
    pub(super) findings: Vec<Expected>,
    /// Whether the description or the source is still a placeholder.
    pub(super) is_to_be_described: bool,
}

/// The start of a description or source that is still to be written.
const PLACEHOLDER: &str = "TODO";

/// A new expectation, without findings.
pub(super) const EMPTY: &str = "{\n  \"description\": \"TODO: what the case shows, in one sentence\",\n  \"source\": \"TODO: where it comes from\",\n  \"findings\": []\n}\n";

impl Expectation {
    /// Reads an expectation.
    ///
    /// # Errors
    ///
    /// Returns an error if it is invalid.
    pub(super) fn parse(text: &str) -> Result<Self, Broken> {
        let file: ExpectationFile = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            Broken { at: Some((error.line(), error.column())), why: message.to_owned() }
        })?;
        for (key, text) in [("description", &file.description), ("source", &file.source)] {
            if text.trim().is_empty() {
                return Err(format!("`{key}` is empty").into());
            }
        }
        let format = file
            .format
            .as_deref()
            .map(|id| InputFormat::named(id).ok_or_else(|| unknown("format", id, InputFormat::names())));
        let target = file
            .target
            .as_deref()
            .map(|id| targets::named(id).ok_or_else(|| unknown("target", id, targets::names())));
        let findings = file.findings.into_iter().map(|finding| {
            let level = finding.level.map(|level| level.parse::<Level>()).transpose();
            let level = level.map_err(|error| error.to_string())?;
            let place = Place { record: finding.record, pointer: finding.pointer };
            Ok(Expected { rule: finding.rule, place: Some(place), level })
        });
        let is_placeholder = |text: &String| text.starts_with(PLACEHOLDER);
        Ok(Self {
            format: format.transpose()?,
            target: target.transpose()?,
            kind: file.kind.map_or_else(|| Ok(TranscriptKind::default()), |kind| kind.parse())?,
            config: file.config,
            findings: findings.collect::<Result<_, String>>()?,
            is_to_be_described: is_placeholder(&file.description) || is_placeholder(&file.source),
        })
    }
}

/// An error in an expectation.
#[derive(Debug)]
pub(super) struct Broken {
    /// The line and the column, if they are known.
    at: Option<(usize, usize)>,
    why: String,
}

impl From<toolcheck_core::Error> for Broken {
    fn from(error: toolcheck_core::Error) -> Self {
        error.to_string().into()
    }
}

impl From<String> for Broken {
    fn from(why: String) -> Self {
        Self { at: None, why }
    }
}

/// The maximum length of a message about an expectation, including its path.
const LONGEST_MESSAGE: usize = 1000;

impl Broken {
    /// The message, with the path of the file.
    pub(super) fn of(&self, path: &Path) -> String {
        let (path, why) = (name_of(path.as_os_str().as_encoded_bytes()), &self.why);
        let text = match self.at {
            Some((line, column)) => format!("{path}:{line}:{column}: {why}"),
            None => format!("{path}: {why}"),
        };
        // It may quote a key or an id of any length.
        bounded(&text, LONGEST_MESSAGE)
    }
}

/// Rewrites the list of findings in the text of an expectation, so that it has exactly the findings in `found`. Everything
/// outside the list, and each finding that stays in it, keeps its bytes. `None` if the text has no such list.
pub(super) fn rewrite(text: &str, expected: &[Expected], found: &[ActualFinding]) -> Option<String> {
    let document = Document::read(text.as_bytes());
    let list = document.root().get("findings").filter(|list| list.is_array())?;
    let old: Vec<Value<'_, '_>> = list.elements().collect();
    if old.len() != expected.len() {
        return None;
    }
    if Difference::of(expected, found).is_empty() {
        return Some(text.to_owned());
    }
    let layout = Layout::of(text, list, &old, found.len());
    let with_level = expected.iter().any(|expected| expected.level.is_some());
    let mut elements = Vec::new();
    for step in align(expected, found) {
        match step {
            Step::Pair(one, other) if has_level(&expected[one], &found[other]) => {
                elements.push(slice(text, old[one])?.to_owned());
            }
            Step::Pair(one, other) => {
                let element = slice(text, old[one])?;
                let level = old[one].get("level")?.span().range();
                let at = old[one].span().start as usize;
                let (before, after) = (&element[..level.start - at], &element[level.end - at..]);
                elements.push(format!("{before}{}{after}", Json::from(found[other].level.as_str())));
            }
            Step::Missing(_) => {}
            Step::Unexpected(other) => elements.push(layout.element(&found[other], with_level)),
        }
    }
    let span = list.span().range();
    let new = format!("{}{}{}", &text[..span.start], layout.list(&elements), &text[span.end..]);
    // Whatever the text was like, the new one must list exactly the findings.
    let read = Expectation::parse(&new).ok()?;
    Difference::of(&read.findings, found).is_empty().then_some(new)
}

fn slice<'t>(text: &'t str, value: Value<'_, '_>) -> Option<&'t str> {
    text.get(value.span().range())
}

/// The layout of the list of a file.
struct Layout<'t> {
    line_end: &'static str,
    /// The indentation of the file's keys.
    step: &'t str,
    /// The indentation of an element, if each is on its own line.
    indent: Option<String>,
    /// Whether the keys of an element are on separate lines.
    is_tall: bool,
    /// The space after the colon of a key.
    gap: &'static str,
}

impl<'t> Layout<'t> {
    fn of(text: &'t str, list: Value<'_, '_>, old: &[Value<'_, '_>], count: usize) -> Self {
        let span = list.span().range();
        let key = list.member_span().range().start;
        let is_one_line = !text.trim().contains('\n');
        let step = if is_one_line { "" } else { white_space_before(text, key) };
        let indent = match old.first() {
            Some(first) if text[span.start..first.span().start as usize].contains('\n') => {
                Some(white_space_before(text, first.span().start as usize).to_owned())
            }
            // A single finding is on the line of the key; several findings have a line each.
            _ if count > 1 && old.len() < 2 && !is_one_line => Some(step.repeat(2)),
            _ => None,
        };
        let is_tall = old.iter().any(|old| text[old.span().range()].contains('\n'));
        let colon = list.key_span().map_or(0, |key| key.range().end);
        let is_spaced = text.get(colon..span.start).is_some_and(|gap| gap.ends_with([' ', '\t', '\n']));
        Self {
            line_end: if text.contains("\r\n") { "\r\n" } else { "\n" },
            step,
            indent,
            is_tall,
            gap: if is_spaced { " " } else { "" },
        }
    }

    /// The text of a finding in the list.
    fn element(&self, found: &ActualFinding, with_level: bool) -> String {
        let gap = self.gap;
        let mut members = vec![
            format!("\"rule\":{gap}{}", Json::from(found.rule.as_str())),
            format!("\"pointer\":{gap}{}", Json::from(&*found.place.pointer)),
        ];
        if found.place.record > 0 {
            members.push(format!("\"record\":{gap}{}", found.place.record));
        }
        if with_level {
            members.push(format!("\"level\":{gap}{}", Json::from(found.level.as_str())));
        }
        match &self.indent {
            Some(indent) if self.is_tall => self.lines('{', &members, '}', indent),
            _ => format!("{{{}}}", members.join(&format!(",{gap}"))),
        }
    }

    fn list(&self, elements: &[String]) -> String {
        match &self.indent {
            Some(_) if !elements.is_empty() => self.lines('[', elements, ']', self.step),
            _ => format!("[{}]", elements.join(&format!(",{}", self.gap))),
        }
    }

    /// The items on separate lines, indented by one more step than the brackets.
    fn lines(&self, open: char, items: &[String], close: char, outer: &str) -> String {
        let end = self.line_end;
        let inner = match &self.indent {
            Some(indent) if open == '[' => indent.clone(),
            _ => format!("{outer}{}", self.step),
        };
        format!("{open}{end}{inner}{}{end}{outer}{close}", items.join(&format!(",{end}{inner}")))
    }
}

/// The whitespace at the beginning of the line of a byte.
fn white_space_before(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |line_end| line_end + 1);
    let rest = text[line..at].trim_start_matches([' ', '\t']);
    &text[line..at - rest.len()]
}

#[cfg(test)]
mod tests;
