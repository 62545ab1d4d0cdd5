use std::io;

use super::Output;
use crate::Style;
use crate::junit_xml::{Case, Counts, Outcome, Writer};
use toolcheck_core::text::{Line, guard, shown};
use toolcheck_lint::report::{FileReport, Report};

pub(super) static OUTPUT: Output =
    Output::new("junit", "JUnit XML: a test suite per file, a failed test case per finding", write);

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let failures: usize = report.files.iter().map(|file| file.findings.len()).sum();
    let tests: usize = report.files.iter().map(tests).sum();
    let mut xml = Writer::begin("toolcheck", Counts { tests, failures, ..Counts::default() }, out)?;
    for file in &report.files {
        suite(file, &mut xml)?;
    }
    xml.end()
}

/// A file without findings is one test, which passes.
fn tests(file: &FileReport) -> usize {
    file.findings.len().max(1)
}

fn suite(file: &FileReport, xml: &mut Writer<'_>) -> io::Result<()> {
    let path = shown(&file.path);
    xml.begin_suite(
        &path,
        Counts { tests: tests(file), failures: file.findings.len(), ..Counts::default() },
    )?;
    if file.findings.is_empty() {
        let outcome = Outcome::Passed;
        xml.case(&Case { name: "no findings", class: &path, file: None, line: None, outcome })?;
    }
    for finding in &file.findings {
        let (line, column) = (finding.spot.start.line, finding.spot.start.column);
        let message = &finding.message;
        let mut text = guard(&format!("{path}:{line}:{column}")).into_owned();
        let name = finding.spot.name();
        if !name.is_empty() {
            text.push(' ');
            text.push_str(&shown(&name));
        }
        let answer = finding.provider_sentence();
        let help = finding.help.as_ref().map(|help| Line::from(format!("help: {help}")));
        for line in [Some(message), answer.as_ref(), help.as_ref()].into_iter().flatten() {
            text.push('\n');
            text.push_str(&guard(line));
        }
        xml.case(&Case {
            // The place makes the name unique: readers merge tests of the same name.
            name: &format!("{} at {line}:{column}", finding.rule),
            class: &path,
            file: Some(&path),
            line: Some(line),
            outcome: Outcome::Failed { kind: finding.level.as_str(), message, text: &text },
        })?;
    }
    xml.end_suite()
}
