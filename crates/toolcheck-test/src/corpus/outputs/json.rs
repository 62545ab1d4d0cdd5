use std::borrow::Cow;
use std::io;

use serde::Serialize;
use toolcheck_core::RuleId;
use toolcheck_core::text::plain_name;
use toolcheck_report::Style;
use toolcheck_report::outputs::write_json;

use super::{Output, kind, lines, path_shown};
use crate::corpus::{CaseResult, CorpusResults, Outcome};
use crate::expected::ActualFinding;

pub(super) static OUTPUT: Output = Output {
    id: "json",
    summary: "one JSON document, described by schemas/corpus-run.v1.schema.json",
    write,
};

/// Version 1 of the output. Keys may be added, but not removed or changed.
#[derive(Serialize)]
struct V1<'r> {
    version: u8,
    cases: Vec<CaseV1<'r>>,
    summary: SummaryV1,
}

#[derive(Serialize)]
struct CaseV1<'r> {
    name: Cow<'r, str>,
    path: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
    found: Vec<FoundV1<'r>>,
}

#[derive(Serialize)]
struct FoundV1<'r> {
    rule: RuleId,
    level: &'static str,
    record: usize,
    pointer: &'r str,
    line: u64,
    column: u64,
}

#[derive(Serialize)]
struct SummaryV1 {
    cases: usize,
    failed: usize,
    unreadable: usize,
}

fn write(run: &CorpusResults, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let summary = SummaryV1 { cases: run.results.len(), failed: run.failed(), unreadable: run.unreadable() };
    let document = V1 { version: 1, cases: run.results.iter().map(case).collect(), summary };
    write_json(&document, out)
}

fn case(result: &CaseResult) -> CaseV1<'_> {
    let (outcome, failure, lines) = match &result.outcome {
        Outcome::Passed => ("passed", None, Vec::new()),
        Outcome::Blessed(failure) => ("blessed", Some(kind(failure)), lines(result, failure)),
        Outcome::Failed(failure) => ("failed", Some(kind(failure)), lines(result, failure)),
        Outcome::Unreadable(why) => ("unreadable", None, vec![why.clone()]),
    };
    let found = result.found.iter().map(found).collect();
    CaseV1 { name: plain_name(&result.name), path: path_shown(&result.path), outcome, failure, lines, found }
}

fn found(found: &ActualFinding) -> FoundV1<'_> {
    FoundV1 {
        rule: found.rule,
        level: found.level.as_str(),
        record: found.place.record,
        pointer: &found.place.pointer,
        line: found.line,
        column: found.column,
    }
}
