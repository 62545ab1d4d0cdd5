use std::io;

use anstyle::Style as Colors;
use toolcheck_core::diff::{Entry, Mark, Part, PartKind, Row, SideBySide};
use toolcheck_core::text::{Counted, guard, shown};
use unicode_width::UnicodeWidthStr;

use super::full::{colors_of, write_all};
use super::{Compared, Output};
use crate::Style;
use crate::show::outputs::text::cut;

pub(super) static OUTPUT: Output = Output {
    id: "picture",
    summary: "both sides in rows, with what changed marked, for the terminal",
    write,
    write_all,
};

/// The minimum and maximum width of the output, in columns.
const WIDTHS: (usize, usize) = (32, 160);
/// The width from which on both sides are next to each other.
const WIDE: usize = 100;
/// The most rows of all conversations that are shown.
const MOST_ROWS: usize = 2_000;
/// The column in which what is said of a row begins.
const INDENT: usize = 6;

const PLAIN: Colors = Colors::new();
const DIM: Colors = PLAIN.dimmed();

fn write(compared: &Compared<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let width = style.width.clamp(WIDTHS.0, WIDTHS.1);
    let (before, after) = (&compared.before, &compared.after);
    let mut pen = Pen { out, is_colored: style.color, width, left: MOST_ROWS, compared };
    for (sign, file) in [("- ", before), ("+ ", after)] {
        pen.line(&[(sign, DIM), (&format!("{} ({})", shown(file.name), file.format), PLAIN)])?;
    }
    pen.wrapped(&Compared::kept(&compared.report.counts), 0, PLAIN)?;
    for (title, picture) in &compared.report.pictures {
        pen.line(&[])?;
        if let Some(title) = title.as_ref().filter(|title| !title.is_empty()) {
            pen.line(&[(&shown(title), PLAIN.bold())])?;
        }
        pen.picture(picture)?;
    }
    pen.line(&[])?;
    pen.wrapped(&compared.summary(), 0, PLAIN)
}

/// Writes lines of a bounded width.
struct Pen<'o> {
    compared: &'o Compared<'o>,
    out: &'o mut dyn io::Write,
    is_colored: bool,
    width: usize,
    /// The number of rows that may still be written.
    left: usize,
}

struct Columns {
    number: usize,
    speaker: usize,
}

impl Pen<'_> {
    fn line(&mut self, pieces: &[(&str, Colors)]) -> io::Result<()> {
        let (mut line, mut used) = (String::new(), 0);
        for (text, colors) in pieces {
            let text = cut(text, self.width - used);
            used += text.width();
            if self.is_colored && *colors != PLAIN && !text.trim().is_empty() {
                line.push_str(&format!("{colors}{text}{colors:#}"));
            } else {
                line.push_str(&text);
            }
        }
        writeln!(self.out, "{}", guard(line.trim_end()))
    }

    fn wrapped(&mut self, text: &str, indent: usize, colors: Colors) -> io::Result<()> {
        let space = " ".repeat(indent);
        for line in textwrap::wrap(text, self.width - indent) {
            self.line(&[(&space, PLAIN), (&line, colors)])?;
        }
        Ok(())
    }

    fn picture(&mut self, picture: &SideBySide) -> io::Result<()> {
        self.marks(&picture.beside)?;
        let rows = || {
            picture.entries.iter().filter_map(|entry| match entry {
                Entry::Row(row) => Some(&**row),
                Entry::Same(_) => None,
            })
        };
        let parts = || rows().flat_map(|row| [&row.before, &row.after]).flatten();
        let columns = Columns {
            number: parts().map(|part| part.message.to_string().len()).max().unwrap_or_default(),
            speaker: parts().map(|part| part.speaker.len()).max().unwrap_or_default(),
        };
        for (number, entry) in picture.entries.iter().enumerate() {
            match entry {
                Entry::Same(count) => {
                    let words = format!("  ⋮ {} on both sides", Counted(*count, "equal part"));
                    self.line(&[(&words, DIM)])?;
                }
                Entry::Row(_) if self.left == 0 => {
                    let rest = rows().count() - rows_before(&picture.entries[..number]);
                    return self.line(&[(&format!("  ⋮ {}", Counted(rest, "more row")), DIM)]);
                }
                Entry::Row(row) => {
                    self.left -= 1;
                    self.row(row, &columns)?;
                }
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &Row, columns: &Columns) -> io::Result<()> {
        let colors = row.marks.iter().map(|mark| mark.level).max().map_or(PLAIN, colors_of);
        if self.width >= WIDE {
            let half = (self.width - 5) / 2;
            let cell = |part: &Option<Part>| {
                let text = part.as_ref().map(|part| columns.cell(part, half)).unwrap_or_default();
                let space = " ".repeat(half - text.width());
                text + &space
            };
            let sign = sign_of(row);
            let (before, after) = (cell(&row.before), cell(&row.after));
            self.line(&[(sign, colors), (&before, colors), (" │ ", DIM), (&after, colors)])?;
        } else {
            let width = self.width - 2;
            match (&row.before, &row.after) {
                (Some(before), Some(after)) if !row.marks.is_empty() && !is_alike(before, after) => {
                    self.line(&[("- ", colors), (&columns.cell(before, width), colors)])?;
                    self.line(&[("+ ", colors), (&columns.cell(after, width), colors)])?;
                }
                (Some(part), _) | (None, Some(part)) => {
                    self.line(&[(sign_of(row), colors), (&columns.cell(part, width), colors)])?;
                }
                (None, None) => {}
            }
        }
        self.marks(&row.marks)
    }

    fn marks(&mut self, marks: &[Mark]) -> io::Result<()> {
        for mark in marks {
            let text = format!("{}[{}]: {}", mark.level, mark.kind, self.compared.mark(mark));
            self.wrapped(&text, INDENT, colors_of(mark.level))?;
        }
        Ok(())
    }
}

impl Columns {
    /// A part in so many columns. The id is only there if it fits.
    fn cell(&self, part: &Part, width: usize) -> String {
        let (number, speaker) = (self.number, self.speaker);
        let arrow = match part.kind {
            PartKind::Call => "→ ",
            PartKind::Result => "← ",
            _ => "",
        };
        let (name, details) = (part.name.as_deref().unwrap_or_default(), &*part.details);
        let comma = if name.is_empty() || details.is_empty() { "" } else { ", " };
        let text =
            format!("{:>number$} {:speaker$} {arrow}{name}{comma}{details}", part.message, part.speaker);
        let id = part.id.as_ref().map(|id| format!("{text}  {id}"));
        id.filter(|text| text.width() <= width).unwrap_or_else(|| cut(&text, width).into_owned())
    }
}

/// Whether two parts look the same but for the number of their message.
fn is_alike(before: &Part, after: &Part) -> bool {
    (before.speaker, &before.name, &before.id, &before.details)
        == (after.speaker, &after.name, &after.id, &after.details)
}

fn rows_before(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Row(_))).count()
}

fn sign_of(row: &Row) -> &'static str {
    match (&row.before, &row.after) {
        (Some(_), None) => "- ",
        (None, Some(_)) => "+ ",
        _ if row.marks.is_empty() => "  ",
        _ => "~ ",
    }
}
