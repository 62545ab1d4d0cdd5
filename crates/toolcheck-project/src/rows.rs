//! The summary of a data set: each row is linted by itself, and only counts and examples are kept.

use std::io;
use std::sync::Mutex;

use memchr::memchr_iter;
use rayon::prelude::*;
use toolcheck_config::allow;
use toolcheck_json::{Record, Records};
use toolcheck_lint::summary::key_of;
use toolcheck_lint::{FileReport, Options, Summary, blank_line_of, lint};

use crate::inputs::{Input, Piece, Text};
use crate::options::SummaryOptions;
use crate::pieces::{Pieces, Rounds, TooLong};
use crate::resolve::FileSettings;

/// The rows of a file of JSON Lines.
pub(crate) struct Rows<'r> {
    pub(crate) input: &'r Input,
    pub(crate) settings: &'r FileSettings,
    pub(crate) options: &'r Options,
    pub(crate) how: &'r SummaryOptions,
}

pub(crate) struct Counted {
    pub(crate) file: FileReport,
    pub(crate) used: Vec<bool>,
    /// The first blank line, which is reported once in a file: its key, and the report of it.
    blank: Option<(String, FileReport)>,
}

impl Rows<'_> {
    pub(crate) fn count(&self, text: Text<'_>, most: u64, mut add: impl FnMut(Counted)) -> io::Result<()> {
        let pieces = Mutex::new(Numbered { pieces: Pieces::new(text), lines: 0 });
        let (mut too_long, mut has_blank) = (TooLong::default(), false);
        loop {
            let take = |_| {
                let (number, before, piece) = Numbered::take(&pieces)?;
                Some((
                    number,
                    match piece {
                        Piece::Lines(piece) => Ok(self.count_piece(&piece, before)),
                        Piece::TooLong(_) => Err(before + 1),
                    },
                ))
            };
            let mut round: Vec<_> = Rounds::size().into_par_iter().with_max_len(1).filter_map(take).collect();
            round.sort_unstable_by_key(|(number, _)| *number);
            for (_, counted) in round {
                let mut counted = counted.unwrap_or_else(|line| {
                    too_long.add(line);
                    self.unread()
                });
                if let Some(blank) = counted.blank.take()
                    && !std::mem::replace(&mut has_blank, true)
                {
                    self.add_blank(blank, &mut counted);
                }
                add(counted);
            }
            if let Some(end) = Numbered::end(&pieces) {
                return end.and_then(|()| too_long.end(most));
            }
        }
    }

    fn empty(&self) -> Counted {
        let file = FileReport::empty(&self.input.name, self.settings.kind);
        Counted { file, used: vec![false; self.settings.config.config.allows.len()], blank: None }
    }

    fn unread(&self) -> Counted {
        let mut counted = self.empty();
        let mut summary = Summary::new(self.how.samples);
        summary.add_unread();
        counted.file.summary = Some(summary);
        counted
    }

    fn count_piece(&self, piece: &[u8], lines_before: u64) -> Counted {
        let mut counted = self.empty();
        let mut summary = Summary::new(self.how.samples);
        let mut records = Records::of_lines(piece);
        for record in records.by_ref() {
            let mut row = lint(&self.input.name, record.bytes, self.options);
            self.allow(&mut row, &mut counted.used);
            let key = if row.findings.is_empty() { String::new() } else { self.key(&record, lines_before) };
            summary.add_row(&key, &row);
            counted.file.add(row, 0);
        }
        let blank = blank_line_of(&self.input.name, &records, self.options);
        counted.blank = blank.map(|(line, report)| (self.line_key(lines_before + line), report));
        counted.file.summary = Some(summary);
        counted
    }

    fn allow(&self, row: &mut FileReport, used: &mut [bool]) {
        let of_row = allow::apply(&self.settings.config.config.allows, &self.input.real, row);
        used.iter_mut().zip(of_row).for_each(|(any, used)| *any |= used);
    }

    fn add_blank(&self, (key, mut report): (String, FileReport), counted: &mut Counted) {
        self.allow(&mut report, &mut counted.used);
        if let Some(summary) = &mut counted.file.summary {
            summary.add_between(&key, &report);
        }
        counted.file.add(report, 0);
    }

    /// The key of a row: what the user has named, or the file and the line.
    fn key(&self, record: &Record<'_>, lines_before: u64) -> String {
        let named = self.how.key.as_deref().and_then(|path| key_of(record.bytes, path));
        named.unwrap_or_else(|| self.line_key(lines_before + record.position.line))
    }

    fn line_key(&self, line: u64) -> String {
        format!("{}:{line}", self.input.name)
    }
}

/// Pieces, and the number of lines before the next one.
struct Numbered<'p> {
    pieces: Pieces<'p>,
    lines: u64,
}

impl Numbered<'_> {
    fn take(this: &Mutex<Self>) -> Option<(usize, u64, Piece)> {
        let mut this = Pieces::locked(this);
        let (number, piece) = this.pieces.take()?;
        let before = this.lines;
        this.lines += match &piece {
            Piece::Lines(bytes) => memchr_iter(b'\n', bytes).count() as u64,
            Piece::TooLong(_) => 1,
        };
        Some((number, before, piece))
    }

    fn end(this: &Mutex<Self>) -> Option<io::Result<()>> {
        Pieces::locked(this).pieces.end.take()
    }
}
