//! A file of JSON Lines piece by piece: it need not be held whole, and its pieces can be linted side by side.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcheck_core::detection::Detected;
use toolcheck_core::ir::Room;
use toolcheck_json::{Arena, Document, Layout, Position, Record, Records};

use crate::exchanges::Exchanges;
use crate::lint::{Lens, Options, Run, find_format};
use crate::report::{Before, FileReport, Located, Source};
use crate::rules::{blank_line, unrecognised_format};
use crate::schemas::Schemas;

/// The linter of one file of JSON Lines.
///
/// [`Lines::lint`] lints a piece by itself, and [`Lines::add`] puts what it found where it belongs. The findings are those
/// that [`lint`](crate::lint) has for the whole text, whatever the pieces are.
///
/// ```
/// use toolcheck_lint::{Lines, Options};
///
/// let options = Options::default();
/// let line = "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}\n";
/// let text = line.repeat(3);
/// let mut lines = Lines::new("log.jsonl", text.as_bytes(), &options, false).expect("it is JSON Lines");
/// let (one, two) = text.as_bytes().split_at(line.len());
/// let found = [one, two].map(|piece| lines.lint(piece));
/// let reports: Vec<_> = [one, two].into_iter().zip(found).map(|(piece, found)| lines.add(piece, found)).collect();
/// assert_eq!((reports[0].transcripts, reports[1].transcripts), (1, 2));
/// ```
#[derive(Debug)]
pub struct Lines<'o> {
    path: String,
    options: &'o Options<'o>,
    detected: Option<Detected>,
    keeps_source: bool,
    /// Whether it has been said that no format knows the file.
    is_told_unknown: bool,
    /// Whether a blank line has been reported.
    is_told_blank: bool,
    /// What is known of the exchanges so far.
    exchanges: Exchanges,
    /// What stands before the next piece.
    before: Before,
    /// What the pieces so far have left for the next ones, one of them for each piece that is linted at a time.
    left: Mutex<Vec<Left<'o>>>,
}

/// What the linting of a piece leaves for a later one.
#[derive(Debug)]
struct Left<'o> {
    /// The schemas that were compiled so far.
    schemas: Schemas<'o>,
    /// The memory of the documents.
    arena: Arena,
}

/// What was found in a piece.
#[derive(Debug)]
pub struct Piece {
    report: FileReport,
    /// The numbers of its records that hold exchanges: these go on with what stands before the piece.
    exchanges: Vec<usize>,
    records: usize,
    lines: u64,
}

/// How many records a head must hold for a file's format to be told from it, unless it is the whole file.
pub const RECORDS_OF_HEAD: usize = crate::lint::RECORDS_LOOKED_AT + 1;

impl<'o> Lines<'o> {
    /// The linter of a file that begins like this; `None` where that is not sure to be JSON Lines. Then the file has to
    /// be linted whole.
    #[must_use]
    pub fn new(path: &str, head: &[u8], options: &'o Options<'o>, keeps_source: bool) -> Option<Self> {
        let mut records = Records::new(head);
        if records.layout() != Layout::Lines {
            return None;
        }
        let first = Document::read(records.next()?.bytes);
        let is_sure = first.faults().iter().all(|fault| fault.kind.is_in_text());
        is_sure.then(|| Self {
            path: path.to_owned(),
            options,
            detected: find_format(&first, Some(records), options),
            keeps_source,
            is_told_unknown: false,
            is_told_blank: false,
            exchanges: Exchanges::default(),
            before: Before::default(),
            left: Mutex::default(),
        })
    }

