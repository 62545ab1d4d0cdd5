use std::io;

use toolcheck_core::text::guard;

use super::{Compared, Output, full};
use crate::Style;

pub(super) static OUTPUT: Output =
    Output { id: "concise", summary: "one line per change", write, write_all: full::write_all };

fn write(compared: &Compared<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for change in &compared.report.changes {
        let before = change.before.as_ref().map(|spot| compared.before.at(spot));
        let after = change.after.as_ref().map(|spot| compared.after.at(spot));
        let places: Vec<String> = [before, after].into_iter().flatten().collect();
        let text =
            format!("{}: {}[{}] {}", places.join(" → "), change.level, change.kind, compared.message(change));
        writeln!(out, "{}", guard(&text))?;
    }
    writeln!(out, "{}", compared.summary())
}
