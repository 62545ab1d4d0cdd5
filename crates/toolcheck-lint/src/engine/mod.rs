//! From the text of a file to its findings.

mod body;
mod by_shape;
mod causes;
mod checker;
mod file_linter;
mod format_rules;
mod log;
mod opened;
mod pieces;
mod record_rules;
mod refusals;
mod rows;
mod text;

use toolcheck_core::detection::{Detected, Detection};
use toolcheck_core::ir::{Buffers, TranscriptKind};
use toolcheck_core::readers::Unit;
use toolcheck_core::{readers, unsupported};
use toolcheck_json::{Document, Layout, Record, Records};

use self::file_linter::FileLinter;
use self::format_rules::FormatRules;
use self::log::Log;
use toolcheck_core::formats;
use toolcheck_core::readers::is_of_templates;
use toolcheck_json::origins::LeftOut;
use toolcheck_schema::Schemas;

use crate::observe::Observer;
use crate::options::Options;
use crate::report::{FileReport, Source};

pub use body::lint_body;
pub use opened::{lint_opened, lint_opened_with};
pub use pieces::{Lines, Piece, RECORDS_OF_HEAD, has_rows};
pub use text::blank_line_of;

/// The number of further records that are checked for the file's format if the first one is ambiguous.
const RECORDS_LOOKED_AT: usize = 16;

/// Lints the text of one file. `path` is the name for it in the report.
pub fn lint(path: &str, bytes: &[u8], options: &Options) -> FileReport {
    lint_with(path, bytes, options, &mut ())
}

/// Lints the text of one file, and shows an observer what is read.
pub fn lint_with(path: &str, bytes: &[u8], options: &Options, observer: &mut dyn Observer) -> FileReport {
    let mut report = FileReport::empty(path, options.kind);
    if let Some(kind) = unsupported::of_text(bytes).filter(|_| text::reports_unrecognised(options)) {
        report.findings = text::not_json(bytes, kind, options);
        report = report.limited_to(options.max_findings);
    } else {
        let schemas = Schemas::new(options.kind == TranscriptKind::Dataset);
        lint_records(bytes, options, &schemas, observer, &mut report);
        count_unread_by_template(options, &mut report);
    }
    if options.keeps_source && !report.findings.is_empty() {
        report.source = Source::of_findings(bytes, &report.findings);
    }
    report
}

/// Lints a text that is nearly one that is being linted, with the schemas of that.
pub(crate) fn lint_again(bytes: &[u8], options: &Options, schemas: &Schemas) -> FileReport {
    let mut report = FileReport::empty("", options.kind);
    lint_records(bytes, options, schemas, &mut (), &mut report);
    report
}

/// Counts the transcripts that the chat template does not read, so that a run with a template does not pass over them.
fn count_unread_by_template(options: &Options, report: &mut FileReport) {
    if options.template.is_none() {
        return;
    }
    // A trainer does not rewrite what a server does.
    let is_rewritten = |id: &str| formats::find(id).is_some_and(|format| format.is_made_chat);
    let is_row = options.kind == TranscriptKind::Dataset;
    let is_unused = options.template_in_use().is_none();
    let is_other = |id: &str| is_unused || !is_of_templates(id) || is_row && is_rewritten(id);
    let others = report.readings.iter().filter(|reading| is_other(reading.format));
    let count = others.map(|reading| reading.transcripts).sum();
    if count > 0 {
        let (one, what) = match is_unused {
            true => (
                "transcript whose prompt the server makes without the template",
                "transcripts whose prompts the server makes without the template",
            ),
            false => (
                "transcript in a form that no chat template reads",
                "transcripts in a form that no chat template reads",
            ),
        };
        report.count_not_read(LeftOut { one, what, count });
    }
}

fn lint_records(
    bytes: &[u8],
    options: &Options,
    schemas: &Schemas,
    observer: &mut dyn Observer,
    report: &mut FileReport,
) {
    let (mut records, document) = Records::reading(bytes);
    let layout = records.layout();
    let Some(first) = records.next() else { return };
    let document = document.unwrap_or_else(|| Document::read(first.bytes));
    // What can't be read in its encoding is an error if it would be a transcript in UTF-8.
    let in_utf8 = toolcheck_json::decoded(bytes);
    report.is_meant_as_request |=
        in_utf8.is_some_and(|text| lint_again(text.as_bytes(), options, schemas).is_transcript());
    let more = || (layout != Layout::Single).then(|| Records::laid_out(bytes, layout).skip(1));
    if let Some(reader) = log::detect(&document, more(), options) {
        let log = Log::new(reader, options, schemas);
        if layout != Layout::Single && reader.unit == Unit::File {
            log.lint_file(bytes, layout, observer, report);
        } else {
            log.lint_records((first, document), records, observer, report);
        }
        return;
    }
    let detected = find_format(&document, more(), options);
    let of_file = FormatRules::new(detected.map(|detected| detected.format), options);
    of_file.describe(detected, report);
    let is_single = layout == Layout::Single;
    let mut run = FileLinter::new(of_file, options, schemas, observer, report).of_one_document(is_single);
    run.has_lists = detected.is_none() && has_lists(bytes, layout);
    let mut record = first;
    let mut document = document;
    let mut buffers = Buffers::default();
    loop {
        buffers = run.lint_record(&record, &document, buffers);
        let Some(next) = records.next() else { break };
        record = next;
        document = Document::read_in(record.bytes, document.into_arena());
    }
    run.finish();
    run.report_blank_line(&records);
}

/// Whether the first records of a file in no format show that it holds lists of messages. Its other records are then beside
/// the point, like those of a log.
fn has_lists(bytes: &[u8], layout: Layout) -> bool {
    let mut records = Records::laid_out(bytes, layout).take(RECORDS_LOOKED_AT);
    layout == Layout::Lines && records.any(|record| readers::holds_lists(&Document::read(record.bytes)))
}

/// The format of a file, detected from its first record, and from some others if that is ambiguous.
fn find_format<'b>(
    first: &Document<'_>,
    more: Option<impl Iterator<Item = Record<'b>>>,
    options: &Options,
) -> Option<Detected> {
    if let Some(format) = options.format {
        return Some(Detected { format, rival: None });
    }
    let mut detection = Detection::default();
    detection.add(first);
    for record in more.into_iter().flatten().take(RECORDS_LOOKED_AT) {
        if detection.is_certain() {
            break;
        }
        detection.add(&Document::read(record.bytes));
    }
    detection.best(options.target.as_ref().and_then(|target| target.format.as_deref()))
}
