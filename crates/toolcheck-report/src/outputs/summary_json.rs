use std::io;

use toolcheck_lint::report::Report;

use super::{Output, write_json_text};
use crate::Style;

pub(super) static OUTPUT: Output = Output::new(
    "summary-json",
    "the summary as one JSON document; see schemas/summary.v1.schema.json",
    write,
)
.showing_fixes();

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_json_text(&report.summary().to_json(), out)
}
