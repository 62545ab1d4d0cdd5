//! The outputs: one file each.
//!
//! Adding an output is a file and two lines here.

mod agent;
mod concise;
mod full;
mod github;
mod gitlab;
mod grouped;
pub mod json;
mod jsonl;
mod junit;
pub(crate) mod markdown;
mod sarif;

use std::borrow::Cow;
use std::io;

use anstyle::{AnsiColor, Style as Colors};
use toolcheck_core::Level;
use toolcheck_core::text::is_hidden;
use toolcheck_lint::Report;

use crate::Style;

/// A way to write a report.
#[derive(Debug)]
#[non_exhaustive]
pub struct Output {
    /// The id on the command line.
    pub id: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Whether it needs the files' text, to show it or to know a finding again by it.
    pub needs_source: bool,
    /// Writes a report.
    pub write: fn(&Report, &Style, &mut dyn io::Write) -> io::Result<()>,
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
];

/// The output of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}

/// Writes JSON text and a line end. What hides or turns text on a screen becomes an escape, which any reader undoes:
/// people read JSON in terminals and logs too. Outside strings such a character is a line end.
///
/// # Errors
///
/// Where it cannot be written.
pub fn write_json(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let mut rest = text;
    let mut from = 0;
    // Most text is plain ASCII, which is passed over by its bytes.
    let is_suspect = |byte: &u8| *byte != b'\n' && !(b' '..=b'~').contains(byte);
    while let Some(at) = rest.as_bytes()[from..].iter().position(is_suspect) {
        let at = from + at;
        let Some(suspect) = rest[at..].chars().next() else { break };
        from = at + suspect.len_utf8();
        if is_hidden(suspect) {
            out.write_all(&rest.as_bytes()[..at])?;
            for unit in suspect.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[from..];
            from = 0;
        }
    }
    writeln!(out, "{rest}")
}

const BOLD: Colors = Colors::new().bold();
const DIM: Colors = Colors::new().dimmed();

/// The colours of a level.
fn colors_of(level: Level) -> Colors {
    match level {
        Level::Error => AnsiColor::Red.on_default().bold(),
        Level::Warning => AnsiColor::Yellow.on_default().bold(),
    }
}

/// A text in colours, where the screen has them.
fn painted<'t>(text: &'t str, colors: Colors, style: &Style) -> Cow<'t, str> {
    if style.color { Cow::Owned(format!("{colors}{text}{colors:#}")) } else { Cow::Borrowed(text) }
}

/// The path as repositories name it: relative to where the program ran, with slashes.
#[must_use]
pub fn repository_path(path: &str) -> Cow<'_, str> {
    let path = path.strip_prefix("./").unwrap_or(path);
    // Elsewhere a backslash is a letter of the name.
    if cfg!(windows) { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}
