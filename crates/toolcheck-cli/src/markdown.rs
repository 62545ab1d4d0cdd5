//! Prints a page to a terminal. Only the parts of Markdown that the pages use are supported.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Paint};
use textwrap::core::display_width;
use toolcheck_core::text::guard;
use toolcheck_report::{Style, wrapping};

use crate::screen::painted;

/// The maximum width of prose: longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Writes Markdown for a terminal: headings in bold, paragraphs wrapped to the screen, code indented.
pub(crate) fn write(text: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let width = style.width.clamp(24, MAX_WIDTH);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let mut words = info.split_whitespace();
            // That it is JSON is obvious, but the wire format is not.
            let format = words.by_ref().filter(|word| *word != "json").collect::<Vec<_>>().join(", ");
            if !format.is_empty() {
                writeln!(out, "  {}", painted(&format!("{format}:"), Paint::new().italic(), style))?;
            }
            for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                write_code(line, style, out)?;
            }
        } else if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim();
            writeln!(out, "{}", painted(&guard(heading), Paint::new().bold(), style))?;
        } else if line.is_empty() {
            writeln!(out)?;
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|next| next.starts_with('|')) {
                rows.push(cells(row));
            }
            // The second row is the line below the titles.
            rows.remove(1.min(rows.len() - 1));
            write_table(&rows, width, style, out)?;
        } else {
            let (bullet, first) = match line.strip_prefix("- ") {
                Some(rest) => ("- ", rest),
                None => ("", line),
            };
            let mut paragraph = first.trim().to_owned();
            // An indented line below a list item starts a new line.
            let is_continued = |line: &&str| {
                !line.is_empty() && !["```", "#", "- ", "|", "  "].iter().any(|begin| line.starts_with(begin))
            };
            while let Some(next) = lines.next_if(|next| !line.starts_with('|') && is_continued(next)) {
                paragraph.push(' ');
                paragraph.push_str(next.trim());
            }
            let is_below = line.starts_with("  ");
            let indent = if is_below { "  ".to_owned() } else { " ".repeat(bullet.len()) };
            let options = wrapping(width)
                .initial_indent(if is_below { &indent } else { bullet })
                .subsequent_indent(&indent)
                .break_words(false);
            for line in textwrap::wrap(&paragraph, options) {
                writeln!(out, "{}", code_in(&guard(&line), style))?;
            }
        }
    }
    Ok(())
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').replace("\\|", "\u{0}");
    let row = row.strip_suffix('|').unwrap_or(&row);
    row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// The narrowest last column of a table; if the screen has less room, each row is a list.
const LAST_COLUMN: usize = 20;

/// Writes a table. The last column is wrapped, and each other as wide as its widest cell.
fn write_table(rows: &[Vec<String>], width: usize, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let titles = &rows[0];
    let is_empty =
        |column: usize| rows.iter().skip(1).all(|row| row.get(column).is_none_or(String::is_empty));
    let columns: Vec<usize> = (0..titles.len()).filter(|column| !is_empty(*column)).collect();
    let Some((last, others)) = columns.split_last() else { return Ok(()) };
    // In color, code has no backticks.
    let printed = |cell: &str| match style.color && cell.matches('`').count().is_multiple_of(2) {
        true => display_width(&cell.replace('`', "")),
        false => display_width(cell),
    };
    let width_of = |column: &usize| {
        let cells = rows.iter().filter_map(|row| row.get(*column));
        cells.map(|cell| printed(cell)).max().unwrap_or_default() + 2
    };
    let start: usize = others.iter().map(width_of).sum();
    let is_list = start + width_of(last).min(LAST_COLUMN + 2) > width + 2;
    for (number, row) in rows.iter().enumerate() {
        let cell = |column: &usize| row.get(*column).map_or("", String::as_str);
        let paint = |text: &str| match number {
            0 => painted(text, Paint::new().dimmed(), style),
            _ => code_in(&guard(text), style),
        };
        if is_list {
            if number == 0 {
                continue;
            }
            for (place, column) in columns.iter().enumerate().filter(|(_, column)| !cell(column).is_empty()) {
                let title = if place == 0 { String::new() } else { format!("{}: ", titles[*column]) };
                let indent = if place == 0 { "" } else { "    " };
                for line in wrapped(&format!("{title}{}", cell(column)), indent, width) {
                    writeln!(out, "{}", paint(&line))?;
                }
            }
            continue;
        }
        let mut head = String::new();
        for column in others {
            let padding = width_of(column) - printed(cell(column));
            head.push_str(&format!("{}{}", paint(cell(column)), " ".repeat(padding)));
        }
        let indent = " ".repeat(start);
        let lines = wrapped(cell(last), &indent, width);
        for (place, line) in lines.iter().enumerate() {
            let line = if place == 0 { format!("{head}{}", paint(line.trim_start())) } else { paint(line) };
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// The lines of an indented text; one if it is empty.
fn wrapped(text: &str, indent: &str, width: usize) -> Vec<String> {
    let options = wrapping(width).initial_indent(indent).subsequent_indent(indent).break_words(false);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

/// Writes a line of an example, with a colored mark if it is flagged.
fn write_code(line: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    match line.split_once("  <-- flagged") {
        Some((code, _)) => {
            let mark = painted("<-- flagged", AnsiColor::Red.on_default(), style);
            writeln!(out, "    {code}  {mark}")
        }
        None if line.is_empty() => writeln!(out),
        None => writeln!(out, "    {}", painted(line, Paint::new().dimmed(), style)),
    }
}

/// A line with colored code; without colors, the backticks are kept.
fn code_in(line: &str, style: &Style) -> String {
    if !style.color || line.matches('`').count() % 2 == 1 {
        return line.to_owned();
    }
    let pieces = line.split('`').enumerate().map(|(number, piece)| {
        if number % 2 == 1 { painted(piece, AnsiColor::Cyan.on_default(), style) } else { piece.to_owned() }
    });
    pieces.collect()
}
