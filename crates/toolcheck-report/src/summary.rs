//! The end of a report for people.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use crate::Style;
use crate::style::wrapping;
use toolcheck_core::text::{Counted, shown};
use toolcheck_core::{Level, RuleId, readers};
use toolcheck_json::sort_by_position;
use toolcheck_lint::Finding;
use toolcheck_lint::fix::Fixable;
use toolcheck_lint::report::Report;

pub(crate) struct Summary<'r>(pub(crate) &'r Report);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        let sum =
            |count: fn(&toolcheck_lint::FileReport) -> usize| report.files.iter().map(count).sum::<usize>();
        write!(
            f,
            "{}, {} in {} ({}, {}, {})",
            Counted(report.count(Level::Error), "error"),
            Counted(report.count(Level::Warning), "warning"),
            Counted(report.transcripts(), "transcript"),
            Counted(sum(|file| file.messages), "message"),
            Counted(sum(|file| file.tool_calls), "call"),
            Counted(sum(|file| file.tool_results), "result"),
        )?;
        // Hidden findings are counted, so that they are not mistaken for a clean run.
        let (allowed, in_baseline) = (sum(|file| file.allowed), sum(|file| file.in_baseline));
        if allowed > 0 {
            write!(f, ", {allowed} allowed")?;
        }
        if in_baseline > 0 {
            write!(f, ", {in_baseline} in the baseline")?;
        }
        Ok(())
    }
}

/// The formats that the transcripts of a report were read as and the targets they were checked against, in words.
pub(crate) struct Readings<'r>(pub(crate) &'r Report);

impl fmt::Display for Readings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sums = BTreeMap::<(&str, Option<&str>, bool), usize>::new();
        for reading in self.0.files.iter().flat_map(|file| &file.readings) {
            let how = (reading.format, reading.target.as_deref(), reading.as_examples);
            *sums.entry(how).or_default() += reading.transcripts;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sort_by_position(&mut sums, |(_, transcripts)| usize::MAX - transcripts);
        let several = sums.len() > 1;
        for (number, ((format, target, as_examples), transcripts)) in sums.iter().enumerate() {
            f.write_str(if number > 0 { "; " } else { "" })?;
            if several {
                write!(f, "{transcripts} ")?;
            }
            write!(f, "read as {format}")?;
            // More is found if it is known which API they are for.
            match target {
                _ if *as_examples => {
                    f.write_str(", checked as a data set (name a --target to check it as requests, too)")?;
                }
                Some(target) => write!(f, ", checked against {target}")?,
                None if *format == readers::of_lists().id => {
                    f.write_str(" (not checked as requests; name a --target to do that)")?;
                }
                None => {}
            }
        }
        // If the text is ambiguous, the user can choose.
        // A format that records were read as needs no mention.
        let is_read = |rival: &&str| sums.iter().any(|((format, _, _), _)| format == rival);
        let rivals = self.0.files.iter().filter_map(|file| file.rival);
        let rivals: Vec<&str> = rivals.filter(|rival| !is_read(rival)).collect();
        match (rivals.as_slice(), self.0.files.len()) {
            ([], _) => Ok(()),
            ([rival], 1) => write!(f, " ({rival} is nearly as likely: use --format to choose)"),
            (all, _) => write!(
                f,
                " (the format is a guess in {}: use --format to choose)",
                Counted(all.len(), "file")
            ),
        }
    }
}

/// What was left out of logs, histories and data sets, in words; empty if nothing was.
pub(crate) struct NotRead<'r>(pub(crate) &'r Report);

impl fmt::Display for NotRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sums = BTreeMap::<&str, usize>::new();
        for left in self.0.files.iter().flat_map(|file| &file.not_read) {
            *sums.entry(left.what).or_default() += left.count;
        }
        for (number, (what, count)) in sums.iter().enumerate() {
            write!(f, "{}{what} ({count})", if number > 0 { ", " } else { "left out: " })?;
        }
        Ok(())
    }
}

