//! The linting of inputs: side by side where there are several, and a long one in pieces.

use std::fs;

use rayon::prelude::*;
use toolcheck_lint::baseline::Entry;
use toolcheck_lint::{FileReport, Lines, RECORDS_OF_HEAD, allow, lint};

use crate::baseline::{RunBaseline, Session};
use crate::inputs::{Input, Source, Text};
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

    fn lint_parts(&self, input: &Input, settled: &Settled, parts: &mut Parts<'_>) -> std::io::Result<()> {
        let options = settled.options();
        let mut text = Text::open(input, self.most_unpacked, self.progress)?;
        let (head, is_all) = text.head(RECORDS_OF_HEAD)?;
        let lines = if is_all { None } else { Lines::new(&input.name, head, &options, self.needs_source) };
        let Some(mut lines) = lines else {
            let bytes = text.rest()?;
            let mut file = lint(&input.name, &bytes, &options);
            if self.needs_source && !file.findings.is_empty() {
                file.source = bytes.into();
            }
            parts.add(file);
            return Ok(());
        };
        // Some more than there are threads, so that none waits for the slowest.
        let at_a_time = rayon::current_num_threads() * 4;
        loop {
            let mut pieces = Vec::new();
            let mut trouble = None;
            while pieces.len() < at_a_time {
                match text.piece() {
                    Ok(Some(piece)) => pieces.push(piece),
                    Ok(None) => break,
                    Err(error) => {
                        trouble = Some(error);
                        break;
                    }
                }
            }
            if pieces.is_empty() && trouble.is_none() {
                return Ok(());
            }
            let found: Vec<_> = pieces.par_iter().map(|piece| lines.lint(piece)).collect();
            for (piece, found) in pieces.iter().zip(found) {
                parts.add(lines.add(piece, found));
            }
            if let Some(error) = trouble {
                return Err(error);
            }
        }
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
