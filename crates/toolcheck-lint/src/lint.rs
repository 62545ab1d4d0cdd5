//! One file's text, from bytes to findings.

use std::cell::OnceCell;
use std::sync::LazyLock;

use toolcheck_core::formats::{Detection, Format};
use toolcheck_core::ir::{Body, Room, Transcript, TranscriptKind};
use toolcheck_core::target::{self, Target};
use toolcheck_core::tools::Definition;
use toolcheck_json::{Document, FaultKind, Layout, Record, Records};

use crate::pairing::Pairing;
use crate::report::{FileReport, locate_all};
use crate::rule::{self, Context, Rule};
use crate::rules;
use crate::schemas::Schemas;
use crate::settings::Settings;

/// How a file is to be linted.
#[derive(Debug, Clone)]
pub struct Options<'o> {
    /// The format that it is written in; found out from its content where this is `None`.
    pub format: Option<&'static Format>,
    /// Whom it is for; the format's own provider where this is `None`.
    pub target: Option<&'o Target>,
    /// What it is for.
    pub kind: TranscriptKind,
    /// The tools that are declared beside the transcripts, for those that do not declare their own.
    pub tools: &'o [Definition],
    /// What the user has set.
    pub settings: &'o Settings,
    /// The rules to run.
    pub rules: Vec<&'static Rule>,
}

/// The settings of who sets nothing.
static BUILT_IN: LazyLock<Settings> = LazyLock::new(Settings::default);

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            format: None,
            target: None,
            kind: TranscriptKind::default(),
            tools: &[],
            settings: &BUILT_IN,
            rules: rules::ALL.iter().copied().filter(|rule| !rule.is_optional).collect(),
        }
    }
}

/// How many records are looked at to find out a file's format, where the first leaves it open.
const RECORDS_LOOKED_AT: usize = 16;

/// Lints the text of one file. `path` is the name that its report bears.
#[must_use]
pub fn lint(path: &str, bytes: &[u8], options: &Options<'_>) -> FileReport {
    let mut records = Records::new(bytes);
    let mut report = FileReport {
        path: path.to_owned(),
        format: None,
        target: None,
        kind: options.kind,
        transcripts: 0,
        messages: 0,
        tool_calls: 0,
        tool_results: 0,
        findings: Vec::new(),
        source: Vec::new(),
    };
    let is_single = records.layout() == Layout::Single;
    let Some(first) = records.next() else { return report };
    let mut document = Document::read(first.bytes);
    let format = options.format.or_else(|| {
        let mut detection = Detection::default();
        detection.look(&document);
        if !is_single && !detection.is_certain() {
            for record in Records::new(bytes).skip(1).take(RECORDS_LOOKED_AT) {
                detection.look(&Document::read(record.bytes));
            }
        }
        let wanted = options.target.and_then(|target| target.format.as_deref());
        wanted.and_then(|id| detection.likely(id)).or_else(|| detection.best())
    });
    let target = options.target.or_else(|| target::find(format?.id));
    report.format = format.map(|format| format.id);
    report.target = target.map(|target| target.id.clone());
    let target = target.unwrap_or_else(|| Target::unknown());
    let rules: Vec<_> = options
        .rules
        .iter()
        .copied()
        .filter(|rule| rule.may_speak(format.map_or("", |format| format.id), target))
        .collect();
    let mut record = first;
    let mut room = Room::default();
    let schemas = Schemas::declaring(options.tools);
    let run = Run { target, rules: &rules, schemas: &schemas, settings: options.settings };
    loop {
        let transcript = document.root().and_then(|root| (format?.read_in)(root, std::mem::take(&mut room)));
        let transcript = run.lint_record(&record, &document, transcript, &mut report);
        room = transcript.map(Transcript::into_room).unwrap_or_default();
        let Some(next) = records.next() else { break };
        record = next;
        document = Document::read_in(record.bytes, document.into_arena());
    }
    report
}

/// What is the same for all records of a file.
struct Run<'r> {
    target: &'r Target,
    rules: &'r [&'static Rule],
    schemas: &'r Schemas<'r>,
    settings: &'r Settings,
}

impl Run<'_> {
    /// Lints one record, and gives back its transcript.
    fn lint_record<'s>(
        &self,
        record: &Record<'_>,
        document: &Document<'s>,
        read: Option<Transcript<'s>>,
        report: &mut FileReport,
    ) -> Option<Transcript<'s>> {
        let is_recognised = read.is_some();
        let mut transcript = match (read, document.root()) {
            (Some(transcript), _) => transcript,
            (None, Some(root)) => Transcript::new("", root),
            // Without any value there is nothing to point at but the fault that says so.
            (None, None) => {
                report_without_value(record, document, self.rules, report);
                return None;
            }
        };
        transcript.kind = report.kind;
        let is_cut_off = is_cut_off(document);
        if is_cut_off && transcript.kind == TranscriptKind::Request {
            // What is missing at the end is missing because the text was cut, and that is reported.
            transcript.kind = TranscriptKind::Session;
        }
        if is_recognised {
            report.transcripts += 1;
            report.messages += transcript.messages.len();
            for part in &transcript.parts {
                match part.body {
                    Body::Call(_) => report.tool_calls += 1,
                    Body::Result(_) => report.tool_results += 1,
                    _ => {}
                }
            }
        }
        let pairing = Pairing::new(&transcript, self.target);
        let context = Context {
            document,
            transcript: &transcript,
            is_recognised,
            is_cut_off,
            pairing: &pairing,
            schemas: self.schemas,
            target: self.target,
            settings: self.settings,
            text_calls: OnceCell::new(),
        };
        let mut findings = Vec::new();
        for rule in self.rules {
            rule::run(rule, &context, &mut findings);
        }
        findings.sort_by_key(|finding| (finding.place.span.start, finding.rule));
        report.findings.extend(locate_all(document, record, findings));
        Some(transcript)
    }
}

/// Whether the text ends before its value does.
fn is_cut_off(document: &Document<'_>) -> bool {
    let is_cut = |kind| matches!(kind, FaultKind::Unclosed | FaultKind::UnterminatedString);
    document.faults().iter().any(|fault| is_cut(fault.kind))
}

/// Reports what is wrong with a text that holds no value at all, such as an empty file.
fn report_without_value(
    record: &Record<'_>,
    document: &Document<'_>,
    rules: &[&'static Rule],
    report: &mut FileReport,
) {
    const RULE: &str = "malformed-json";
    if !rules.iter().any(|rule| rule.id == RULE) {
        return;
    }
    // A value to point at.
    let stand_in = Document::read(b"null");
    let faults = document.faults().iter().map(|fault| {
        let place = toolcheck_core::Place { node: toolcheck_json::NodeId::ROOT, span: fault.span };
        let mut finding = toolcheck_core::Finding::new(RULE, place, fault.kind.describe());
        finding.level = toolcheck_core::Level::Error;
        finding.caption("here");
        finding
    });
    report.findings.extend(locate_all(&stand_in, record, faults.collect()));
}
