use std::io;

use super::{Output, Style};
use crate::excerpt::shown;
use crate::markup::Escaped;
use crate::report::{FileReport, Report};

pub(super) static OUTPUT: Output = Output {
    id: "junit",
    summary: "JUnit XML: a test suite a file, a failed test case a finding",
    needs_source: false,
    render,
};

fn render(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let failures: usize = report.files.iter().map(|file| file.findings.len()).sum();
    let tests: usize = report.files.iter().map(tests).sum();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"toolcheck\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">")?;
    for file in &report.files {
        suite(file, out)?;
    }
    writeln!(out, "</testsuites>")
}

/// A file without findings is one test, which passes.
fn tests(file: &FileReport) -> usize {
    file.findings.len().max(1)
}

fn suite(file: &FileReport, out: &mut dyn io::Write) -> io::Result<()> {
    let path = shown(&file.path);
    let name = Escaped(&path);
    let (tests, failures) = (tests(file), file.findings.len());
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">"
    )?;
    if file.findings.is_empty() {
        writeln!(out, "    <testcase name=\"no findings\" classname=\"{name}\"/>")?;
    }
    for finding in &file.findings {
        let (line, column) = (finding.start.line, finding.start.column);
        // The place keeps names apart: readers of these files take equal ones for one test.
        writeln!(
            out,
            "    <testcase name=\"{} at {line}:{column}\" classname=\"{name}\" file=\"{name}\" line=\"{line}\">",
            finding.rule
        )?;
        let message = shown(&finding.message);
        write!(
            out,
            "      <failure type=\"{}\" message=\"{}\">{name}:{line}:{column}",
            finding.level,
            Escaped(&message)
        )?;
        if !finding.pointer.is_empty() {
            write!(out, " {}", Escaped(&shown(&finding.pointer)))?;
        }
        let said = finding.said(file.target.as_deref());
        let help = finding.help.as_ref().map(|help| format!("help: {}", shown(help)));
        for line in [Some(message), said, help].into_iter().flatten() {
            write!(out, "\n{}", Escaped(&line))?;
        }
        writeln!(out, "</failure>\n    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}
