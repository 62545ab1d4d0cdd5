//! How far a long run has come, for whoever watches it on a terminal.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::OutputArgs;
use crate::screen;

/// A run that takes less shows nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// The progress of a run, on the standard error.
pub(crate) struct Progress {
    begin: Instant,
    /// How many bytes there are to read, as far as that is known.
    bytes: u64,
    done: AtomicU64,
    /// Whether anybody watches.
    is_wanted: bool,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// The progress of a run that reads so many bytes.
    pub(crate) fn new(args: &OutputArgs, bytes: u64) -> Self {
        // What runs unattended often has a terminal all the same.
        let is_wanted = !args.no_progress && !args.quiet && !screen::is_ci() && io::stderr().is_terminal();
        let (bar, done) = (OnceLock::new(), AtomicU64::new(0));
        Self { begin: Instant::now(), bytes, done, is_wanted, bar }
    }

    /// So many bytes more have been read.
    pub(crate) fn advance(&self, bytes: u64) {
        if !self.is_wanted {
            return;
        }
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.begin.elapsed() > PATIENCE {
            self.bar.get_or_init(|| bar(self.bytes)).set_position(done);
        }
    }

    /// Nothing of it stays on the screen.
    pub(crate) fn end(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn bar(bytes: u64) -> ProgressBar {
    let template = "{bar:30} {binary_bytes} of {binary_total_bytes}, {eta} left";
    let bar = ProgressBar::new(bytes);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
