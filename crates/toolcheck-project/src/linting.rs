//! Lints inputs: several in parallel, and a long one in pieces.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use toolcheck_config::allow;
use toolcheck_config::baseline::Entry;
use toolcheck_core::text::shown;
use toolcheck_lint::{FileReport, Lines, Options, RECORDS_OF_HEAD, lint, lint_opened};
use toolcheck_open::{Container, Opened};

use crate::Progress;
use crate::baseline::{FileSession, RunBaseline};
use crate::error::Error;
use crate::inputs::{Buffer, Input, Piece, Text};
use crate::options::{Limits, LintOptions};
use crate::resolve::FileSettings;

/// The number of bytes that are linted at a time, unless one file is larger.
const WINDOW: u64 = 32 << 20;
/// The number of files that are linted at a time.
const FILES_IN_WINDOW: usize = 256;

/// Lints the inputs of a run.
pub(crate) struct Linter<'r> {
    pub(crate) options: LintOptions,
    pub(crate) limits: Limits,
    pub(crate) baseline: Option<&'r RunBaseline>,
    pub(crate) progress: Progress<'r>,
}

/// The result of linting an input.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) file: FileReport,
    /// Which entries of `[[allow]]` were used.
    pub(crate) used: Vec<bool>,
    /// The new or stale baseline entries of the file.
    pub(crate) entries: Vec<Entry>,
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
        let options = settings.options().keeps_source(self.options.keep_source).max_findings(most);
        let mut text = Text::open(input, self.limits, self.progress)?;
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
        let lines = if is_all { None } else { Lines::new(&input.name, head, &options) };
        let Some(mut lines) = lines else {
            let bytes = text.rest()?;
            parts.add(lint(&input.name, &bytes, &options));
            return Ok(());
        };
        let pieces = Mutex::new(Pieces { text, taken: 0, free: Vec::new(), end: None });
        let round_size = rayon::current_num_threads() * PIECES_IN_ROUND;
        let mut too_long = TooLong::default();
        loop {
            // The thread that reads a piece also lints it, while it is in the cache.
            let lint = |_| {
                let (number, piece) = Pieces::lock(&pieces).take()?;
                let found = match piece {
                    Piece::Lines(piece) => Ok((lines.lint(&piece), piece)),
                    Piece::TooLong(bytes) => Err(bytes),
                };
                Some((number, found))
            };
            let mut round: Vec<_> =
                (0..round_size).into_par_iter().with_max_len(1).filter_map(lint).collect();
            round.sort_unstable_by_key(|(number, _)| *number);
            for (_, found) in round {
                match found {
                    Ok((found, piece)) => {
                        parts.add(lines.add(&piece, found));
                        Pieces::lock(&pieces).free.push(piece);
                    }
                    Err(bytes) => too_long.add(lines.skip_line(bytes)),
                }
            }
            if let Some(end) = Pieces::lock(&pieces).end.take() {
                parts.add(lines.end());
                return end.and_then(|()| too_long.end(self.limits.document));
            }
        }
    }
}

/// Opens a file that holds requests inside something else, as this kind if one is given; `None` if it is no such file and
/// none was given.
#[must_use]
pub fn open(bytes: &[u8], container: Option<&'static Container>, limits: Limits) -> Option<Opened> {
    let most_bytes = usize::try_from(limits.document).unwrap_or(usize::MAX);
    let opened = toolcheck_open::open_as(container, bytes, toolcheck_open::Limits::new(most_bytes));
    let Some(container) = container else { return opened };
    opened
        .filter(|opened| opened.exchanges > 0 || opened.not_built.is_some() || container.is_one(bytes))
        .or_else(|| {
            let format = || lint("", bytes, &Options::new().max_findings(0)).format;
            let other = toolcheck_open::sniff(bytes).map(|other| other.id).or_else(format);
            Some(container.not_one(other))
        })
}

/// The average number of pieces that each thread lints before the findings are put in order.
const PIECES_IN_ROUND: usize = 16;

/// The pieces of a text, handed out to threads.
struct Pieces<'p> {
    text: Text<'p>,
    /// The number of pieces taken so far.
    taken: usize,
    /// The buffers of earlier pieces, for reuse.
    free: Vec<Buffer>,
    /// The result of reading, once there are no more pieces.
    end: Option<io::Result<()>>,
}

impl<'p> Pieces<'p> {
    fn lock<'l>(pieces: &'l Mutex<Self>) -> MutexGuard<'l, Self>
    where
        'p: 'l,
    {
        // A thread that panicked has either taken a piece or not: the state is consistent.
        pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next piece, with its number.
    fn take(&mut self) -> Option<(usize, Piece)> {
        if self.end.is_some() {
            return None;
        }
        match self.text.piece(self.free.pop().unwrap_or_default()) {
            Ok(Some(piece)) => {
                self.taken += 1;
                return Some((self.taken, piece));
            }
            Ok(None) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(error)),
        }
        None
    }
}

/// The lines that were too long to be read.
#[derive(Default)]
struct TooLong {
    /// The number of the first one, from 1.
    first: Option<u64>,
    /// How many there are after the first one.
    others: usize,
}

impl TooLong {
    fn add(&mut self, line: u64) {
        match self.first {
            None => self.first = Some(line),
            Some(_) => self.others += 1,
        }
    }

    /// Fails if there was such a line. What was found in the other lines is kept.
    fn end(&self, most: u64) -> io::Result<()> {
        let Some(line) = self.first else { return Ok(()) };
        let which = match self.others {
            0 => format!("line {line} is"),
            others => format!("line {line} and {others} more are"),
        };
        let message =
            format!("{which} larger than {most} bytes and not read: raise the limit with --max-document");
        Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
    }
}

/// Combines the parts of a file's report.
struct Parts<'r> {
    file: FileReport,
    settings: &'r FileSettings,
    input: &'r Input,
    max_findings: usize,
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

    fn end(self, error: Option<Error>) -> Outcome {
        // If a file was not read to its end, its unmatched entries may not be stale.
        let session = self.session.filter(|_| error.is_none());
        let entries = session.map(|session| session.end(&self.settings.rules)).unwrap_or_default();
        Outcome { file: self.file, used: self.used, entries, error }
    }
}
