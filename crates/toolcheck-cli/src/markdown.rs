//! Prints a rule's page to a terminal. Only the parts of Markdown that the pages use are supported.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Paint};
use toolcheck_report::Style;

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
            writeln!(out, "{}", painted(heading, Paint::new().bold(), style))?;
        } else if line.is_empty() {
            writeln!(out)?;
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
            let options = textwrap::Options::new(width)
                .initial_indent(if is_below { &indent } else { bullet })
                .subsequent_indent(&indent)
                .break_words(false)
                .word_separator(textwrap::WordSeparator::AsciiSpace)
                .word_splitter(textwrap::WordSplitter::NoHyphenation);
            for line in textwrap::wrap(&paragraph, options) {
                writeln!(out, "{}", code_in(&line, style))?;
            }
        }
    }
    Ok(())
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
