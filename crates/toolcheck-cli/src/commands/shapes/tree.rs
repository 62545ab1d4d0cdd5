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
    /// Whether it is an object; else it names several that are listed above.
    is_object: bool,
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
    for number in 0..catalog.objects.len() {
        if !is_listed[number] {
            add(catalog, (number, None), 0, &mut is_listed, &mut rows);
        }
    }
    let width_of = |row: &Row| 2 * row.depth + display_width(&row.name);
    let column = rows.iter().map(width_of).max().unwrap_or_default() + 2;
    let is_narrow = screen::is_wrapped() && style.width < TWO_COLUMNS.max(column + 30);
    for row in rows {
        let indent = " ".repeat(2 * row.depth);
        let name = screen::painted(&row.name, Paint::new().bold(), style);
        let lines = if is_narrow && row.is_object {
            writeln!(out, "{indent}{name}")?;
            let lines = wrapped(&row.words, &format!("{indent}    "), style);
            lines.into_iter().filter(|line| !line.trim().is_empty()).collect()
        } else {
            let column = if is_narrow { width_of(&row) + 1 } else { column };
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
            writeln!(out, "{}", guard(line.trim_end()))?;
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

/// Adds an object below another, and those that it leads to which are not listed yet.
fn add(
    catalog: &Catalog<'_>,
    (number, parent): (usize, Option<&str>),
    depth: usize,
    is_listed: &mut [bool],
    rows: &mut Vec<Row>,
) {
    is_listed[number] = true;
    let object = &catalog.objects[number];
    let name = guard(&shown(object.name)).into_owned();
    rows.push(Row { depth, is_object: true, name, words: words(object, parent) });
    let leads_here = |below: &Named<'_>| below.ways.iter().any(|way| way.from() == Some(object.name));
    let others = catalog.objects.iter().enumerate().filter(|(other, _)| *other != number);
    let below: Vec<usize> = others.filter(|(_, below)| leads_here(below)).map(|(number, _)| number).collect();
    let mut above: Vec<String> = Vec::new();
    for number in below {
        if is_listed[number] {
            above.push(shown(catalog.objects[number].name));
        } else {
            add(catalog, (number, Some(object.name)), depth + 1, is_listed, rows);
        }
    }
    if !above.is_empty() {
        let words = format!("and {}, above", above.join(", "));
        rows.push(Row { depth: depth + 1, is_object: false, name: "…".to_owned(), words });
    }
}

/// A few words on an object below another.
fn words(object: &Named<'_>, parent: Option<&str>) -> String {
    let way = object.ways.iter().find(|way| way.from() == parent).map(|way| way.words());
    let state = object.is_closed().then(|| "closed".to_owned());
    let by = object.first().by().map(|by| format!("kinds by `{}`", shown(by)));
    let words = [way, state, by].into_iter().flatten().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("; ")
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
