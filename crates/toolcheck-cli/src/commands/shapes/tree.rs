//! The objects of a request as a tree.

use std::io::{self, Write};

use anstyle::Style as Paint;
use textwrap::core::display_width;
use toolcheck_core::target::Target;
use toolcheck_core::text::{guard, shown};
use toolcheck_report::Style;

use super::catalog::{Catalog, Named};
use crate::screen;

/// A line of the tree.
struct Row {
    depth: usize,
    name: String,
    words: String,
}

/// The minimum screen width to show an object's words beside its name instead of below it.
const TWO_COLUMNS: usize = 90;

pub(super) fn write(
    target: &Target,
    catalog: &Catalog<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = Vec::new();
    let mut is_listed = vec![false; catalog.objects.len()];
    add(catalog, 0, 0, &mut is_listed, &mut rows);
    for number in 0..catalog.objects.len() {
        add(catalog, number, 0, &mut is_listed, &mut rows);
    }
    let width_of = |row: &Row| 2 * row.depth + display_width(&row.name);
    let column = rows.iter().map(width_of).max().unwrap_or_default() + 2;
    let is_narrow = screen::is_wrapped() && style.width < TWO_COLUMNS.max(column + 30);
    for row in rows {
        let indent = " ".repeat(2 * row.depth);
        let name = screen::painted(&row.name, Paint::new().bold(), style);
        let lines = if is_narrow {
            writeln!(out, "{indent}{name}")?;
            wrapped(&row.words, &format!("{indent}    "), style)
        } else {
            let padding = " ".repeat(column - width_of(&row));
            let mut lines = wrapped(&row.words, &" ".repeat(column), style);
            let first =
                lines.first_mut().map(|first| format!("{indent}{name}{padding}{}", first.trim_start()));
            if let (Some(first), Some(line)) = (first, lines.first_mut()) {
                *line = first;
            }
            lines
        };
        for line in lines {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    let id = shown(&target.id);
    let legend = format!(
        "Unknown keys are reported in objects that are closed. `toolcheck shapes {id} OBJECT` shows the keys of an object."
    );
    writeln!(out)?;
    for line in wrapped(&legend, "", style) {
        writeln!(out, "{}", guard(&line))?;
    }
    Ok(())
}

/// Adds an object, and those that it leads to which are not listed yet.
fn add(catalog: &Catalog<'_>, number: usize, depth: usize, is_listed: &mut [bool], rows: &mut Vec<Row>) {
    if std::mem::replace(&mut is_listed[number], true) {
        return;
    }
    let object = &catalog.objects[number];
    rows.push(Row { depth, name: guard(&shown(object.name)).into_owned(), words: words(object) });
    let leads_here = |below: &Named<'_>| below.ways.iter().any(|way| way.from() == Some(object.name));
    let (mut again, mut first) = (Vec::new(), Vec::new());
    for (number, below) in catalog.objects.iter().enumerate().filter(|(_, below)| leads_here(below)) {
        if is_listed[number] { again.push(shown(below.name)) } else { first.push(number) }
    }
    for number in first {
        add(catalog, number, depth + 1, is_listed, rows);
    }
    if !again.is_empty() {
        rows.push(Row {
            depth: depth + 1,
            name: "…".to_owned(),
            words: format!("and {}, above", again.join(", ")),
        });
    }
}

/// A few words on an object.
fn words(object: &Named<'_>) -> String {
    let way = object.ways.first().map(|way| way.words()).unwrap_or_default();
    let state = if object.is_closed() { "closed" } else { "" };
    let by = object.first().by().map(|by| format!("kinds by `{}`", shown(by)));
    let words: Vec<String> =
        [way, state.to_owned(), by.unwrap_or_default()].into_iter().filter(|word| !word.is_empty()).collect();
    words.join("; ")
}

/// The lines of an indented text, wrapped to the width of the screen; a single line in a pipe.
fn wrapped(text: &str, indent: &str, style: &Style) -> Vec<String> {
    let width = if screen::is_wrapped() { style.width } else { usize::MAX };
    let options = textwrap::Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}
