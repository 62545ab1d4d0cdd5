//! The JSON report, whose format has versions.
//!
//! [`ReportV1`] serialises to what `schemas/report.v1.schema.json` of the repository describes, and to the very document
//! that `toolcheck lint --output-format json` prints. Within version 1 every key keeps its name, type and meaning; keys
//! may be added, so readers should ignore those that they do not know. Anything else would be a version 2, beside this
//! one. A key without a value is omitted.
//!
//! ```
//! use toolcheck_lint::{Options, Report, lint};
//! use toolcheck_report::outputs::json::report_v1;
//!
//! let report = Report::new(vec![lint("request.json", b"{\"messages\": []}", &Options::default())]);
//! let json = serde_json::to_value(report_v1(&report))?;
//! assert_eq!((json["version"].as_u64(), json["summary"]["files"].as_u64()), (Some(1), Some(1)));
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use toolcheck_core::text::plain_name;
use toolcheck_core::{Level, RuleId};

use super::{Output, write_json};
use crate::Style;
use toolcheck_json::origins::Origin;
use toolcheck_lint::Finding;
use toolcheck_lint::finding::Spot;
use toolcheck_lint::fix::Fixable;
use toolcheck_lint::report::{ConversationReport, FileReport, Reading, Refusal, Report};

pub(super) static OUTPUT: Output =
    Output::new("json", "one JSON document; see schemas/report.v1.schema.json", write).showing_fixes();

/// A report in version 1.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReportV1<'r> {
    /// The version of the format: 1.
    pub version: u8,
    /// The program that made the report.
    pub tool: ToolV1,
    /// The files that were read, in the order of the report, also those without findings.
    pub files: Vec<FileV1<'r>>,
    /// The findings, file by file, in the order of the text.
    pub findings: Vec<FindingV1<'r>>,
    /// The files of folders that are not transcripts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedV1<'r>>,
    /// The totals.
    pub summary: SummaryV1,
}

/// The program that made a report.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ToolV1 {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// A file of a folder that is not a transcript.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SkippedV1<'r> {
    /// The path.
    pub path: Cow<'r, str>,
    /// The reason, on one line.
    pub reason: &'r str,
}

/// How some transcripts of a file were read.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReadingV1<'r> {
    /// The id of the format.
    pub format: &'static str,
    /// The id of the target that they were checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<&'r str>,
    /// The number of transcripts.
    pub transcripts: usize,
}

/// A file that was read.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FileV1<'r> {
    /// The path, as it was given, with bytes that are not UTF-8 as `\xff`.
    pub path: Cow<'r, str>,
    /// The id of the format; `None` if it was not recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'static str>,
    /// The id of another format that is nearly as likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_likely: Option<&'static str>,
    /// The id of the target that it was checked against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<&'r str>,
    /// The kind of its transcripts: `request`, `session` or `dataset`.
    pub kind: &'static str,
    /// How its transcripts were read; records may have different formats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<ReadingV1<'r>>,
    /// The number of transcripts.
    pub transcripts: usize,
    /// The number of messages.
    pub messages: usize,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The number of tool results.
    pub tool_results: usize,
    /// The first conversations, if it is a log, a history or a data set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<ConversationV1<'r>>,
    /// The requests that a recording shows to be refused, although nothing in them is found to be an error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<RefusalV1<'r>>,
    /// What is not read of a recording, with its number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_read: Vec<NotReadV1>,
}

/// A conversation of a file that holds several.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConversationV1<'r> {
    /// Which one it is.
    pub title: &'r str,
    /// What it is for: `request`, `session` or `dataset`.
    pub kind: &'static str,
    /// The number of messages.
    pub messages: usize,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The number of tool results.
    pub tool_results: usize,
    /// How it ends: `open`, `complete`, `aborted`, `compacted`, `abandoned`, or `replaced` if the file says what took its place.
    pub ended: &'static str,
    /// Whether it is what the agent sends next, put together by the agent's own rules; missing if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sent_next: bool,
}

