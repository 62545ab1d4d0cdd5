//! The progress of a long run, shown on a terminal.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::OutputArgs;
use crate::screen;

/// Shorter runs show no progress.
const DELAY: Duration = Duration::from_millis(700);

/// The progress of a run, on the standard error.
pub(crate) struct Progress {
    begin: Instant,
    /// The number of bytes to read, as far as it is known.
    bytes: u64,
    done: AtomicU64,
    is_shown: bool,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// Starts the progress of a run that reads this many bytes.
    pub(crate) fn new(args: &OutputArgs, bytes: u64) -> Self {
        // CI jobs often have a terminal too.
        let is_shown = !args.no_progress && !args.quiet && !screen::is_ci() && io::stderr().is_terminal();
        let (bar, done) = (OnceLock::new(), AtomicU64::new(0));
        Self { begin: Instant::now(), bytes, done, is_shown, bar }
    }

    /// Records that this many more bytes have been read.
    pub(crate) fn advance(&self, bytes: u64) {
        if !self.is_shown {
            return;
        }
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.begin.elapsed() > DELAY {
            self.bar.get_or_init(|| bar(self.bytes)).set_position(done);
        }
    }

    /// Removes the progress from the screen.
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

/// The progress of steps that take long, on the standard error.
#[cfg(feature = "serve")]
pub(crate) struct Steps(Option<ProgressBar>);

#[cfg(feature = "serve")]
impl Steps {
    /// Starts the progress of this many steps.
    pub(crate) fn new(count: usize) -> Self {
        let is_shown = !screen::is_ci() && io::stderr().is_terminal();
        Self(is_shown.then(|| {
            let bar = ProgressBar::new(count as u64);
            match ProgressStyle::with_template("run {pos} of {len}: {wide_msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        }))
    }

    pub(crate) fn next(&self, name: &str) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
            bar.set_message(name.to_owned());
        }
    }

    /// Removes the progress from the screen.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
