//! A writer of JUnit XML, for anything that consists of test suites and test cases.
//!
//! ```
//! use toolcheck_report::junit_xml::{Case, Counts, Outcome, Writer};
//!
//! let mut text = Vec::new();
//! let counts = Counts { tests: 1, ..Counts::default() };
//! let mut xml = Writer::begin("toolcheck", counts, &mut text)?;
//! xml.begin_suite("a < b", counts)?;
//! xml.case(&Case { name: "no findings", class: "a < b", file: None, line: None, outcome: Outcome::Passed })?;
//! xml.end_suite()?;
//! xml.end()?;
//! assert!(String::from_utf8(text).is_ok_and(|text| text.contains("<testsuite name=\"a &lt; b\" tests=\"1\"")));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io;

use crate::markup::Escaped;

/// The number of tests, and of those that did not pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// All tests.
    pub tests: usize,
    /// Tests that failed.
    pub failures: usize,
    /// Tests that could not be run.
    pub errors: usize,
    /// Tests that do not count.
    pub skipped: usize,
}

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct Case<'c> {
    /// Its name, unique in the suite: readers merge tests of the same name.
    pub name: &'c str,
    /// Its group; most readers group tests by it.
    pub class: &'c str,
    /// The file that it checks.
    pub file: Option<&'c str>,
    /// The line of that file.
    pub line: Option<u64>,
    /// Its outcome.
    pub outcome: Outcome<'c>,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'c> {
    /// It passed.
    Passed,
    /// It failed.
    Failed {
        /// The kind of failure.
        kind: &'c str,
        /// The failure in one line.
        message: &'c str,
        /// The whole failure.
        text: &'c str,
    },
    /// It could not be run.
    NotRun {
        /// Why, in one line.
        message: &'c str,
    },
    /// It does not count.
    Skipped {
        /// Why, in one line.
        message: &'c str,
    },
}

/// Writes test suites one after the other. Text is always escaped.
pub struct Writer<'o> {
    out: &'o mut dyn io::Write,
}

impl<'o> Writer<'o> {
    /// Begins the document.
    ///
    /// # Errors
    ///
    /// Returns an error if the text cannot be written, here and below.
    pub fn begin(name: &str, counts: Counts, out: &'o mut dyn io::Write) -> io::Result<Self> {
        let Counts { tests, failures, errors, .. } = counts;
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">",
            Escaped(name)
        )?;
        Ok(Self { out })
    }

    /// Begins a suite.
    pub fn begin_suite(&mut self, name: &str, counts: Counts) -> io::Result<()> {
        let Counts { tests, failures, errors, skipped } = counts;
        writeln!(
            self.out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
            Escaped(name)
        )
    }

    /// Writes a test of the suite.
    pub fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        let out = &mut *self.out;
        write!(out, "    <testcase name=\"{}\" classname=\"{}\"", Escaped(case.name), Escaped(case.class))?;
        if let Some(file) = case.file {
            write!(out, " file=\"{}\"", Escaped(file))?;
        }
        if let Some(line) = case.line {
            write!(out, " line=\"{line}\"")?;
        }
        match case.outcome {
            Outcome::Passed => return writeln!(out, "/>"),
            Outcome::Failed { kind, message, text } => {
                let (kind, message) = (Escaped(kind), Escaped(message));
                write!(out, ">\n      <failure type=\"{kind}\" message=\"{message}\">")?;
                // Between tags a line end is kept; in an attribute it would be read as a space.
                for (number, line) in text.split('\n').enumerate() {
                    write!(out, "{}{}", if number == 0 { "" } else { "\n" }, Escaped(line))?;
                }
                writeln!(out, "</failure>")?;
            }
            Outcome::NotRun { message } => {
                writeln!(out, ">\n      <error message=\"{}\"/>", Escaped(message))?;
            }
            Outcome::Skipped { message } => {
                writeln!(out, ">\n      <skipped message=\"{}\"/>", Escaped(message))?;
            }
        }
        writeln!(out, "    </testcase>")
    }

    /// Ends the suite.
    pub fn end_suite(&mut self) -> io::Result<()> {
        writeln!(self.out, "  </testsuite>")
    }

    /// Ends the document.
    pub fn end(self) -> io::Result<()> {
        writeln!(self.out, "</testsuites>")
    }
}
