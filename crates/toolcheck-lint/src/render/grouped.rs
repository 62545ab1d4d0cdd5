use std::io;

use super::{Output, Style};
use crate::excerpt::shown;
use crate::report::Report;
use crate::summary;

pub(super) static OUTPUT: Output = Output {
    id: "grouped",
    summary: "the findings of each file under its name, in columns",
    needs_source: false,
    render,
};

fn render(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in report.files.iter().filter(|file| !file.findings.is_empty()) {
        writeln!(out, "{}", shown(&file.path))?;
        let place = |line: u64, column: u64| format!("{line}:{column}");
        let places: Vec<String> =
            file.findings.iter().map(|found| place(found.start.line, found.start.column)).collect();
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or_default();
        let place = widest(&mut places.iter().map(String::len));
        let level = widest(&mut file.findings.iter().map(|found| found.level.as_str().len()));
        let rule = widest(&mut file.findings.iter().map(|found| found.rule.len()));
        for (at, found) in places.iter().zip(&file.findings) {
            let message = shown(&found.message);
            writeln!(out, "  {at:>place$}  {:level$}  {:rule$}  {message}", found.level, found.rule)?;
        }
        writeln!(out)?;
    }
    summary::close(report, style, out)
}
