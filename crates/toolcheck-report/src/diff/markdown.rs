use std::fmt::Write as _;
use std::io;

use toolcheck_core::text::bounded;

use super::{Compared, Output, table};
use crate::Style;
use crate::outputs::markdown::{MOST, code, inline};
use crate::outputs::repository_path;

pub(super) static OUTPUT: Output = Output {
    id: "markdown",
    summary: "tables for a pull request comment or a job summary",
    write,
    write_all,
};

/// The maximum number of characters of each text.
const LONGEST: usize = 500;

fn name(name: &str) -> String {
    code(&bounded(&repository_path(name), LONGEST))
}

fn write(compared: &Compared<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let (before, after) = (&compared.before, &compared.after);
    let mut text = format!(
        "## toolcheck diff\n\n{} ({}) → {} ({})\n\n{}; {}\n",
        name(before.name),
        before.format,
        name(after.name),
        after.format,
        Compared::kept(&compared.report.counts),
        compared.summary()
    );
    if !compared.report.changes.is_empty() {
        text.push_str("\n| level | kind | before | after | what |\n| --- | --- | --- | --- | --- |\n");
    }
    let mut left_out = 0;
    for change in &compared.report.changes {
        let place = |file: &super::Compare<'_>, spot: &Option<super::Spot>| {
            spot.as_ref().map_or_else(String::new, |spot| {
                let mut cell = format!(
                    "{}:{} {}",
                    spot.position.line,
                    spot.position.column,
                    code(&bounded(&spot.name(), LONGEST))
                );
                if let Some(value) = file.value(spot) {
                    cell.push_str("<br>");
                    cell.push_str(&code(&value));
                }
                cell
            })
        };
        let row = format!(
            "| {} | {} | {} | {} | {} |\n",
            change.level,
            change.kind,
            place(before, &change.before),
            place(after, &change.after),
            inline(&bounded(&compared.message(change), LONGEST))
        );
        // Once something did not fit, nothing may follow, or the output would seem complete.
        if left_out > 0 || text.len() + row.len() > MOST {
            left_out += 1;
        } else {
            text.push_str(&row);
        }
    }
    if left_out > 0 {
        let _ = write!(text, "\n... and {left_out} more changes.\n");
    }
    out.write_all(text.as_bytes())
}

fn write_all(all: &[Compared<'_>], _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "## toolcheck diff\n")?;
    for (number, line) in table(all).into_iter().enumerate() {
        let cells: Vec<String> = line.iter().map(|cell| inline(&bounded(cell, LONGEST))).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
        if number == 0 {
            writeln!(out, "|{}", " --- |".repeat(cells.len()))?;
        }
    }
    Ok(())
}
