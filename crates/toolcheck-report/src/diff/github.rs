use std::io;

use toolcheck_core::diff::Level;
use toolcheck_core::text::{inert, shown};

use super::{Compared, Output};
use crate::Style;
use crate::outputs::github::{Data, Property};
use crate::outputs::repository_path;

pub(super) static OUTPUT: Output =
    Output { id: "github", summary: "GitHub Actions annotations", write, write_all };

/// The number of annotations per level that GitHub shows for a step; it silently drops the others.
const MOST: usize = 10;

fn write(compared: &Compared<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut left_out = 0;
    for (level, command) in [(Level::Loss, "error"), (Level::Change, "warning")] {
        let changes = compared.report.changes.iter().filter(|change| change.level == level);
        for (number, change) in changes.enumerate() {
            if number >= MOST {
                left_out += 1;
                continue;
            }
            let after = change.after.as_ref().map(|spot| (&compared.after, spot));
            let Some((file, spot)) = after.or(change.before.as_ref().map(|spot| (&compared.before, spot)))
            else {
                continue;
            };
            let path = shown(&repository_path(file.name));
            let (line, column) = (spot.position.line, spot.position.column);
            let text = format!(
                "::{command} file={},line={line},col={column},title={}::{}",
                Property(&path),
                Property(change.kind.id()),
                Data(&compared.message(change))
            );
            // On Azure Pipelines, a command inside this one would be obeyed.
            writeln!(out, "{}", inert(&text))?;
        }
    }
    // What is only a matter of form is counted.
    let is_form = compared.report.changes.iter().any(|change| change.level == Level::Form);
    if left_out > 0 || is_form {
        writeln!(out, "::notice title=toolcheck::{}", Data(&compared.summary()))?;
    }
    Ok(())
}

fn write_all(all: &[Compared<'_>], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    all.iter().try_for_each(|compared| write(compared, style, out))
}
