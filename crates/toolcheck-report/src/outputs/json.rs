use std::io;

use serde::Serialize;
use toolcheck_core::Level;

use super::{Output, write_json};
use crate::Style;
use toolcheck_lint::Finding;
use toolcheck_lint::report::{FileReport, Reading, Report};

pub(super) static OUTPUT: Output = Output {
    id: "json",
    summary: "one JSON document; see schemas/report.v1.schema.json",
    needs_source: false,
    write,
};

/// Version 1 of the report. Keys may be added, but not removed or changed.
#[derive(Serialize)]
struct V1<'r> {
    version: u8,
    tool: Tool,
    files: Vec<FileV1<'r>>,
    findings: Vec<FindingV1<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedV1<'r>>,
    summary: SummaryV1,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// A file in a folder that contains no transcript.
#[derive(Serialize)]
struct SkippedV1<'r> {
    path: &'r str,
    reason: &'r str,
}

/// The format that some transcripts of a file were read as.
#[derive(Serialize)]
struct ReadingV1<'r> {
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'r str>,
    transcripts: usize,
}

#[derive(Serialize)]
struct FileV1<'r> {
    path: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    also_likely: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'r str>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readings: Vec<ReadingV1<'r>>,
    transcripts: usize,
    messages: usize,
    tool_calls: usize,
    tool_results: usize,
}

/// A finding of the report; the output `jsonl` uses the same keys.
#[derive(Serialize)]
pub(super) struct FindingV1<'r> {
    rule: &'static str,
    level: &'static str,
    message: &'r str,
    path: &'r str,
    line: u64,
    column: u64,
    end_line: u64,
    end_column: u64,
    byte_start: usize,
    byte_end: usize,
    record: usize,
    pointer: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<LabelV1<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_error: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'r str>,
    url: String,
}

#[derive(Serialize)]
struct LabelV1<'r> {
    message: &'r str,
    line: u64,
    column: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<usize>,
    pointer: &'r str,
}

#[derive(Serialize)]
struct SummaryV1 {
    files: usize,
    transcripts: usize,
    errors: usize,
    warnings: usize,
    #[serde(skip_serializing_if = "is_zero")]
    allowed: usize,
    #[serde(skip_serializing_if = "is_zero")]
    in_baseline: usize,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let findings =
        report.files.iter().flat_map(|file| file.findings.iter().map(move |found| finding(file, found)));
    let document = V1 {
        version: 1,
        tool: Tool { name: "toolcheck", version: env!("CARGO_PKG_VERSION") },
        files: report.files.iter().map(self::file).collect(),
        findings: findings.collect(),
        skipped: report
            .skipped
            .iter()
            .map(|file| SkippedV1 { path: &file.path, reason: &file.reason })
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
    };
    write_json(&serde_json::to_string_pretty(&document)?, out)
}

fn file(file: &FileReport) -> FileV1<'_> {
    FileV1 {
        path: &file.path,
        format: file.format,
        also_likely: file.rival,
        target: file.target.as_deref(),
        kind: file.kind.as_str(),
        readings: file.readings.iter().map(reading).collect(),
        transcripts: file.transcripts,
        messages: file.messages,
        tool_calls: file.tool_calls,
        tool_results: file.tool_results,
    }
}

fn reading(reading: &Reading) -> ReadingV1<'_> {
    ReadingV1 { format: reading.format, target: reading.target.as_deref(), transcripts: reading.transcripts }
}

/// The finding with the keys of the report.
pub(super) fn finding<'r>(file: &'r FileReport, found: &'r Finding) -> FindingV1<'r> {
    FindingV1 {
        rule: found.rule,
        level: found.level.as_str(),
        message: &found.message,
        path: &file.path,
        line: found.spot.start.line,
        column: found.spot.start.column,
        end_line: found.spot.end.line,
        end_column: found.spot.end.column,
        byte_start: found.spot.bytes.start,
        byte_end: found.spot.bytes.end,
        record: found.spot.record,
        pointer: &found.spot.pointer,
        tool_call_id: found.tool_call_id.as_deref(),
        tool_name: found.tool_name.as_deref(),
        labels: found
            .labels
            .iter()
            .map(|label| LabelV1 {
                message: &label.message,
                line: label.spot.start.line,
                column: label.spot.start.column,
                record: Some(label.spot.record).filter(|record| *record != found.spot.record),
                pointer: &label.spot.pointer,
            })
            .collect(),
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
