use std::io;

use anstyle::{AnsiColor, Style as Colors};
use toolcheck_core::diff::Level;
use toolcheck_core::text::{guard, shown};

use super::{Compared, Output, table};
use crate::Style;

pub(super) static OUTPUT: Output =
    Output { id: "full", summary: "each change with its places, and totals", write, write_all };

pub(super) fn colors_of(level: Level) -> Colors {
    match level {
        Level::Loss => AnsiColor::Red.on_default().bold(),
        Level::Change => AnsiColor::Yellow.on_default().bold(),
        Level::Form => Colors::new().dimmed(),
    }
}

fn write(compared: &Compared<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let (before, after) = (&compared.before, &compared.after);
    let names =
        format!("{} ({}) → {} ({})", shown(before.name), before.format, shown(after.name), after.format);
    writeln!(out, "{}", guard(&names))?;
    writeln!(out, "{}\n", Compared::kept(&compared.report.counts))?;
    for change in &compared.report.changes {
        let head = format!("{}[{}]", change.level, change.kind);
        let colors = colors_of(change.level);
        let head = if style.color { format!("{colors}{head}{colors:#}") } else { head };
        writeln!(out, "{head}: {}", compared.message(change))?;
        for (word, file, spot) in [("before", before, &change.before), ("after", after, &change.after)] {
            let Some(spot) = spot else { continue };
            writeln!(out, "  {word:6}  {}  {}", file.at(spot), shown(&spot.name()))?;
            if let Some(value) = file.value(spot) {
                writeln!(out, "          {value}")?;
            }
        }
    }
    if !compared.report.changes.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "{}", compared.summary())
}

pub(super) fn write_all(all: &[Compared<'_>], _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let lines = table(all);
    let columns = lines.first().map_or(0, Vec::len);
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for line in &lines {
        let mut text = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Numbers are on the right of their column, and names on the left.
            let cell = if column < 7 { format!("{cell:>width$}") } else { format!("{cell:width$}") };
            text.push_str(&cell);
            text.push_str("  ");
        }
        writeln!(out, "{}", guard(text.trim_end()))?;
    }
    Ok(())
}
