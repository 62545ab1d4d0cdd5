use std::fmt::{self, Write as _};
use std::io;

use toolcheck_core::Level;

use super::{Output, repository_path};
use crate::Style;
use crate::summary::Summary;
use toolcheck_core::text::{Counted, Line, inert, shown};
use toolcheck_lint::Finding;
use toolcheck_lint::report::{FileReport, Report};

pub(super) static OUTPUT: Output = Output::new("github", "GitHub Actions annotations", write);

/// The number of annotations per level that GitHub shows for a step; it silently drops the others.
const MOST: usize = 10;

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    for level in [Level::Error, Level::Warning] {
        let all = report.files.iter().flat_map(|file| file.findings.iter().map(move |found| (file, found)));
        for (file, finding) in all.filter(|(_, found)| found.level == level).take(MOST) {
            annotate(file, finding, out)?;
        }
    }
    let beyond = |level| report.count(level).saturating_sub(MOST);
    let left_out = beyond(Level::Error) + beyond(Level::Warning);
    if left_out > 0 {
        let findings = Counted(left_out, "more finding");
        let counts = if style.is_quiet { String::new() } else { format!("; {}", Summary(report)) };
        writeln!(out, "::notice title=toolcheck::{findings} than GitHub shows{counts}")?;
    }
    Ok(())
}

fn annotate(file: &FileReport, finding: &Finding, out: &mut dyn io::Write) -> io::Result<()> {
    let (start, end) = (finding.spot.start, finding.spot.end);
    let path = shown(&repository_path(&file.path));
    let mut command =
        format!("::{} file={},line={},endLine={}", finding.level, Property(&path), start.line, end.line);
    // GitHub accepts columns only if the place is on one line.
    if start.line == end.line {
        let _ = write!(command, ",col={},endColumn={}", start.column, end.column);
    }
    let _ =
        write!(command, ",title={}::{}", Property(finding.rule.as_str()), Data(&finding.placed_message()));
    let answer = finding.provider_sentence();
    let help = finding.help.as_ref().map(|help| Line::from(format!("help: {help}")));
    for line in [answer, help].into_iter().flatten() {
        let _ = write!(command, "{}", Data(&format!("\n{line}")));
    }
    // On Azure Pipelines, a command inside this one would be obeyed.
    writeln!(out, "{}", inert(&command))
}

pub(crate) struct Data<'t>(pub(crate) &'t str);

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0, "%\r\n", f)
    }
}

/// The value of a property of a workflow command.
pub(crate) struct Property<'t>(pub(crate) &'t str);

impl fmt::Display for Property<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0, "%\r\n:,", f)
    }
}

fn escape(text: &str, special: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if special.contains(character) {
            write!(f, "%{:02X}", u32::from(character))?;
        } else {
            f.write_char(character)?;
        }
    }
    Ok(())
}
