use std::io;

use super::{Output, Style};
use crate::excerpt::shown;
use crate::report::Report;
use crate::summary;

pub(super) static OUTPUT: Output = Output {
    id: "concise",
    summary: "one line a finding: path:line:column: level rule message",
    needs_source: false,
    render,
};

fn render(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in &report.files {
        let path = shown(&file.path);
        for finding in &file.findings {
            let (line, column) = (finding.start.line, finding.start.column);
            writeln!(out, "{path}:{line}:{column}: {} {} {}", finding.level, finding.rule, finding.message)?;
        }
    }
    summary::close(report, style, out)
}
