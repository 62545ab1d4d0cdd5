use std::io;

use toolcheck_lint::report::Report;

use super::{Output, write_json_text};
use crate::Style;

pub(super) static OUTPUT: Output = Output {
    id: "summary-json",
    summary: "the summary as one JSON document; see schemas/summary.v1.schema.json",
    needs_source: false,
    shows_fixes: true,
    write,
};

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_json_text(&report.summary().to_json(), out)
}
