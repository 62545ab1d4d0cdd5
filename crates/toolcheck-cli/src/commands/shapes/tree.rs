//! The objects of a request as a tree.

use std::io::{self, Write};

use anstyle::Style as Paint;
use textwrap::core::display_width;
use toolcheck_core::targets::Target;
use toolcheck_core::text::{guard, shown};
use toolcheck_report::Style;
use toolcheck_report::shapes::{Catalog, Named};

use crate::screen;

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
    add(catalog, None, 0, &mut rows);
    let width_of = |row: &Row| 2 * row.depth + display_width(&row.name);
    let column = rows.iter().map(width_of).max().unwrap_or_default() + 2;
    let is_narrow = screen::is_wrapped() && style.width < TWO_COLUMNS.max(column + 30);
    for row in rows {
        let indent = " ".repeat(2 * row.depth);
        let name = screen::painted(&row.name, Paint::new().bold(), style);
        let lines = if is_narrow {
            writeln!(out, "{indent}{name}")?;
            let lines = screen::wrapped(&row.words, &format!("{indent}    "), style);
            lines.into_iter().filter(|line| !line.trim().is_empty()).collect()
        } else {
            let padding = " ".repeat(column - width_of(&row));
            let mut lines = screen::wrapped(&row.words, &" ".repeat(column), style);
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
    let also: Vec<String> =
        target.also.keys().map(|format| format!("`--format {}`", shown(format))).collect();
    let also = if also.is_empty() {
        String::new()
    } else {
        format!(" It also accepts other formats: {}.", also.join(", "))
    };
    let legend = format!(
        "Unknown keys are reported in objects that are closed. `toolcheck shapes {id} OBJECT` shows the keys of an object.{also}"
    );
    writeln!(out)?;
    for line in screen::wrapped(&legend, "", style) {
        writeln!(out, "{}", guard(&line))?;
    }
    Ok(())
}

/// Adds the objects that are nearest to the request through this one.
fn add(catalog: &Catalog<'_>, from: Option<&str>, depth: usize, rows: &mut Vec<Row>) {
    let is_below = |object: &&Named<'_>| object.ways.first().and_then(|way| way.from()) == from;
    for object in catalog.objects.iter().filter(is_below) {
        rows.push(Row { depth, name: guard(&shown(object.name)).into_owned(), words: words(object) });
        add(catalog, Some(object.name), depth + 1, rows);
    }
}

const MOST_KINDS: usize = 8;

fn words(object: &Named<'_>) -> String {
    let way = object.ways.first().map(|way| way.words());
    let state = object.is_closed().then(|| "closed".to_owned());
    let first = object.first();
    let kinds = first.by().map(|by| {
        let values: Vec<String> = first.variants().map(|(value, _)| shown(value)).collect();
        let more = values.len().saturating_sub(MOST_KINDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let values: Vec<String> = values.into_iter().take(MOST_KINDS).collect();
        format!("by `{}`: {}{more}", shown(by), values.join(", "))
    });
    let words = [way, state, kinds].into_iter().flatten().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("; ")
}
