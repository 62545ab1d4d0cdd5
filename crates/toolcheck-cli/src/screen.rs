//! What the reader's screen can do, and what may be shown on it.

use std::io::{self, IsTerminal};
use std::path::Path;

use toolcheck_lint::render::Style;
use toolcheck_lint::shown;

use crate::args::Color;

/// Tells something on the standard error. Whatever the message quotes, a terminal obeys none of it; a line end is one
/// that we wrote, so what may hold another one is made visible before.
pub(crate) fn tell(kind: &str, message: &str) {
    let lines: Vec<String> = message.split('\n').map(shown).collect();
    eprintln!("{kind}: {}", lines.join("\n"));
}

/// A path for a message: on one line, with what a terminal would obey made visible.
pub(crate) fn named(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The style for the standard output.
pub(crate) fn style(color: Color) -> Style {
    let is_terminal = io::stdout().is_terminal();
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            !is_set("NO_COLOR") && (is_terminal && !is_dumb || is_set("CLICOLOR_FORCE"))
        }
    };
    // Logs of CI show what a terminal takes for a link as rubbish, whatever they are told of colours.
    let has_links = color && is_terminal && !is_set("CI");
    // Who sets it wants that width in a pipe too.
    let wanted = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || is_terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| width.0);
    let width = wanted.or_else(of_terminal).map_or(Style::default().width, usize::from);
    Style { color, has_links, width, ..Style::default() }
}
