use std::io;

use super::{BOLD, DIM, Output, colors_of, painted};
use crate::Style;
use crate::summary;
use toolcheck_core::text::{guard, line};
use toolcheck_lint::report::Report;

pub(super) static OUTPUT: Output =
    Output::new("concise", "one line per finding: path:line:column: level rule message", write)
        .showing_fixes();

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in &report.files {
        let path = line(&file.path);
        for finding in &file.findings {
            let (line, column) = (finding.spot.start.line, finding.spot.start.column);
            let path = painted(&path, BOLD, style);
            let level = painted(finding.level.as_str(), colors_of(finding.level), style);
            let rule = painted(finding.rule.as_str(), DIM, style);
            let mark = summary::mark(finding);
            writeln!(
                out,
                "{path}:{line}:{column}: {level} {rule}{mark} {}",
                guard(&finding.placed_message())
            )?;
        }
    }
    summary::close(report, style, None, out)
}
