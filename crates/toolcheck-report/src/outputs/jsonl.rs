use std::io;

use super::json::finding_v1;
use super::{Output, write_json_line};
use crate::Style;
use toolcheck_lint::report::Report;

pub(super) static OUTPUT: Output = Output {
    id: "jsonl",
    summary: "one JSON object per line and finding, with the same keys as in json",
    needs_source: false,
    shows_fixes: true,
    write,
};

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in &report.files {
        for found in &file.findings {
            write_json_line(&finding_v1(file, found), out)?;
        }
    }
    Ok(())
}
