//! An open file.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_types::{Diagnostic, Position, TextDocumentContentChangeEvent, Uri};
use toolcheck_lint::{FileReport, Finding};

use crate::diagnostics;
use crate::rows::Rows;
use crate::settings::Settings;
use crate::sites::Sites;
use crate::text::{Encoding, Text};

/// A text of at most as many bytes is linted at every key: that takes less than a millisecond.
const SMALL: usize = 256 << 10;

/// How long a larger one must stay as it is before it is linted.
const QUIET: Duration = Duration::from_millis(150);

/// An open file, and what is known of it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: Text,
    /// How it is linted; `None` if it is not.
    settings: Option<Settings>,
    /// Its lines, if each stands for itself.
    rows: Option<Rows>,
    report: Option<FileReport>,
    /// When it is to be linted as a whole.
    pub(crate) due: Option<Instant>,
    /// Whether it is to be linted, or is being linted, elsewhere.
    is_unfinished: bool,
    /// How often it was to be linted: a report on an earlier text, or with earlier settings, is of no use.
    round: i32,
    /// What is in a part of it, by the version and the start of that part.
    sites: Option<(i32, Range<usize>, Arc<Sites>)>,
    /// Whether it was a transcript since it was opened: an edit that breaks its JSON is told.
    was_transcript: bool,
}

/// What is to be linted elsewhere.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) uri: Uri,
    pub(crate) round: i32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) settings: Settings,
    pub(crate) was_transcript: bool,
}

impl Document {
    pub(crate) fn new(
        uri: Uri,
        version: i32,
        text: &str,
        encoding: Encoding,
        settings: Option<Settings>,
    ) -> Self {
        let text = Text::new(text, encoding);
        let (rows, report, due, sites) = (None, None, None, None);
        let (is_unfinished, round, was_transcript) = (false, 0, false);
        Self { uri, version, text, settings, rows, report, due, is_unfinished, round, sites, was_transcript }
    }

    /// Sets how it is linted. It must be linted again then.
    pub(crate) fn set(&mut self, settings: Option<Settings>) {
        self.settings = settings;
        (self.rows, self.report, self.sites) = (None, None, None);
    }

    pub(crate) fn edit(&mut self, version: i32, changes: &[TextDocumentContentChangeEvent]) {
        self.version = version;
        for change in changes {
            let edited = self.text.edit(change);
            let (Some(rows), Some(settings)) = (&mut self.rows, &self.settings) else { continue };
            let is_same = edited.is_some_and(|edited| rows.edit(&edited, &self.text, settings));
            if !is_same {
                self.rows = None;
            }
        }
    }

    /// Lints what can be linted at once; `false` if the rest is due later.
    pub(crate) fn lint(&mut self, now: Instant) -> bool {
        (self.due, self.is_unfinished) = (None, false);
        self.round = self.round.wrapping_add(1);
        let Some(settings) = self.settings.as_ref().filter(|_| !self.text.is_lost) else {
            (self.rows, self.report) = (None, None);
            return true;
        };
        // To find that out of one long line costs as much as to lint it.
        if self.rows.is_none() && (self.text.len() <= SMALL || self.text.lines() > 2) {
            self.rows = Rows::new(&self.text, settings);
        }
        if let Some(rows) = &mut self.rows {
            if rows.lint(&self.text, settings) {
                self.report = None;
                self.was_transcript = true;
                return true;
            }
            self.rows = None;
        }
        if self.text.len() <= SMALL {
            let report = settings.lint(&self.text.bytes(), self.was_transcript);
            self.was_transcript |= report.is_transcript();
            self.report = Some(report);
            return true;
        }
        (self.due, self.is_unfinished) = (Some(now + QUIET), true);
        false
    }

    /// What is to be linted as a whole.
    pub(crate) fn job(&mut self) -> Option<Job> {
        self.due = None;
        let settings = self.settings.clone()?;
        let (uri, bytes, was_transcript) = (self.uri.clone(), self.text.bytes(), self.was_transcript);
        Some(Job { uri, round: self.round, bytes, settings, was_transcript })
    }

    /// Takes the report of a round; `false` if that is an old one.
    pub(crate) fn take(&mut self, round: i32, report: Option<FileReport>) -> bool {
        let is_new = round == self.round && self.is_unfinished;
        if is_new {
            self.is_unfinished = false;
            self.was_transcript |= report.as_ref().is_some_and(FileReport::is_transcript);
            self.report = report;
        }
        is_new
    }

    /// Whether its findings are not those of this version yet.
    pub(crate) fn is_being_linted(&self) -> bool {
        self.is_unfinished
    }

    /// Whether it was linted since it was opened or its settings changed.
    pub(crate) fn is_known(&self) -> bool {
        self.rows.is_some() || self.report.is_some()
    }

    /// The findings, each with the byte that its place is counted from, and the number of those that are not kept.
    pub(crate) fn findings(&self) -> (Vec<(usize, &Finding)>, usize) {
        match (&self.rows, &self.report) {
            (Some(rows), _) => rows.findings(&self.text),
            (None, Some(report)) => {
                (report.findings.iter().map(|finding| (0, finding)).collect(), report.left_out())
            }
            (None, None) => (Vec::new(), 0),
        }
    }

    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let (found, left_out) = self.findings();
        diagnostics::all(&found, left_out, &self.text, &self.uri)
    }

    /// How it is linted, and what it is read as.
    pub(crate) fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref().filter(|_| !self.text.is_lost)
    }

    pub(crate) fn format(&self) -> Option<&'static str> {
        match (&self.rows, &self.report) {
            (Some(rows), _) => rows.format(),
            (None, report) => report.as_ref()?.format,
        }
    }

    /// The part of the text that a place is in and that stands for itself: a line, or all of it.
    pub(crate) fn part_at(&self, position: Position) -> Range<usize> {
        match &self.rows {
            Some(_) => {
                let line = self.text.line_at(position);
                self.text.start_of(line)..self.text.start_of(line + 1)
            }
            None => 0..self.text.len(),
        }
    }

    pub(crate) fn bytes_of(&self, part: &Range<usize>) -> Vec<u8> {
        self.text.slice(part.clone())
    }

    /// What is in a part of the text. Its places are counted from the start of the part.
    pub(crate) fn sites(&mut self, part: &Range<usize>) -> Option<Arc<Sites>> {
        if let Some((version, known, sites)) = &self.sites
            && (*version, known) == (self.version, part)
        {
            return Some(Arc::clone(sites));
        }
        let settings = self.settings.as_ref()?;
        let format = self.format()?;
        let bytes = self.bytes_of(part);
        if settings.is_opened(&bytes) {
            return None;
        }
        let sites = Arc::new(Sites::of(&settings.name, &bytes, &settings.read_as(Some(format))));
        self.sites = Some((self.version, part.clone(), Arc::clone(&sites)));
        Some(sites)
    }
}
