//! What changed as JSON, whose format has versions: `schemas/diff.v1.schema.json` of the repository describes it.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use toolcheck_core::diff::files::{Located, Spot};
use toolcheck_core::diff::{Counts, Level};
use toolcheck_core::text::plain_name;

use super::{Compare, Compared, Output, numbers, sum};
use crate::Style;
use crate::outputs::json::OriginV1;
use crate::outputs::write_json;

pub(super) static OUTPUT: Output =
    Output { id: "json", summary: "one JSON document; see schemas/diff.v1.schema.json", write, write_all };

/// What changed between two files, in version 1.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DiffV1<'d> {
    /// The version of the format: 1.
    pub version: u8,
    /// The file before.
    pub before: FileV1<'d>,
    /// The file after.
    pub after: FileV1<'d>,
    /// The worst level of a change; `None` if there is none.
    pub level: Option<&'static str>,
    /// How many changes there are.
    pub counts: CountsV1,
    /// How much there is, and how much of it is kept.
    pub parts: Counts,
    /// The changes, the worst first.
    pub changes: Vec<ChangeV1<'d>>,
}

/// The sums of several comparisons, in version 1.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DiffsV1<'d> {
    /// The version of the format: 1.
    pub version: u8,
    /// The worst level of a change; `None` if there is none.
    pub level: Option<&'static str>,
    /// How many changes there are.
    pub counts: CountsV1,
    /// How much there is, and how much of it is kept.
    pub parts: Counts,
    /// The comparisons.
    pub pairs: Vec<DiffV1<'d>>,
}

/// A file.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FileV1<'d> {
    /// The path, as it was given, with bytes that are not UTF-8 as `\xff`.
    pub path: Cow<'d, str>,
    /// The id of the format.
    pub format: &'static str,
}

/// How many changes there are.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CountsV1 {
    /// Losses.
    pub loss: usize,
    /// Changes without a loss.
    pub change: usize,
    /// Changes of form, without the following.
    pub form: usize,
    /// What the format after has no place for.
    pub inexpressible: usize,
    /// What is left out because it is allowed.
    pub allowed: usize,
}

/// A change.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ChangeV1<'d> {
    /// The id of what happened.
    pub kind: &'static str,
    /// How bad it is: `loss`, `change` or `form`.
    pub level: &'static str,
    /// Whether the format after has no place for what was before.
    pub inexpressible: bool,
    /// What it is about, in words; never a value.
    pub about: &'d str,
    /// How many parts it is about.
    pub count: usize,
    /// The title of the conversation, if a file holds several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<&'d str>,
    /// The place before; `None` if it is new.
    pub before: Option<PlaceV1<'d>>,
    /// The place after; `None` if it is gone.
    pub after: Option<PlaceV1<'d>>,
}

/// A place in a file.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PlaceV1<'d> {
    /// The JSON Pointer in its record, or in the value that `origin` names.
    pub pointer: &'d str,
    /// What it is in, if the file is a recording or an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginV1<'d>>,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
    /// The beginning of the value as it is written, if values are to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

pub(crate) fn diff_v1<'d>(compared: &'d Compared<'_>) -> DiffV1<'d> {
    DiffV1 {
        version: 1,
        before: file(&compared.before),
        after: file(&compared.after),
        level: compared.report.level().map(Level::as_str),
        counts: counts(numbers(compared)),
        parts: compared.report.counts,
        changes: compared.report.changes.iter().map(|change| self::change(compared, change)).collect(),
    }
}

fn file<'d>(file: &Compare<'d>) -> FileV1<'d> {
    FileV1 { path: plain_name(file.name), format: file.format }
}

fn counts([loss, change, form, inexpressible, allowed]: [usize; 5]) -> CountsV1 {
    CountsV1 { loss, change, form, inexpressible, allowed }
}

fn change<'d>(compared: &'d Compared<'_>, change: &'d Located) -> ChangeV1<'d> {
    let place = |file: &Compare<'_>, spot: &'d Spot| PlaceV1 {
        pointer: &spot.pointer,
        origin: spot.origin.as_deref().map(OriginV1::from),
        line: spot.position.line,
        column: spot.position.column,
        value: file.value(spot),
    };
    ChangeV1 {
        kind: change.kind.id(),
        level: change.level.as_str(),
        inexpressible: change.inexpressible,
        about: &change.about,
        count: change.count,
        conversation: change.conversation.as_deref(),
        before: change.before.as_ref().map(|spot| place(&compared.before, spot)),
        after: change.after.as_ref().map(|spot| place(&compared.after, spot)),
    }
}

fn write(compared: &Compared<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_json(&diff_v1(compared), out)
}

fn write_all(all: &[Compared<'_>], _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let (parts, numbers) = sum(all);
    let diffs = DiffsV1 {
        version: 1,
        level: all.iter().filter_map(|compared| compared.report.level()).max().map(Level::as_str),
        counts: counts(numbers),
        parts,
        pairs: all.iter().map(diff_v1).collect(),
    };
    write_json(&diffs, out)
}
