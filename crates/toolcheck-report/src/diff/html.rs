use std::io;

use toolcheck_core::diff::{Entry, Level, Mark, Part, PartKind, Row, SideBySide};
use toolcheck_core::text::{Counted, bounded, shown};

use super::{Compare, Compared, Output};
use crate::Style;
use crate::markup::{Escaped, start_page, write_message};

pub(super) static OUTPUT: Output =
    Output { id: "html", summary: "a self-contained web page with both sides", write, write_all };

/// The most rows of all conversations that are shown.
const MOST_ROWS: usize = 10_000;
/// The maximum number of characters of a text.
const LONGEST: usize = 500;

fn write(compared: &Compared<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut left = MOST_ROWS;
    start(&title(compared), out)?;
    page(compared, &mut left, out)?;
    writeln!(out, "</body>\n</html>")
}

fn write_all(all: &[Compared<'_>], _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    start(&Counted(all.len(), "comparison").to_string(), out)?;
    let mut left = MOST_ROWS;
    for compared in all {
        writeln!(out, "<article>")?;
        page(compared, &mut left, out)?;
        writeln!(out, "</article>")?;
    }
    writeln!(out, "</body>\n</html>")
}

fn title(compared: &Compared<'_>) -> String {
    format!("{} → {}", shown(compared.before.name), shown(compared.after.name))
}

fn start(title: &str, out: &mut dyn io::Write) -> io::Result<()> {
    start_page(&format!("{title} - toolcheck diff"), include_str!("html.css"), out)
}

/// Writes a comparison. `left` is how many rows may still be written.
fn page(compared: &Compared<'_>, left: &mut usize, out: &mut dyn io::Write) -> io::Result<()> {
    let name = |file: &Compare<'_>| {
        format!("<code>{}</code> <span class=\"quiet\">{}</span>", Escaped(&shown(file.name)), file.format)
    };
    let (before, after) = (name(&compared.before), name(&compared.after));
    writeln!(out, "<header>\n<h1>{before} → {after}</h1>")?;
    writeln!(out, "<p>{}</p>", Escaped(&Compared::kept(&compared.report.counts)))?;
    let class = compared.report.level().map_or(" clean", class_of);
    writeln!(out, "<p class=\"summary{class}\">{}</p>\n</header>\n<main>", Escaped(&compared.summary()))?;
    for (title, picture) in &compared.report.pictures {
        if let Some(title) = title.as_ref().filter(|title| !title.is_empty()) {
            writeln!(out, "<h2>{}</h2>", Escaped(&bounded(title, LONGEST)))?;
        }
        table(picture, compared, left, out)?;
    }
    writeln!(out, "</main>")
}

fn table(
    picture: &SideBySide,
    compared: &Compared<'_>,
    left: &mut usize,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    marks(&picture.beside, compared, out)?;
    if picture.entries.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<table class=\"sides\">\n<thead><tr><th scope=\"col\">before</th><th scope=\"col\">after</th></tr></thead>\n<tbody>"
    )?;
    let mut left_out = 0;
    for entry in &picture.entries {
        match entry {
            Entry::Same(count) if left_out == 0 => {
                let words = format!("{} on both sides", Counted(*count, "equal part"));
                writeln!(out, "<tr><td class=\"fold\" colspan=\"2\">{words}</td></tr>")?;
            }
            Entry::Row(row) if *left > 0 => {
                *left -= 1;
                self::row(row, compared, out)?;
            }
            Entry::Same(_) => {}
            Entry::Row(_) => left_out += 1,
        }
    }
    if left_out > 0 {
        let words = Counted(left_out, "more row");
        writeln!(out, "<tr><td class=\"fold\" colspan=\"2\">{words}</td></tr>")?;
    }
    writeln!(out, "</tbody>\n</table>")
}

fn row(row: &Row, compared: &Compared<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let class = row.marks.iter().map(|mark| mark.level).max().map_or("", class_of);
    write!(out, "<tr class=\"side{class}\">")?;
    cell(row.before.as_ref(), out)?;
    cell(row.after.as_ref(), out)?;
    writeln!(out, "</tr>")?;
    if row.marks.is_empty() {
        return Ok(());
    }
    writeln!(out, "<tr class=\"said{class}\"><td colspan=\"2\">")?;
    marks(&row.marks, compared, out)?;
    writeln!(out, "</td></tr>")
}

fn cell(part: Option<&Part>, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(part) = part else { return write!(out, "<td class=\"none\"></td>") };
    write!(
        out,
        "<td><span class=\"number\">{}</span> <span class=\"who\">{}</span> ",
        part.message, part.speaker
    )?;
    let words = match part.kind {
        PartKind::Call => Some(("→", "calls")),
        PartKind::Result => Some(("←", "result of")),
        _ => None,
    };
    if let Some((arrow, words)) = words {
        write!(out, "<span aria-hidden=\"true\">{arrow}</span><span class=\"unseen\">{words}</span> ")?;
    }
    let comma = if part.name.is_none() || part.details.is_empty() { "" } else { ", " };
    if let Some(name) = &part.name {
        write!(out, "<code class=\"tool\">{}</code>", Escaped(name))?;
    }
    write!(out, "{comma}{}", Escaped(&part.details))?;
    if let Some(id) = &part.id {
        write!(out, " <code class=\"id\">{}</code>", Escaped(id))?;
    }
    write!(out, "</td>")
}

fn marks(marks: &[Mark], compared: &Compared<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for mark in marks {
        let class = class_of(mark.level);
        write!(out, "<p class=\"finding{class}\"><strong>{}</strong> <b>{}</b> ", mark.level, mark.kind)?;
        write_message(&compared.mark(mark), LONGEST, out)?;
        writeln!(out, "</p>")?;
    }
    Ok(())
}

/// The class of a level, after another one.
fn class_of(level: Level) -> &'static str {
    match level {
        Level::Loss => " error",
        Level::Change => " warning",
        Level::Form => " form",
    }
}
