//! The outputs: one file each.
//!
//! To add an output, add a file and two lines here.

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
use toolcheck_core::text::{hash_commands, is_hidden};
use toolcheck_lint::Report;

use crate::Style;

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

/// The output with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}

/// Writes JSON text and a line end. Characters that hide or reorder text on a screen are escaped, and one of each command
/// for a CI runner, since people read JSON in terminals and logs too; a JSON parser reads them back unchanged. Outside
/// strings such a character is a line end.
///
/// # Errors
///
/// Returns an error if the text cannot be written.
pub fn write_json(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    // Outside strings JSON has no `#`.
    let mut from = 0;
    for at in hash_commands(text) {
        write_visible(&text[from..at], out)?;
        out.write_all(b"\\u0023")?;
        from = at + 1;
    }
    write_visible(&text[from..], out)?;
    writeln!(out)
}

/// Writes a part of a JSON text with its hidden characters escaped.
fn write_visible(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let mut rest = text;
    let mut from = 0;
    // Most text is plain ASCII, which can be checked by its bytes.
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
    out.write_all(rest.as_bytes())
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

/// The text in colours, if the terminal supports them.
fn painted<'t>(text: &'t str, colors: Colors, style: &Style) -> Cow<'t, str> {
    if style.color { Cow::Owned(format!("{colors}{text}{colors:#}")) } else { Cow::Borrowed(text) }
}

/// The path as it is written in a repository: relative to the current directory, with slashes.
#[must_use]
pub fn repository_path(path: &str) -> Cow<'_, str> {
    let path = path.strip_prefix("./").unwrap_or(path);
    // On other systems a backslash is part of the name.
    if cfg!(windows) { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}
