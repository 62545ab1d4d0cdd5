//! A file of JSON Lines in which each line stands for itself: after an edit, only what changed is linted again.

use toolcheck_core::RuleId;
use toolcheck_lint::{Finding, Lines, RECORDS_OF_HEAD, ReportedFindings, has_rows};

use crate::diagnostics::MOST;
use crate::settings::Settings;
use crate::text::{Edited, Text};

/// The lines of a file, and what was found in each.
#[derive(Debug)]
pub(crate) struct Rows {
    lines: Lines,
    /// The number of lines that decide how the file is read.
    head: usize,
    /// The findings of each line, with the places in that line; `None` if it was not linted yet.
    rows: Vec<Option<Row>>,
    /// The numbers of the lines that were not linted yet, some of them several times.
    new: Vec<usize>,
    format: Option<&'static str>,
}

#[derive(Debug, Default, Clone)]
struct Row {
    findings: Vec<Finding>,
    /// The number of findings beyond these.
    left_out: usize,
}

impl Rows {
    /// The lines of a text; `None` if they do not stand for themselves.
    pub(crate) fn new(text: &Text, settings: &Settings) -> Option<Self> {
        let (head, bytes) = head(text)?;
        if settings.is_opened(&bytes) || !has_rows(&bytes, &settings.options) {
            return None;
        }
        // Lines that are not recognised are judged together: the file may be no transcript at all.
        let lines = Lines::new(&settings.name, &bytes, &settings.options).filter(Lines::is_recognised)?;
        let format = lines.lint_line(b"")?.format;
        let rows = vec![None; text.lines()];
        Some(Self { lines, head, new: (0..rows.len()).collect(), rows, format })
    }

    pub(crate) fn format(&self) -> Option<&'static str> {
        self.format
    }

    /// Forgets what an edit has changed; `false` if the file is read in another way now.
    pub(crate) fn edit(&mut self, edited: &Edited, text: &Text, settings: &Settings) -> bool {
        let start = edited.lines.start;
        let shift = edited.count as isize - edited.lines.len() as isize;
        self.new.retain(|row| !edited.lines.contains(row));
        for row in self.new.iter_mut().filter(|row| **row >= edited.lines.end) {
            *row = row.saturating_add_signed(shift);
        }
        if shift == 0 {
            self.rows[edited.lines.clone()].fill(None);
        } else {
            self.rows.splice(edited.lines.clone(), std::iter::repeat_n(None, edited.count));
        }
        self.new.extend(start..start + edited.count);
        if start >= self.head {
            return true;
        }
        let Some(other) = Self::new(text, settings).filter(|other| other.lines.reads_like(&self.lines))
        else {
            return false;
        };
        self.head = other.head;
        true
    }

    /// Lints what is new; `false` if a line does not stand for itself.
    pub(crate) fn lint(&mut self, text: &Text, settings: &Settings) -> bool {
        for number in std::mem::take(&mut self.new) {
            let Some(mut report) = self.lines.lint_line(&text.line(number)) else { return false };
            settings.sift(&mut report);
            let left_out = report.left_out() + report.findings.len().saturating_sub(MOST);
            report.findings.truncate(MOST);
            self.rows[number] = Some(Row { findings: report.findings, left_out });
        }
        true
    }

    /// The findings of all lines, each with the start of its line, and the number of those that are not kept.
    pub(crate) fn findings(&self, text: &Text) -> (Vec<(usize, &Finding)>, usize) {
        let mut found = Vec::new();
        let (mut left_out, mut has_blank) = (0, false);
        // A line may repeat what was said in those before.
        let mut reported = ReportedFindings::default();
        for (number, row) in self.rows.iter().enumerate() {
            let Some(row) = row else { continue };
            left_out += row.left_out;
            if row.findings.is_empty() {
                continue;
            }
            let start = text.start_of(number);
            let mut new: Vec<&Finding> = row.findings.iter().collect();
            reported.leave_out_of_piece(&mut new);
            for finding in new {
                if finding.rule == RuleId::BlankLine && std::mem::replace(&mut has_blank, true) {
                    continue;
                }
                found.push((start, finding));
            }
        }
        (found, left_out)
    }
}

/// The most bytes of the lines that decide how a file is read. With longer ones, it is linted as a whole.
const MOST_OF_HEAD: usize = 4 << 20;

/// The first lines of a text, which decide how it is read, and their number; `None` if they are too long.
fn head(text: &Text) -> Option<(usize, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut records = 0;
    for number in 0..text.lines() {
        if bytes.len() + text.start_of(number + 1) - text.start_of(number) > MOST_OF_HEAD {
            return None;
        }
        let line = text.line(number);
        records += usize::from(!line.trim_ascii().is_empty());
        bytes.extend(line);
        if records == RECORDS_OF_HEAD {
            return Some((number + 1, bytes));
        }
    }
    Some((text.lines(), bytes))
}
