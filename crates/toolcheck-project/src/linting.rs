//! Lints inputs: several in parallel, and a long one in pieces.

use std::io;
use std::sync::Mutex;

use rayon::prelude::*;
use toolcheck_config::allow;
use toolcheck_config::baseline::BaselineEntry;
use toolcheck_core::text::shown;
use toolcheck_lint::{FileReport, Lines, RECORDS_OF_HEAD, Summary, has_rows, lint, lint_opened};
use toolcheck_open::{Container, Opened};

use crate::Progress;
use crate::baseline::{FileSession, RunBaseline};
use crate::error::Error;
use crate::inputs::{Input, Piece, Text};
use crate::options::{Limits, LintOptions, SummaryOptions};
use crate::pieces::{Pieces, Rounds, TooLong};
use crate::resolve::FileSettings;
use crate::rows::{Counted, Rows};

/// The number of bytes that are linted at a time, unless one file is larger.
const WINDOW: u64 = 32 << 20;
const FILES_IN_WINDOW: usize = 256;

pub(crate) struct Linter<'r> {
    pub(crate) options: &'r LintOptions,
    pub(crate) limits: Limits,
    pub(crate) baseline: Option<&'r RunBaseline>,
    pub(crate) progress: Progress<'r>,
}

#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) file: FileReport,
    pub(crate) used: Vec<bool>,
    /// The new or stale baseline entries of the file.
    pub(crate) entries: Vec<BaselineEntry>,
    /// Why not all of the input was read, if so. The findings of the rest are kept.
    pub(crate) error: Option<Error>,
}

/// Splits the inputs into windows that are linted one after the other: the findings of one window are put in order
/// before the next one is read, so that memory does not grow with the number of inputs.
pub(crate) fn windows(mut inputs: &[(Input, FileSettings)]) -> Vec<&[(Input, FileSettings)]> {
    let mut windows = Vec::new();
    while !inputs.is_empty() {
        let (mut bytes, mut count) = (0, 0);
        for (input, _) in inputs.iter().take(FILES_IN_WINDOW) {
            bytes += input.size();
            if bytes > WINDOW && count > 0 {
                break;
            }
            count += 1;
        }
        let (window, rest) = inputs.split_at(count);
        windows.push(window);
        inputs = rest;
    }
    windows
}

impl Linter<'_> {
    /// Lints the inputs of a window. The outcomes are in the order of the inputs, regardless of the number of threads.
    pub(crate) fn lint_all(&self, inputs: &[(Input, FileSettings)]) -> Vec<Outcome> {
        match inputs {
            [(input, settings)] => vec![self.lint(input, settings)],
            _ => inputs.par_iter().map(|(input, settings)| self.lint(input, settings)).collect(),
        }
    }

    fn lint(&self, input: &Input, settings: &FileSettings) -> Outcome {
        let mut parts = Parts::new(self, input, settings);
        let error = self.lint_parts(input, settings, &mut parts).err();
        parts.end(error.map(|error| Error::caused(shown(&input.name), &error)))
    }

    fn lint_parts(&self, input: &Input, settings: &FileSettings, parts: &mut Parts<'_>) -> io::Result<()> {
        // What the user allows, and what is in a baseline, is told by what a finding says, so all of them are needed.
        let is_sifted = self.baseline.is_some() || !settings.config.config.allows.is_empty();
        let most = if is_sifted { usize::MAX } else { self.options.max_findings };
        let options = settings.options().keeps_source(self.options.keep_source);
        let mut text = Text::open(input, self.limits, self.progress)?;
        // What is not changed is not fixable.
        let mark_fixes = self.options.mark_fixes && input.why_unchanged(&text).is_none();
        let options = options.marks_fixes(mark_fixes).max_findings(most);
        let start = text.start()?;
        if let Some(container) = settings.container().or_else(|| toolcheck_open::sniff(start)) {
            // Such a file may be large, and need not be read to the end.
            if let Some(opened) = container.not_built(start) {
                parts.add(lint_opened(&input.name, start, &opened, &options));
                return Ok(());
            }
            let bytes = text.rest()?;
            parts.add(match open(&bytes, settings.container(), self.limits) {
                Some(opened) => lint_opened(&input.name, &bytes, &opened, &options),
                None => lint(&input.name, &bytes, &options),
            });
            return Ok(());
        }
        let (head, is_all) = text.head(RECORDS_OF_HEAD)?;
        if let Some(how) = self.options.summary.as_ref().filter(|_| has_rows(head, &options)) {
            let rows = Rows { input, settings, options: &options, how };
            return rows.count(text, self.limits.document, |counted| parts.add_counted(counted));
        }
        let lines = if is_all { None } else { Lines::new(&input.name, head, &options) };
        let Some(mut lines) = lines else {
            let bytes = text.rest()?;
            parts.add(lint(&input.name, &bytes, &options));
            return Ok(());
        };
        let pieces = Mutex::new(Pieces::new(text));
        let mut too_long = TooLong::default();
        loop {
            // The thread that reads a piece also lints it, while it is in the cache.
            let lint = |_| {
                let (number, piece) = Pieces::locked(&pieces).take()?;
                let found = match piece {
                    Piece::Lines(piece) => {
                        let found = lines.lint(&piece);
                        if lines.needs_bytes(&found) {
                            Ok((found, Some(piece)))
                        } else {
                            Pieces::locked(&pieces).free.push(piece);
                            Ok((found, None))
                        }
                    }
                    Piece::TooLong(bytes) => Err(bytes),
                };
                Some((number, found))
            };
            let mut round: Vec<_> = Rounds::size().into_par_iter().with_max_len(1).filter_map(lint).collect();
            round.sort_unstable_by_key(|(number, _)| *number);
            for (_, found) in round {
                match found {
                    Ok((found, piece)) => {
                        parts.add(lines.add(piece.as_deref().unwrap_or_default(), found));
                        Pieces::locked(&pieces).free.extend(piece);
                    }
                    Err(bytes) => too_long.add(lines.skip_line(bytes)),
                }
            }
            if let Some(end) = Pieces::locked(&pieces).end.take() {
                parts.add(lines.end());
                return end.and_then(|()| too_long.end(self.limits.document));
            }
        }
    }
}

