//! The line that ends a report for people.

use std::fmt;

use toolcheck_core::Level;

use crate::report::Report;

/// The counts of a report, in words.
pub(crate) struct Summary<'r>(pub(crate) &'r Report);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        let sum = |count: fn(&crate::FileReport) -> usize| report.files.iter().map(count).sum::<usize>();
        write!(
            f,
            "{}, {} in {} ({}, {}, {})",
            Counted(report.count(Level::Error), "error"),
            Counted(report.count(Level::Warning), "warning"),
            Counted(report.transcripts(), "transcript"),
            Counted(sum(|file| file.messages), "message"),
            Counted(sum(|file| file.tool_calls), "call"),
            Counted(sum(|file| file.tool_results), "result"),
        )
    }
}

/// A number and its noun.
struct Counted(usize, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}
