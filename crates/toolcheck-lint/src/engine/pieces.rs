//! Linting a file of JSON Lines in pieces, which need not be in memory together and can be linted at the same time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcheck_core::detection::Detected;
use toolcheck_core::exchange;
use toolcheck_core::ir::{Buffers, TranscriptKind};
use toolcheck_core::readers::{Reader, Unit};
use toolcheck_json::{Arena, Document, Layout, Position, Record, Records};
use toolcheck_schema::Schemas;

use super::file_linter::{FileLinter, ReportOnce, count_unrecognised};
use super::format_rules::FormatRules;
use super::log::{self, Log};
use super::{find_format, has_lists};
use crate::finding::Finding;
use crate::options::Options;
use crate::repeated::ReportedFindings;
use crate::report::{FileReport, Offset, Source};
use crate::rules::{blank_line, unrecognised_format};
use crate::view::exchanges::Exchanges;

/// The linter of one file of JSON Lines.
///
/// [`Lines::lint`] lints a piece by itself, and [`Lines::add`] moves its findings to their place in the file. They are
/// the same as those of [`lint`](crate::lint) for the whole text, regardless of how it is divided.
///
/// ```
/// use toolcheck_lint::{Lines, Options};
///
/// let options = Options::default();
/// let line = "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}\n";
/// let text = line.repeat(3);
/// let mut lines = Lines::new("log.jsonl", text.as_bytes(), &options).expect("it is JSON Lines");
/// let (one, two) = text.as_bytes().split_at(line.len());
/// let found = [one, two].map(|piece| lines.lint(piece));
/// let mut reports: Vec<_> =
///     [one, two].into_iter().zip(found).map(|(piece, found)| lines.add(piece, found)).collect();
/// reports.push(lines.end());
/// assert_eq!((reports[0].transcripts, reports[1].transcripts), (1, 2));
/// ```
#[derive(Debug)]
pub struct Lines {
    path: String,
    options: Options,
    /// The reader, if the file is for none of the formats.
    reader: Option<&'static Reader>,
    detected: Option<Detected>,
    /// Whether it is in no format and holds lists of messages all the same.
    has_lists: bool,
    /// Whether its first line is an exchange: the others then are, too, and no line is read twice to find that out.
    has_exchanges: bool,
    unrecognised: ReportOnce,
    blank: ReportOnce,
    reported: ReportedFindings,
    /// The exchanges so far, which later ones may continue.
    exchanges: Exchanges,
    offset: Offset,
    /// Reused by later pieces: one for each piece that is linted at the same time.
    caches: Mutex<Vec<Cache>>,
}

/// Data that is reused from one piece to a later one.
#[derive(Debug)]
struct Cache {
    schemas: Schemas,
    arena: Arena,
}

/// The findings of a piece.
#[derive(Debug)]
pub struct Piece {
    report: FileReport,
    /// The numbers of its records that hold or may hold exchanges, which may continue earlier ones, and so are linted in
    /// order.
    exchanges: Vec<usize>,
    records: usize,
    bytes: usize,
    lines: u64,
}

/// Whether a file that starts with `head` is JSON Lines in which each line stands for itself: it is not a log of one
/// conversation, and has no exchanges that later ones may continue.
pub fn has_rows(head: &[u8], options: &Options) -> bool {
    let mut records = Records::new(head);
    if records.layout() != Layout::Lines {
        return false;
    }
    let Some(first) = records.next() else { return false };
    let first = Document::read(first.bytes);
    let reader = log::detect(&first, Some(Records::of_lines(head).skip(1)), options);
    let stands_alone =
        |record: Record<'_>| exchange::exchanges(Document::read(record.bytes).root()).is_none();
    reader.is_none_or(|reader| reader.unit == Unit::Record)
        && Records::of_lines(head).take(RECORDS_OF_HEAD).all(stands_alone)
}

/// The number of records that the head of a file must have to detect its format, unless it is the whole file.
pub const RECORDS_OF_HEAD: usize = super::RECORDS_LOOKED_AT + 1;

impl Lines {
    /// The linter of a file that starts with `head`; `None` if it may not be JSON Lines, and must be linted as a whole.
    pub fn new(path: &str, head: &[u8], options: &Options) -> Option<Self> {
        let mut records = Records::new(head);
        if records.layout() != Layout::Lines {
            return None;
        }
        let first = Document::read(records.next()?.bytes);
        let reader = log::detect(&first, Some(Records::of_lines(head).skip(1)), options);
        // Conversations are counted from the start of the file.
        if reader.is_some_and(|reader| reader.unit == Unit::File || options.conversation.is_some()) {
            return None;
        }
        let is_sure = first.faults().iter().all(|fault| fault.kind.is_harmless());
        let detected = find_format(&first, Some(records), options);
        is_sure.then(|| Self {
            path: path.to_owned(),
            options: options.clone(),
            reader,
            detected,
            has_lists: reader.is_none() && detected.is_none() && has_lists(head, Layout::Lines),
            has_exchanges: exchange::exchanges(first.root()).is_some(),
            unrecognised: ReportOnce::new(&unrecognised_format::RULE),
            blank: ReportOnce::new(&blank_line::RULE),
            reported: ReportedFindings::default(),
            exchanges: Exchanges::default(),
            offset: Offset::default(),
            caches: Mutex::default(),
        })
    }