/// Opens a file that holds requests inside something else, as this kind if one is given; `None` if it is no such file and
/// none was given.
pub fn open(bytes: &[u8], container: Option<&'static Container>, limits: Limits) -> Option<Opened> {
    let most_bytes = usize::try_from(limits.document).unwrap_or(usize::MAX);
    toolcheck_embed::open(bytes, container, toolcheck_open::Limits::new(most_bytes))
}

/// Combines the parts of a file's report.
struct Parts<'r> {
    file: FileReport,
    settings: &'r FileSettings,
    input: &'r Input,
    max_findings: usize,
    summary: Option<&'r SummaryOptions>,
    used: Vec<bool>,
    session: Option<FileSession<'r>>,
}

impl<'r> Parts<'r> {
    fn new(linter: &'r Linter<'r>, input: &'r Input, settings: &'r FileSettings) -> Self {
        Self {
            file: FileReport::empty(&input.name, settings.kind),
            settings,
            input,
            max_findings: linter.options.max_findings,
            summary: linter.options.summary.as_ref(),
            used: vec![false; settings.config.config.allows.len()],
            session: linter.baseline.map(|baseline| baseline.session(&input.real)),
        }
    }

    fn add(&mut self, mut part: FileReport) {
        let used = allow::apply(&self.settings.config.config.allows, &self.input.real, &mut part);
        self.used.iter_mut().zip(used).for_each(|(any, used)| *any |= used);
        if let Some(session) = &mut self.session {
            session.apply(&mut part);
        }
        self.file.add(part, self.max_findings);
    }

    fn add_counted(&mut self, counted: Counted) {
        self.used.iter_mut().zip(counted.used).for_each(|(any, used)| *any |= used);
        self.file.add(counted.file, 0);
    }

    fn end(mut self, error: Option<Error>) -> Outcome {
        if let Some(how) = self.summary.filter(|_| self.file.summary.is_none()) {
            // It can't be divided into rows.
            let mut summary = Summary::new(how.samples);
            summary.add_row(&self.file.path, &self.file);
            self.file = self.file.limited_to(0);
            self.file.summary = Some(summary);
        }
        // If a file was not read to its end, its unmatched entries may not be stale.
        let session = self.session.filter(|_| error.is_none());
        let entries = session.map(|session| session.end(&self.settings.rules)).unwrap_or_default();
        Outcome { file: self.file, used: self.used, entries, error }
    }
}
