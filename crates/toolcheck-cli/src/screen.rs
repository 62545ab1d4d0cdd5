//! The terminal: messages, colors, links and width.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style as Paint};
use toolcheck_core::text::line;
use toolcheck_report::{Style, wrapping};

use crate::args::Color;

/// Prints a message to the standard error. Quoted text in it is not interpreted by terminals or CI runners. Line breaks
/// are the message's own: those of quoted names are already escaped.
pub(crate) fn message(kind: &str, message: &str) {
    let lines: Vec<String> = message.split('\n').map(line).collect();
    let text = format!("{kind}: {}\n", lines.join("\n"));
    // If the standard error is closed, there is nowhere to report that.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

pub(crate) fn messages(kind: &str, messages: &[impl ToString]) {
    for text in messages {
        message(kind, &text.to_string());
    }
}

/// The standard output. If it cannot be written, the command still goes on, because what it found, what else it writes and
/// its exit status do not depend on that; the first error is kept for the end.
pub(crate) struct Stdout {
    out: io::BufWriter<io::StdoutLock<'static>>,
    error: Option<io::Error>,
}

impl Stdout {
    pub(crate) fn new() -> Self {
        Self { out: io::BufWriter::new(io::stdout().lock()), error: None }
    }

    /// Writes what is left, and returns the first error.
    pub(crate) fn end(mut self) -> Option<io::Error> {
        self.try_to(Write::flush);
        self.error
    }

    fn try_to(&mut self, write: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'static>>) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(&mut self.out).err();
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.try_to(|out| out.write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.try_to(Write::flush);
        Ok(())
    }
}

/// The style for the standard output.
///
/// Colors are decided by `--color`, then `NO_COLOR` (if not empty), then `FORCE_COLOR` and `CLICOLOR_FORCE` (if not
/// empty and not `0`), and finally by whether the output is a terminal with colors.
pub(crate) fn style(color: Color) -> Style {
    let is_terminal = io::stdout().is_terminal();
    let is_on = |name| is_set(name) && std::env::var_os(name).is_some_and(|value| value != "0");
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            let is_forced = is_on("FORCE_COLOR") || is_on("CLICOLOR_FORCE");
            !is_set("NO_COLOR") && (is_terminal && !is_dumb || is_forced)
        }
    };
    // CI logs show terminal links as garbage, even if colors are forced.
    let has_links = color && is_terminal && !is_ci();
    let terminal_width =
        || is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| width.0);
    let width = columns().or_else(terminal_width).map_or(Style::new().width, usize::from);
    Style::new().color(color).has_links(has_links).width(width)
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// The width that the user has set with `COLUMNS`, also for pipes.
fn columns() -> Option<u16> {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0)
}

/// Whether this is a CI job, whose log others may read. Azure Pipelines sets `TF_BUILD` and not `CI`.
pub(crate) fn is_ci() -> bool {
    let is_on = |value: std::ffi::OsString| !value.is_empty() && !value.eq_ignore_ascii_case("false");
    ["CI", "TF_BUILD"].into_iter().filter_map(std::env::var_os).any(is_on)
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether lists are wrapped to the width of the screen, which a pipe does not have.
pub(crate) fn is_wrapped() -> bool {
    io::stdout().is_terminal() || columns().is_some()
}

/// The lines of an indented text, wrapped to the width of the screen; a single line in a pipe.
pub(crate) fn wrapped(text: &str, indent: &str, style: &Style) -> Vec<String> {
    let width = if is_wrapped() { style.width } else { usize::MAX };
    let options = wrapping(width).initial_indent(indent).subsequent_indent(indent);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

pub(crate) fn painted(text: &str, colors: Paint, style: &Style) -> String {
    if style.color && !text.is_empty() { format!("{colors}{text}{colors:#}") } else { text.to_owned() }
}

pub(crate) fn colors_of(level: &str) -> Paint {
    match level.trim() {
        "error" => AnsiColor::Red.on_default(),
        "warning" => AnsiColor::Yellow.on_default(),
        _ => Paint::new().dimmed(),
    }
}
