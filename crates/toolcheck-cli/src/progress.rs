//! How far a long run has come, for whoever watches it on a terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::OutputArgs;

/// A run that takes less shows nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// The progress of a run, on the standard error.
pub(crate) struct Progress {
    begin: Instant,
    files: u64,
    done: u64,
    /// Whether anybody watches.
    is_wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(args: &OutputArgs, files: usize) -> Self {
        // What runs without people often has a terminal all the same.
        let is_ci = std::env::var_os("CI").is_some();
        let is_wanted = files > 1 && !args.no_progress && !args.quiet && !is_ci && io::stderr().is_terminal();
        Self { begin: Instant::now(), files: files as u64, done: 0, is_wanted, bar: None }
    }

    /// A file more is begun.
    pub(crate) fn next(&mut self) {
        if !self.is_wanted {
            return;
        }
        if self.bar.is_none() && self.begin.elapsed() > PATIENCE {
            let style = ProgressStyle::with_template("{bar:30} {pos} of {len} files, {eta} left");
            let bar = ProgressBar::new(self.files);
            self.bar = Some(style.map_or(bar.clone(), |style| bar.with_style(style)));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
        self.done += 1;
    }

    /// Nothing of it stays on the screen.
    pub(crate) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