/// A request that an API refused, although nothing in it is found to be an error.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RefusalV1<'r> {
    /// The HTTP status.
    pub status: u16,
    /// What the API answered, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'r str>,
    /// The line of the request, from 1.
    pub line: u64,
    /// Its column in characters, from 1.
    pub column: u64,
    /// Where the request is, if the file holds it inside something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginV1<'r>>,
}

/// Something in a recording that is not read.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct NotReadV1 {
    /// What it is, in the plural.
    pub what: &'static str,
    /// How many there are.
    pub count: usize,
}

/// Where a value is that a file holds inside something else.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct OriginV1<'r> {
    /// The name of the body in the file, such as `interactions[3].request.body`. The pointer is the one in that body.
    pub label: &'r str,
    /// The member of an archive that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<&'r str>,
    /// The HTTP status of the response, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

impl<'r> From<&'r Origin> for OriginV1<'r> {
    fn from(origin: &'r Origin) -> Self {
        Self { label: &origin.label, member: origin.member.as_deref(), status: origin.status }
    }
}

/// A finding. Each line of the output `jsonl` is one.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FindingV1<'r> {
    /// The id of the rule.
    pub rule: RuleId,
    /// The level: `error` or `warning`.
    pub level: &'static str,
    /// The message, on one line.
    pub message: &'r str,
    /// The path of the file.
    pub path: Cow<'r, str>,
    /// The line of the start, from 1.
    pub line: u64,
    /// The column of the start in characters, from 1.
    pub column: u64,
    /// The line of the end.
    pub end_line: u64,
    /// The column of the end, exclusive.
    pub end_column: u64,
    /// The byte of the start in the file, from 0; in an archive, in its members one after the other.
    pub byte_start: usize,
    /// The byte of the end, exclusive.
    pub byte_end: usize,
    /// The record of JSON Lines, from 0; 0 in other files.
    pub record: usize,
    /// The JSON Pointer in the record.
    pub pointer: &'r str,
    /// Where the record is, if the file holds it inside something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginV1<'r>>,
    /// The id of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<&'r str>,
    /// The name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<&'r str>,
    /// How `toolcheck fix` may fix it: `safe` or `unsafe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixable: Option<&'static str>,
    /// Other places that explain the finding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelV1<'r>>,
    /// The number of other places with the same mistake, of which `labels` has the first.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeats: usize,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'r str>,
    /// The text that the provider answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_error: Option<&'r str>,
    /// The HTTP status that the provider answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How the provider's answer is known: `recorded`, `specified`, `reported` or `inferred`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Why the provider's answer is not certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<&'r str>,
    /// The page of the rule.
    pub url: String,
}

/// Another place that explains a finding.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LabelV1<'r> {
    /// What is there.
    pub message: &'r str,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// The record, if it is another one than that of the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
    /// The JSON Pointer in the record.
    pub pointer: &'r str,
    /// Where the record is, if the file holds it inside something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginV1<'r>>,
}

/// The totals of a report.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SummaryV1 {
    /// The number of files that were read.
    pub files: usize,
    /// The number of transcripts.
    pub transcripts: usize,
    /// The number of errors, with those that are left out.
    pub errors: usize,
    /// The number of warnings, with those that are left out.
    pub warnings: usize,
    /// The number of findings that the configuration allows.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed: usize,
    /// The number of findings that the baseline has.
    #[serde(skip_serializing_if = "is_zero")]
    pub in_baseline: usize,
    /// The number of findings that are left out of `findings`, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The report in version 1, ready to be serialised.
