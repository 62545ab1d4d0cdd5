//! The linting of inputs: side by side where there are several, and a long one in pieces.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use rayon::prelude::*;
use toolcheck_config::allow;
use toolcheck_config::baseline::Entry;
use toolcheck_lint::{FileReport, Lines, RECORDS_OF_HEAD, lint};

use crate::baseline::{RunBaseline, Session};
use crate::inputs::{Buffer, Input, Source, Text};
use crate::progress::Progress;
use crate::settle::Settled;

/// How many bytes of files are read at a time, unless one file has more.
const WINDOW: u64 = 32 << 20;
/// How many files are read at a time.
const FILES_IN_WINDOW: usize = 256;

/// What holds for all inputs of a run.
pub(crate) struct Linting<'r> {
    /// Whether the texts that findings speak of are needed.
    pub(crate) needs_source: bool,
    /// How many findings of a file are kept.
    pub(crate) most_findings: usize,
    /// How many bytes a compressed input may become.
    pub(crate) most_unpacked: u64,
    pub(crate) baseline: Option<&'r RunBaseline<'r>>,
    pub(crate) progress: &'r Progress,
}

/// What came of an input.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) file: FileReport,
    /// Which entries of `[[allow]]` were used.
    pub(crate) used: Vec<bool>,
    /// What the baseline is to know of the file, or what of it is stale; nothing where there is none.
    pub(crate) entries: Vec<Entry>,
    /// What went wrong. What was found before that counts.
    pub(crate) trouble: Option<String>,
}

/// The size of an input, as far as it is known.
pub(crate) fn size(input: &Input) -> u64 {
    match &input.source {
        Source::Stdin => 0,
        Source::File(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
    }
}

/// Splits the inputs into windows that are linted one after the other: what is found in one is put in order before the
/// next is read, so that memory does not grow with their number.
pub(crate) fn windows<'i, 'a>(mut inputs: &'a [(&'i Input, Settled)]) -> Vec<&'a [(&'i Input, Settled)]> {
    let mut windows = Vec::new();
    while !inputs.is_empty() {
        let (mut bytes, mut count) = (0, 0);
        for (input, _) in inputs.iter().take(FILES_IN_WINDOW) {
            bytes += size(input);
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

impl Linting<'_> {
    /// Lints the inputs of a window, in their order whatever the number of threads.
    pub(crate) fn lint_all(&self, inputs: &[(&Input, Settled)]) -> Vec<Outcome> {
        match inputs {
            [(input, settled)] => vec![self.lint(input, settled)],
            _ => inputs.par_iter().map(|(input, settled)| self.lint(input, settled)).collect(),
        }
    }

    fn lint(&self, input: &Input, settled: &Settled) -> Outcome {
        let mut parts = Parts::new(self, input, settled);
        let trouble = self.lint_parts(input, settled, &mut parts).err();
        parts.end(trouble.map(|error| format!("{}: {error}", input.name)))
    }

    fn lint_parts(&self, input: &Input, settled: &Settled, parts: &mut Parts<'_>) -> io::Result<()> {
        let options = settled.options().keeps_source(self.needs_source);
        let mut text = Text::open(input, self.most_unpacked, self.progress)?;
        let (head, is_all) = text.head(RECORDS_OF_HEAD)?;
        let lines = if is_all { None } else { Lines::new(&input.name, head, &options) };
        let Some(mut lines) = lines else {
            let bytes = text.rest()?;
            parts.add(lint(&input.name, &bytes, &options));
            return Ok(());
        };
        let pieces = Mutex::new(Pieces { text, taken: 0, free: Vec::new(), end: None });
        let in_a_round = rayon::current_num_threads() * PIECES_IN_ROUND;
        loop {
            // Whoever has read a piece lints it, while it is near.
            let lint = |_| {
                let (number, piece) = Pieces::lock(&pieces).take()?;
                Some((number, lines.lint(&piece), piece))
            };
            let mut round: Vec<_> =
                (0..in_a_round).into_par_iter().with_max_len(1).filter_map(lint).collect();
            round.sort_unstable_by_key(|(number, ..)| *number);
            for (_, found, piece) in round {
                parts.add(lines.add(&piece, found));
                Pieces::lock(&pieces).free.push(piece);
            }
            if let Some(end) = Pieces::lock(&pieces).end.take() {
                return end;
            }
        }
    }
}

/// How many pieces each thread lints, on average, before what was found is put in order.
const PIECES_IN_ROUND: usize = 16;

/// The pieces of a text, for whoever is free to lint one.
struct Pieces<'p> {
    text: Text<'p>,
    /// How many were taken.
    taken: usize,
    /// The room that earlier ones have left.
    free: Vec<Buffer>,
    /// Whether there are no more, and how that came.
    end: Option<io::Result<()>>,
}

impl<'p> Pieces<'p> {
    fn lock<'l>(pieces: &'l Mutex<Self>) -> MutexGuard<'l, Self>
    where
        'p: 'l,
    {
        // Whoever panicked has taken a piece or has not: what is there is whole.
        pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece, and its number.
    fn take(&mut self) -> Option<(usize, Buffer)> {
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

/// The parts of a file's report, put together.
struct Parts<'r> {
    file: FileReport,
    settled: &'r Settled,
    input: &'r Input,
    most_findings: usize,
    used: Vec<bool>,
    session: Option<Session<'r>>,
}

impl<'r> Parts<'r> {
    fn new(linting: &'r Linting<'r>, input: &'r Input, settled: &'r Settled) -> Self {
        Self {
            file: FileReport::empty(&input.name, settled.kind),
            settled,
            input,
            most_findings: linting.most_findings,
            used: vec![false; settled.loaded.config.allows.len()],
            session: linting.baseline.map(|baseline| baseline.session(&input.real)),
        }
    }

    fn add(&mut self, mut part: FileReport) {
        let used = allow::apply(&self.settled.loaded.config.allows, &self.input.real, &mut part);
        self.used.iter_mut().zip(used).for_each(|(any, used)| *any |= used);
        if let Some(session) = &mut self.session {
            session.apply(&mut part);
        }
        self.file.add(part, self.most_findings);
    }

    fn end(self, trouble: Option<String>) -> Outcome {
        // What could not be read to its end tells nothing of what is gone.
        let session = self.session.filter(|_| trouble.is_none());
        let entries = session.map(|session| session.end(&self.settled.rules)).unwrap_or_default();
        Outcome { file: self.file, used: self.used, entries, trouble }
    }
}