/// What marks a finding that `toolcheck fix` may fix, after a space: `[*]`, or `[-]` if something is lost or guessed.
pub(crate) fn mark(finding: &Finding) -> &'static str {
    match finding.fixable {
        Some(Fixable::Safe) => " [*]",
        Some(_) => " [-]",
        None => "",
    }
}

/// How many findings `toolcheck fix` may fix, in words; empty if none.
fn fixable(report: &Report, options: &str) -> String {
    let count = |how| {
        let findings = report.files.iter().flat_map(|file| &file.findings);
        findings.filter(|finding| finding.fixable == Some(how)).count()
    };
    // It is not known of those that are only counted.
    let least = if report.files.iter().any(|file| file.left_out() > 0) { "at least " } else { "" };
    match (count(Fixable::Safe), count(Fixable::Unsafe)) {
        (0, 0) => String::new(),
        (safe, 0) => format!("[*] {least}{safe} fixable with `toolcheck fix{options}`"),
        (0, lossy) => format!("[-] {least}{lossy} fixable with `toolcheck fix{options} --unsafe-fixes`"),
        (safe, lossy) => format!(
            "[*] {least}{safe} fixable with `toolcheck fix{options}`, [-] {least}{lossy} more with `--unsafe-fixes`"
        ),
    }
}

/// Ends a report in plain text: the summary line, how the files were read, and the counts per rule if requested.
///
/// Its lines are wrapped at a width, if there is one.
pub(crate) fn close(
    report: &Report,
    style: &Style,
    width: Option<usize>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    if !style.is_quiet {
        let readings = if report.transcripts() > 0 { Readings(report).to_string() } else { String::new() };
        let lines = [
            Summary(report).to_string(),
            shown(&readings),
            fixable(report, style.fix_options),
            NotRead(report).to_string(),
        ];
        for line in lines.iter().filter(|line| !line.is_empty()) {
            for line in textwrap::wrap(line, wrapping(width.unwrap_or(usize::MAX))) {
                writeln!(out, "{line}")?;
            }
        }
    }
    let counts = if style.with_statistics { statistics(report) } else { Vec::new() };
    let Some(widest) = counts.first().map(|count| count.findings.to_string().len()) else { return Ok(()) };
    let longest = counts.iter().map(|count| count.rule.as_str().len()).max().unwrap_or_default();
    writeln!(out)?;
    for count in counts {
        writeln!(out, "{:>widest$}  {:longest$}  {}", count.findings, count.rule, count.levels())?;
    }
    Ok(())
}

#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) rule: RuleId,
    pub(crate) findings: usize,
    errors: usize,
}

impl Count {
    /// The numbers of errors and warnings, in words.
    pub(crate) fn levels(&self) -> String {
        let errors = Counted(self.errors, "error");
        let warnings = Counted(self.findings - self.errors, "warning");
        match (self.errors, self.findings - self.errors) {
            (_, 0) => errors.to_string(),
            (0, _) => warnings.to_string(),
            _ => format!("{errors}, {warnings}"),
        }
    }
}

/// The counts of all rules that found something: the most frequent first, and by id among equals.
pub(crate) fn statistics(report: &Report) -> Vec<Count> {
    let mut counts = BTreeMap::<RuleId, (usize, usize)>::new();
    for finding in report.files.iter().flat_map(|file| &file.findings) {
        let count = counts.entry(finding.rule).or_default();
        count.0 += 1;
        count.1 += usize::from(finding.level == Level::Error);
    }
    for ((rule, level), left_out) in report.files.iter().flat_map(|file| &file.left_out) {
        let count = counts.entry(*rule).or_default();
        count.0 += left_out;
        count.1 += if *level == Level::Error { *left_out } else { 0 };
    }
    let mut counts: Vec<Count> =
        counts.into_iter().map(|(rule, (findings, errors))| Count { rule, findings, errors }).collect();
    sort_by_position(&mut counts, |count| usize::MAX - count.findings);
    counts
}
