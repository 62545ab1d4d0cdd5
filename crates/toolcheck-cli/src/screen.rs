//! What the reader's screen can do.

use std::io::{self, IsTerminal};

use toolcheck_lint::render::Style;

use crate::args::Color;

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
    let width = is_terminal.then(terminal_size::terminal_size).flatten();
    let width = width.map_or(Style::default().width, |(width, _)| usize::from(width.0));
    Style { color, has_links, width, ..Style::default() }
}
