//! The outputs: one file each.
//!
//! Adding an output is a file and two lines here.

mod concise;
mod full;
mod json;

use std::io;

use crate::report::Report;

/// A way to write a report.
#[derive(Debug)]
pub struct Output {
    /// The id on the command line.
    pub id: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Whether it shows the files' text, which must be kept for it.
    pub needs_source: bool,
    /// Writes a report.
    pub render: fn(&Report, &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// What the reader's screen can do.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Whether to write colours.
    pub color: bool,
    /// How many columns there are.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: 80 }
    }
}

/// All outputs, by id.
pub static ALL: &[&Output] = &[&concise::OUTPUT, &full::OUTPUT, &json::OUTPUT];

/// The output of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}