    /// The report of the file before any piece, to add those of the pieces to.
    pub fn empty_report(&self) -> FileReport {
        FileReport::empty(&self.path, self.options.kind)
    }

    /// Lints a piece, which consists of whole lines. Pieces can be linted at the same time.
    pub fn lint(&self, piece: &[u8]) -> Piece {
        self.lint_records(piece, self.has_exchanges)
    }

    /// Lints a piece, but for the exchanges in it. With `leaves_all`, each record may be one.
    fn lint_records(&self, piece: &[u8], leaves_all: bool) -> Piece {
        let cached = self.caches().pop();
        let Cache { schemas, arena } =
            cached.unwrap_or_else(|| Cache { schemas: self.schemas(), arena: Arena::default() });
        let mut report = self.empty_report();
        if let Some(reader) = self.reader {
            return self.lint_with(reader, piece, Cache { schemas, arena }, report);
        }
        let (mut none, mut count, mut exchanges) = ((), 0, Vec::new());
        let rules = self.rules();
        rules.describe(self.detected, &mut report);
        let mut run = FileLinter::new(rules, &self.options, &schemas, &mut none, &mut report);
        run.has_lists = self.has_lists;
        let (mut document, mut buffers) = (Document::read_in(b"", arena), Buffers::default());
        let mut records = Records::of_lines(piece);
        for record in records.by_ref() {
            count += 1;
            if !leaves_all {
                document = Document::read_in(record.bytes, document.into_arena());
            }
            if leaves_all || exchange::exchanges(document.root()).is_some() {
                exchanges.push(record.index);
            } else {
                buffers = run.lint_transcript(&record, &document, buffers);
            }
        }
        run.report_blank_line(&records);
        drop(buffers);
        self.caches().push(Cache { schemas, arena: document.into_arena() });
        Piece { report, exchanges, records: count, bytes: piece.len(), lines: records.lines_passed() }
    }

    /// Whether [`Self::add`] needs the bytes of a piece: most pieces have nothing to report, and their memory can hold the
    /// next one.
    pub fn needs_bytes(&self, piece: &Piece) -> bool {
        !piece.exchanges.is_empty() || self.options.keeps_source && !piece.report.findings.is_empty()
    }

    /// Lints a line by itself, as if it were the first of the file; `None` if there is an exchange in it, which has to do
    /// with those before it.
    pub fn lint_line(&self, line: &[u8]) -> Option<FileReport> {
        let piece = self.lint_records(line, false);
        piece.exchanges.is_empty().then_some(piece.report)
    }

    /// Whether the head of the file shows what the lines are. If not, each line is read by itself, and only the first
    /// that is not recognised is reported.
    pub fn is_recognised(&self) -> bool {
        self.reader.is_some() || self.detected.is_some()
    }

    /// Whether the lines of a file are read in the same way by another linter of it, made from another head.
    pub fn reads_like(&self, other: &Self) -> bool {
        let read_as = |lines: &Self| {
            let formats =
                lines.detected.map(|detected| (detected.format.id, detected.rival.map(|rival| rival.id)));
            (lines.reader.map(|reader| reader.id), formats, lines.has_lists)
        };
        read_as(self) == read_as(other)
    }

    /// Lints a piece whose records each stand for themselves.
    fn lint_with(
        &self,
        reader: &'static Reader,
        piece: &[u8],
        cache: Cache,
        mut report: FileReport,
    ) -> Piece {
        let Cache { schemas, arena } = cache;
        let log = Log::new(reader, &self.options, &schemas);
        let mut document = Document::read_in(b"", arena);
        let (mut records, mut count) = (Records::of_lines(piece), 0);
        for record in records.by_ref() {
            document = Document::read_in(record.bytes, document.into_arena());
            log.lint_unit(&record, &document, &[document.root()], &mut (), &mut report);
            count += 1;
        }
        log.report_blank_line(&records, &mut report);
        drop(log);
        self.caches().push(Cache { schemas, arena: document.into_arena() });
        let lines = records.lines_passed();
        Piece { report, exchanges: Vec::new(), records: count, bytes: piece.len(), lines }
    }

