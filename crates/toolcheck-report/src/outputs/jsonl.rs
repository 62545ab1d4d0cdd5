use std::io;

use super::json::finding_v1;
use super::{Output, write_json_line};
use crate::Style;
use toolcheck_lint::report::Report;

pub(super) static OUTPUT: Output =
    Output::new("jsonl", "one JSON object per line and finding, with the same keys as in json", write)
        .showing_fixes();

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in &report.files {
        for found in &file.findings {
            write_json_line(&finding_v1(file, found), out)?;
        }
    }
    Ok(())
}
