//! The outputs: one file each.
//!
//! To add an output, add a file and two lines here.

mod agent;
mod concise;
pub(crate) mod full;
pub(crate) mod github;
mod gitlab;
mod grouped;
pub mod json;
mod jsonl;
mod junit;
pub(crate) mod markdown;
mod sarif;
mod summary;
mod summary_json;

use std::borrow::Cow;
use std::io;

use anstyle::{AnsiColor, Style as Colors};
use toolcheck_core::Level;
use toolcheck_lint::Report;

use crate::Style;
pub use crate::json_text::{write_json, write_json_line, write_json_text};

/// A way to write a report.
#[derive(Debug)]
#[non_exhaustive]
pub struct Output {
    /// The id on the command line.
    pub id: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Whether it needs the files' text, for excerpts.
    pub needs_source: bool,
    /// Whether it shows how findings are fixed.
    pub shows_fixes: bool,
    /// Writes a report.
    pub write: Write,
}

type Write = fn(&Report, &Style, &mut dyn io::Write) -> io::Result<()>;

impl Output {
    const fn new(id: &'static str, summary: &'static str, write: Write) -> Self {
        Self { id, summary, needs_source: false, shows_fixes: false, write }
    }

    const fn needing_source(self) -> Self {
        Self { needs_source: true, ..self }
    }

    const fn showing_fixes(self) -> Self {
        Self { shows_fixes: true, ..self }
    }

    /// Whether it only needs [`Report::summary`], for which no finding has to be kept.
    pub fn only_counts(&self) -> bool {
        [summary::OUTPUT.id, summary_json::OUTPUT.id].contains(&self.id)
    }
}

/// All outputs, by id.
pub static ALL: &[&Output] = &[
    &agent::OUTPUT,
    &concise::OUTPUT,
    &full::OUTPUT,
    &github::OUTPUT,
    &gitlab::OUTPUT,
    &grouped::OUTPUT,
    &json::OUTPUT,
    &jsonl::OUTPUT,
    &junit::OUTPUT,
    &markdown::OUTPUT,
    &sarif::OUTPUT,
    &summary::OUTPUT,
    &summary_json::OUTPUT,
];

/// The output with this id.
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}

pub(crate) const BOLD: Colors = Colors::new().bold();
pub(crate) const DIM: Colors = Colors::new().dimmed();

pub(crate) fn colors_of(level: Level) -> Colors {
    label_colors_of(level).bold()
}

pub(crate) fn label_colors_of(level: Level) -> Colors {
    match level {
        Level::Error => AnsiColor::Red.on_default(),
        Level::Warning => AnsiColor::Yellow.on_default(),
    }
}

fn painted<'t>(text: &'t str, colors: Colors, style: &Style) -> Cow<'t, str> {
    if style.color { Cow::Owned(format!("{colors}{text}{colors:#}")) } else { Cow::Borrowed(text) }
}

/// The path as it is written in a repository: relative to the current directory, with slashes.
pub fn repository_path(path: &str) -> Cow<'_, str> {
    let path = path.strip_prefix("./").unwrap_or(path);
    // On other systems a backslash is part of the name.
    if cfg!(windows) { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}