pub fn report_v1(report: &Report) -> ReportV1<'_> {
    let findings =
        report.files.iter().flat_map(|file| file.findings.iter().map(move |found| finding_v1(file, found)));
    ReportV1 {
        version: 1,
        tool: ToolV1 { name: "toolcheck", version: env!("CARGO_PKG_VERSION") },
        files: report.files.iter().map(self::file).collect(),
        findings: findings.collect(),
        skipped: report
            .skipped
            .iter()
            .map(|file| SkippedV1 { path: plain_name(&file.path), reason: &file.reason })
            .collect(),
        summary: SummaryV1 {
            files: report.files.len(),
            transcripts: report.transcripts(),
            errors: report.count(Level::Error),
            warnings: report.count(Level::Warning),
            allowed: report.files.iter().map(|file| file.allowed).sum(),
            in_baseline: report.files.iter().map(|file| file.in_baseline).sum(),
            left_out: report.files.iter().map(FileReport::left_out).sum(),
        },
    }
}

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_json(&report_v1(report), out)
}

fn file(file: &FileReport) -> FileV1<'_> {
    FileV1 {
        path: plain_name(&file.path),
        format: file.format,
        also_likely: file.rival,
        target: file.target.as_deref(),
        kind: file.kind.as_str(),
        readings: file.readings.iter().map(reading).collect(),
        transcripts: file.transcripts,
        messages: file.messages,
        tool_calls: file.tool_calls,
        tool_results: file.tool_results,
        conversations: file.conversations.iter().map(conversation).collect(),
        refusals: file.refusals.iter().map(refusal).collect(),
        not_read: file.not_read.iter().map(|left| NotReadV1 { what: left.what, count: left.count }).collect(),
    }
}

fn conversation(conversation: &ConversationReport) -> ConversationV1<'_> {
    ConversationV1 {
        title: &conversation.title,
        kind: conversation.kind.as_str(),
        messages: conversation.messages,
        tool_calls: conversation.tool_calls,
        tool_results: conversation.tool_results,
        ended: conversation.end.as_str(),
        sent_next: conversation.is_sent_next,
    }
}

fn refusal(refusal: &Refusal) -> RefusalV1<'_> {
    RefusalV1 {
        status: refusal.status,
        message: refusal.message.as_deref(),
        line: refusal.spot.start.line,
        column: refusal.spot.start.column,
        origin: origin(&refusal.spot),
    }
}

fn origin(spot: &Spot) -> Option<OriginV1<'_>> {
    spot.origin.as_deref().map(OriginV1::from)
}

fn reading(reading: &Reading) -> ReadingV1<'_> {
    ReadingV1 { format: reading.format, target: reading.target.as_deref(), transcripts: reading.transcripts }
}

pub(crate) fn finding_v1<'r>(file: &'r FileReport, found: &'r Finding) -> FindingV1<'r> {
    FindingV1 {
        rule: found.rule,
        level: found.level.as_str(),
        message: &found.message,
        path: plain_name(&file.path),
        line: found.spot.start.line,
        column: found.spot.start.column,
        end_line: found.spot.end.line,
        end_column: found.spot.end.column,
        byte_start: found.spot.bytes.start,
        byte_end: found.spot.bytes.end,
        record: found.spot.record,
        pointer: &found.spot.pointer,
        origin: origin(&found.spot),
        tool_call_id: found.tool_call_id.as_deref(),
        tool_name: found.tool_name.as_deref(),
        fixable: found.fixable.map(Fixable::as_str),
        labels: found
            .labels
            .iter()
            .map(|label| LabelV1 {
                message: &label.message,
                line: label.spot.start.line,
                column: label.spot.start.column,
                record: Some(label.spot.record).filter(|record| *record != found.spot.record),
                pointer: &label.spot.pointer,
                origin: origin(&label.spot),
            })
            .collect(),
        repeats: found.repeats,
        help: found.help.as_deref(),
        provider_error: found.provider_error.as_ref().and_then(|answer| answer.text.as_deref()),
        status: found.provider_error.as_ref().and_then(|answer| answer.status),
        evidence: found.provider_error.as_ref().map(|answer| answer.grounds.evidence.to_string()),
        doubt: found
            .provider_error
            .as_ref()
            .and_then(|answer| answer.only_warns.as_deref().or_else(|| answer.grounds.caution())),
        url: found.url(),
    }
}