    /// Lints a piece, which begins and ends with a line. It may run beside others.
    #[must_use]
    pub fn lint(&self, piece: &[u8]) -> Piece {
        let left = self.left().pop();
        let new = || Left {
            schemas: Schemas::declaring(self.options.tools, self.options.kind),
            arena: Arena::default(),
        };
        let Left { schemas, arena } = left.unwrap_or_else(new);
        let mut report = FileReport::empty(&self.path, self.options.kind);
        let (mut none, mut records) = ((), 0);
        let lens = self.lens();
        lens.tell(self.detected, &mut report);
        let mut run = Run::new(lens, self.options, &schemas, &mut none, &mut report);
        run.left_exchanges = Some(Vec::new());
        let (mut document, mut room) = (Document::read_in(b"", arena), Room::default());
        let mut lines = Records::of_lines(piece);
        for record in lines.by_ref() {
            document = Document::read_in(record.bytes, document.into_arena());
            room = run.lint_record(&record, &document, room);
            records += 1;
        }
        run.tell_blank_line(&lines);
        let exchanges = run.left_exchanges.take().unwrap_or_default();
        drop(room);
        self.left().push(Left { schemas, arena: document.into_arena() });
        Piece { report, exchanges, records, lines: lines.lines_passed() }
    }

    /// The report of a piece, at its place. Pieces are added in their order.
    pub fn add(&mut self, bytes: &[u8], piece: Piece) -> FileReport {
        let mut report = piece.report;
        let before = self.before;
        report.findings.iter_mut().for_each(|finding| finding.move_behind(&before));
        let is_told_blank = &mut self.is_told_blank;
        report.findings.retain(|finding| blank_line::is_to_be_told(finding.rule, is_told_blank));
        if !piece.exchanges.is_empty() {
            self.add_exchanges(bytes, &piece.exchanges, &mut report);
        }
        if self.detected.is_none() {
            let is_told = &mut self.is_told_unknown;
            report.findings.retain(|finding| unrecognised_format::is_to_be_told(finding.rule, is_told));
        }
        if self.keeps_source {
            self.keep_source(bytes, &piece.exchanges, &mut report);
        }
        self.before = Before {
            records: before.records + piece.records,
            bytes: before.bytes + bytes.len(),
            lines: before.lines + piece.lines,
        };
        report
    }

    /// Lints the records with exchanges, which go on with those of earlier pieces.
    fn add_exchanges(&mut self, bytes: &[u8], numbers: &[usize], report: &mut FileReport) {
        let schemas = Schemas::declaring(self.options.tools, self.options.kind);
        let mut none = ();
        let mut run = Run::new(self.lens(), self.options, &schemas, &mut none, report);
        run.exchanges = std::mem::take(&mut self.exchanges);
        for record in Records::of_lines(bytes).filter(|record| numbers.binary_search(&record.index).is_ok()) {
            let record = Record {
                index: self.before.records + record.index,
                start: self.before.bytes + record.start,
                position: Position { line: self.before.lines + record.position.line, ..record.position },
                ..record
            };
            let document = Document::read(record.bytes);
            let _ = run.lint_record(&record, &document, Room::default());
        }
        self.exchanges = std::mem::take(&mut run.exchanges);
        report.findings.sort_by_key(|finding| finding.record_bytes.start);
    }

    /// Keeps the records that findings speak of. A later exchange may speak of any exchange before it.
    fn keep_source(&self, bytes: &[u8], exchanges: &[usize], report: &mut FileReport) {
        let mut wanted: Vec<usize> = report.findings.iter().map(|finding| finding.record).collect();
        wanted.extend(exchanges.iter().map(|number| self.before.records + number));
        wanted.sort_unstable();
        let is_blank = |finding: &&Located| finding.rule == blank_line::RULE.id;
        let mut blank = report.findings.iter().find(is_blank).map(|finding| finding.record_bytes.clone());
        let mut keep_blank = |source: &mut Source, before: usize| {
            if let Some(line) = blank.take_if(|line| line.start < before) {
                let own = line.start - self.before.bytes..line.end - self.before.bytes;
                source.keep(line.start, &bytes[own]);
            }
        };
        for record in Records::of_lines(bytes) {
            if wanted.binary_search(&(self.before.records + record.index)).is_ok() {
                let start = self.before.bytes + record.start;
                keep_blank(&mut report.source, start);
                report.source.keep(start, record.bytes);
            }
        }
        keep_blank(&mut report.source, usize::MAX);
    }

    fn lens(&self) -> Lens<'o> {
        Lens::new(self.detected.map(|detected| detected.format), self.options)
    }

    fn left(&self) -> MutexGuard<'_, Vec<Left<'o>>> {
        // What another thread has put there is whole, whatever happened to it then.
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