    /// The report of a piece, at its place in the file. Pieces must be added in order, with their bytes, which may be
    /// empty if they are [not needed](Self::needs_bytes).
    pub fn add(&mut self, bytes: &[u8], piece: Piece) -> FileReport {
        let mut report = piece.report;
        let offset = self.offset;
        report.findings.iter_mut().for_each(|finding| finding.move_by(&offset));
        self.blank.retain(&mut report.findings, |finding| finding.rule);
        self.reported.leave_out_of_piece(&mut report.findings);
        if !piece.exchanges.is_empty() {
            self.add_exchanges(bytes, &piece.exchanges, &mut report);
        }
        if !self.is_recognised() {
            let count = self.unrecognised.retain(&mut report.findings, |finding| finding.rule);
            count_unrecognised(&mut report, count);
        }
        if self.options.keeps_source {
            self.keep_source(bytes, &piece.exchanges, &mut report);
        }
        self.offset = Offset {
            records: offset.records + piece.records,
            bytes: offset.bytes + piece.bytes,
            lines: offset.lines + piece.lines,
        };
        report
    }

    /// Passes a line of this many bytes that is not linted, and returns its number, from 1.
    pub fn skip_line(&mut self, bytes: usize) -> u64 {
        let Offset { records, bytes: start, lines } = self.offset;
        self.offset = Offset { records: records + 1, bytes: start + bytes, lines: lines + 1 };
        lines + 1
    }

    /// The report of what only the end of the file shows, after that of the last piece.
    pub fn end(&mut self) -> FileReport {
        let mut report = self.empty_report();
        let schemas = self.schemas();
        let mut none = ();
        let exchanges = std::mem::take(&mut self.exchanges);
        let mut run = FileLinter::new(self.rules(), &self.options, &schemas, &mut none, &mut report);
        run.exchanges = exchanges;
        run.finish();
        report
    }

    /// Lints the records that may hold exchanges, which may continue those of earlier pieces.
    fn add_exchanges(&mut self, bytes: &[u8], numbers: &[usize], report: &mut FileReport) {
        let schemas = self.schemas();
        let mut none = ();
        let (exchanges, mut reported) =
            (std::mem::take(&mut self.exchanges), std::mem::take(&mut self.reported));
        let mut run = FileLinter::new(self.rules(), &self.options, &schemas, &mut none, report);
        run.exchanges = exchanges;
        run.has_lists = self.has_lists;
        let (mut document, mut buffers) = (Document::read(b""), Buffers::default());
        for record in Records::of_lines(bytes).filter(|record| numbers.binary_search(&record.index).is_ok()) {
            let record = Record {
                index: self.offset.records + record.index,
                start: self.offset.bytes + record.start,
                position: Position { line: self.offset.lines + record.position.line, ..record.position },
                ..record
            };
            document = Document::read_in(record.bytes, document.into_arena());
            if let Some(exchanges) = exchange::exchanges(document.root()) {
                buffers = run.lint_exchanges(&record, &document, exchanges, buffers);
                continue;
            }
            let before = run.report.findings.len();
            buffers = run.lint_transcript(&record, &document, buffers);
            let mut found = run.report.findings.split_off(before);
            reported.leave_out_of_piece(&mut found);
            run.report.findings.append(&mut found);
        }
        self.exchanges = std::mem::take(&mut run.exchanges);
        self.reported = reported;
        toolcheck_json::sort_by_position(&mut report.findings, |finding| finding.spot.record_bytes.start);
    }

    /// Keeps the records that findings refer to. Findings in a later exchange may refer to any exchange before it.
    fn keep_source(&self, bytes: &[u8], exchanges: &[usize], report: &mut FileReport) {
        let mut wanted: Vec<usize> = report.findings.iter().map(|finding| finding.spot.record).collect();
        wanted.extend(exchanges.iter().map(|number| self.offset.records + number));
        wanted.sort_unstable();
        let is_blank = |finding: &&Finding| finding.rule == blank_line::RULE.id;
        let mut blank =
            report.findings.iter().find(is_blank).map(|finding| finding.spot.record_bytes.clone());
        let mut keep_blank = |source: &mut Source, before: usize| {
            if let Some(line) = blank.take_if(|line| line.start < before) {
                let own = line.start - self.offset.bytes..line.end - self.offset.bytes;
                source.keep(line.start, &bytes[own]);
            }
        };
        for record in Records::of_lines(bytes) {
            if wanted.binary_search(&(self.offset.records + record.index)).is_ok() {
                let start = self.offset.bytes + record.start;
                keep_blank(&mut report.source, start);
                report.source.keep(start, record.bytes);
            }
        }
        keep_blank(&mut report.source, usize::MAX);
    }

    fn rules(&self) -> FormatRules<'_> {
        FormatRules::new(self.detected.map(|detected| detected.format), &self.options)
    }

    fn schemas(&self) -> Schemas {
        Schemas::new(self.options.kind == TranscriptKind::Dataset)
    }

    fn caches(&self) -> MutexGuard<'_, Vec<Cache>> {
        // A cache is taken or put back as a whole, so a panic in another thread leaves it valid.
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
