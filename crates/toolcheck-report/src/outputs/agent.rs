use std::io;

use super::Output;
use crate::Style;
use crate::summary;
use toolcheck_core::text::{bounded, line};
use toolcheck_lint::report::Report;

pub(super) static OUTPUT: Output = Output::new(
    "agent",
    "for coding agents: one line per finding, with its pointer, the fix and what the provider answers",
    write,
)
.showing_fixes();

/// The maximum number of characters of each part of a line: an agent pays for what it reads.
const LONGEST: usize = 300;

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for file in &report.files {
        let path = bounded(&line(&file.path), LONGEST);
        for finding in &file.findings {
            let (line, column) = (finding.spot.start.line, finding.spot.start.column);
            write!(out, "{path}:{line}:{column}")?;
            // The root has the empty pointer.
            let name = finding.spot.name();
            if !name.is_empty() {
                write!(out, " {}", bounded(&name, LONGEST))?;
            }
            let message = bounded(&finding.message, LONGEST);
            write!(out, " {} {}: {message}.", finding.rule, finding.level)?;
            if let Some(help) = &finding.help {
                write!(out, " Do: {}.", bounded(help, LONGEST).trim_end_matches('.'))?;
            }
            if let Some(answer) = finding.provider_sentence() {
                write!(out, " Because: {}.", bounded(&answer, 2 * LONGEST).trim_end_matches('.'))?;
            }
            writeln!(out)?;
        }
    }
    summary::close(report, style, None, out)
}
