use std::io;

use super::{BOLD, DIM, Output, colors_of, painted};
use crate::Style;
use crate::summary;
use toolcheck_core::text::{guard, line};
use toolcheck_lint::report::Report;

pub(super) static OUTPUT: Output =
    Output::new("grouped", "findings grouped by file, in columns", write).showing_fixes();

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in report.files.iter().filter(|file| !file.findings.is_empty()) {
        writeln!(out, "{}", painted(&line(&file.path), BOLD, style))?;
        let place = |line: u64, column: u64| format!("{line}:{column}");
        let places: Vec<String> =
            file.findings.iter().map(|found| place(found.spot.start.line, found.spot.start.column)).collect();
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or_default();
        let place = widest(&mut places.iter().map(String::len));
        let level = widest(&mut file.findings.iter().map(|found| found.level.as_str().len()));
        let rule = widest(&mut file.findings.iter().map(|found| found.rule.as_str().len()));
        let has_marks = file.findings.iter().any(|found| found.fixable.is_some());
        for (at, found) in places.iter().zip(&file.findings) {
            let message = &found.placed_message();
            let (level, rule) = (format!("{:level$}", found.level), format!("{:rule$}", found.rule));
            let level = painted(&level, colors_of(found.level), style);
            let rule = painted(&rule, DIM, style);
            let mark = summary::mark(found).trim_start();
            let mark = if has_marks { format!("{mark:3}  ") } else { String::new() };
            writeln!(out, "  {at:>place$}  {level}  {rule}  {mark}{}", guard(message))?;
        }
        writeln!(out)?;
    }
    summary::close(report, style, None, out)
}
