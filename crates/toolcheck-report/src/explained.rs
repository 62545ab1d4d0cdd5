//! What an API's error means, and what in a request causes it.
//!
//! ```
//! use toolcheck_report::explained::Explained;
//!
//! let explained = Explained::new("messages: at least one message is required");
//! assert_eq!(&*explained.matches[0].refusal.rule, "empty-content");
//! assert!(explained.is_explained());
//! ```

use std::io;

use serde_json::{Value, json};
use textwrap::WordSplitter;
use toolcheck_core::recognise::{Origin, Recognised, recognise};
use toolcheck_core::text::shown;
use toolcheck_lint::{FileReport, Finding, Options, Report, Rule, rules};

use crate::Style;
use crate::outputs;
use crate::outputs::json::report_v1;

/// The maximum number of targets and frameworks to name that have the same text.
const MAX_ORIGINS: usize = 6;

/// The minimum length at which the beginning of an id identifies it.
const MIN_CUT_ID: usize = 8;

/// What an error means.
#[derive(Debug)]
#[non_exhaustive]
pub struct Explained {
    /// What it can mean, the most likely first.
    pub matches: Vec<Recognised>,
    /// What in the request causes it; `None` if no request was given.
    pub places: Option<Places>,
}

/// The findings of a request, in relation to an error.
#[derive(Debug)]
pub enum Places {
    /// The findings that cause the error.
    Cause(Report),
    /// All findings of the request, because none causes the error.
    Others(Report),
}

/// How the text for people is written.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Wording<'w> {
    /// How the findings are written.
    pub style: Style,
    /// The width to wrap at, in columns; `None` to wrap nothing.
    pub width: Option<usize>,
    /// What the request is in: "file" or "request".
    pub noun: &'w str,
    /// How the user adds the request that failed: text behind "add it".
    pub how_to_add: &'w str,
}

impl<'w> Wording<'w> {
    /// No colours, not wrapped. `noun` is what the request is in, "file" or "request", and `how_to_add` how the user adds the
    /// one that failed, such as `: --error TEXT FILE`.
    #[must_use]
    pub fn new(noun: &'w str, how_to_add: &'w str) -> Self {
        Self { style: Style::new(), width: None, noun, how_to_add }
    }

    /// How the findings are written.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The width to wrap at, in columns; `None` to wrap nothing.
    #[must_use]
    pub fn width(mut self, width: Option<usize>) -> Self {
        self.width = width;
        self
    }
}

impl Explained {
    /// What a text means, alone.
    #[must_use]
    pub fn new(error: &str) -> Self {
        Self { matches: recognise(error), places: None }
    }

    /// What a text means, and what causes it in the request that `lint` lints with the options that it is given.
    pub fn with_request(error: &str, lint: impl Fn(&Options) -> FileReport) -> Self {
        let matches = recognise(error);
        let places = Some(places(&matches, lint));
        Self { matches, places }
    }

    /// Whether the text is known, and its cause found if there is a request.
    #[must_use]
    pub fn is_explained(&self) -> bool {
        let is_found = |places: &Places| matches!(places, Places::Cause(_));
        !self.matches.is_empty() && self.places.as_ref().is_none_or(is_found)
    }

    /// What is explained, for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let matches = self.matches.iter().map(|found| {
            let captures: serde_json::Map<String, Value> =
                found.captures.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let mut found_as = json!({
                "rule": found.refusal.rule,
                "target": found.origin.target().map(|target| &*target.id),
                "status": found.refusal.status,
                "captures": captures,
                "probable": found.is_partial,
            });
            if let Origin::Framework(framework) = found.origin {
                found_as["framework"] = json!(framework.id);
            }
            found_as
        });
        let mut document = json!({"version": 1, "matches": matches.collect::<Vec<_>>()});
        let findings = |report: &Report| json!(report_v1(report).findings);
        match &self.places {
            None => {}
            Some(Places::Cause(report)) => document["findings"] = findings(report),
            Some(Places::Others(report)) => {
                document["findings"] = json!([]);
                document["other_findings"] = findings(report);
            }
        }
        document
    }

    /// Writes what is explained, for people.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn write(&self, wording: &Wording<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let noun = wording.noun;
        let best = self.matches.first();
        let Some((best, rule)) = best.and_then(|best| Some((best, rules::find(&best.refusal.rule)?))) else {
            writeln!(out, "No known error of a provider or a framework matches this text.")?;
            if let Some(Places::Others(report)) = &self.places {
                return wording.write_others(report, &format!("The problems in this {noun}:"), out);
            }
            writeln!(out, "If it is about tool calls or the order of messages, please report it.")?;
            return writeln!(
                out,
                "\nTo see the problems of the request that failed, add it{}",
                wording.how_to_add
            );
        };
        self.write_match(best, rule, wording, out)?;
        match &self.places {
            None => writeln!(out, "\nTo find the cause, add the request that failed{}", wording.how_to_add)?,
            Some(Places::Others(report)) if rule.only_explains() => {
                writeln!(out, "\nThis error has no visible cause in a request.")?;
                wording.write_others(report, &format!("The problems in this {noun}:"), out)?;
            }
            Some(Places::Others(report)) => {
                writeln!(
                    out,
                    "\ntoolcheck finds nothing in this {noun} that causes this error. Is it the request that failed?"
                )?;
                wording.write_others(report, &format!("Other problems in this {noun}:"), out)?;
            }
            Some(Places::Cause(report)) => {
                writeln!(out)?;
                // Each finding names its rule's page.
                return wording.write_full(report, out);
            }
        }
        writeln!(out, "\nmore: toolcheck explain {}", rule.id)
    }

    /// Writes what the text means.
    fn write_match(
        &self,
        best: &Recognised,
        rule: &Rule,
        wording: &Wording<'_>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut origins: Vec<&str> = Vec::new();
        for found in self.matches.iter().filter(|found| found.refusal.rule == best.refusal.rule) {
            origins.push(found.origin.id());
        }
        let left_out = origins.len().saturating_sub(MAX_ORIGINS);
        origins.truncate(MAX_ORIGINS);
        let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
        let status = best.refusal.status.map(|status| format!(", status {status}")).unwrap_or_default();
        let probably = if best.is_partial { "probably " } else { "" };
        writeln!(out, "{probably}{} ({}{more}{status})", rule.id, origins.join(", "))?;
        writeln!(out)?;
        wording.write_wrapped(rule.summary(), out)?;
        if let Origin::Framework(framework) = best.origin {
            let raised = format!("{} raises this error itself: no API has returned it.", framework.name);
            wording.write_wrapped(&raised, out)?;
        }
        if best.is_partial {
            wording.write_wrapped("Only the beginning of the error text matches.", out)?;
        }
        if let Some(doubt) = &best.refusal.doubt {
            wording.write_wrapped(&format!("In doubt: {doubt}"), out)?;
        }
        if !best.captures.is_empty() {
            writeln!(out)?;
        }
        for (name, value) in &best.captures {
            writeln!(out, "  {name}: {}", shown(value))?;
        }
        let mut others: Vec<&str> = Vec::new();
        for found in &self.matches {
            let other = &*found.refusal.rule;
            if other != rule.id && !others.contains(&other) {
                others.push(other);
            }
        }
        if !others.is_empty() {
            writeln!(out)?;
            wording.write_wrapped(&format!("The same text can also mean: {}", others.join(", ")), out)?;
        }
        Ok(())
    }
}

impl Wording<'_> {
    fn write_wrapped(&self, text: &str, out: &mut dyn io::Write) -> io::Result<()> {
        let options = textwrap::Options::new(self.width.unwrap_or(usize::MAX));
        for line in textwrap::wrap(text, options.word_splitter(WordSplitter::NoHyphenation)) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Writes the findings that do not cause the error, or that there are none.
    fn write_others(&self, report: &Report, title: &str, out: &mut dyn io::Write) -> io::Result<()> {
        if report.files.iter().all(|file| file.findings.is_empty()) {
            let target = report.files.iter().find_map(|file| file.target.as_deref()).unwrap_or("any target");
            return writeln!(out, "No problems found in this {} for {target}.", self.noun);
        }
        writeln!(out, "{title}\n")?;
        self.write_full(report, out)
    }

    fn write_full(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        (outputs::full::OUTPUT.write)(report, &self.style, out)
    }
}

/// The places in a request that cause the error: the findings of the matching rules for the matching target. If there are
/// none, all findings for the target that returned the error or, if a framework raised it or it is unknown, for the provider
/// of the request's format.
fn places(matches: &[Recognised], lint: impl Fn(&Options) -> FileReport) -> Places {
    // The error shows that a history went on after its last calls, which alone might still be running.
    for is_over in [false, true] {
        if let Some(cause) = cause(matches, |options| lint(&options.is_over(is_over))) {
            return Places::Cause(Report::new(vec![cause]));
        }
    }
    let target = matches.first().and_then(|found| found.origin.target());
    Places::Others(Report::new(vec![lint(&Options::new().target(target))]))
}

/// The findings that cause the error, limited to those about the call that it names, if it names one.
fn cause(matches: &[Recognised], lint: impl Fn(Options) -> FileReport) -> Option<FileReport> {
    let mut seen: Vec<&str> = Vec::new();
    for found in matches {
        // The findings for a target do not depend on which of its texts was recognised.
        let (origin, target) = (found.origin.id(), found.origin.target());
        if seen.contains(&origin) {
            continue;
        }
        seen.push(origin);
        let of_origin = matches.iter().filter(|other| other.origin.id() == origin);
        let wanted = of_origin.filter_map(|other| rules::find(&other.refusal.rule));
        let mut linted = lint(Options::new().target(target).rules(wanted));
        let names_it = |finding: &Finding| finding.tool_call_id.as_ref().is_some_and(|id| names(found, id));
        if linted.findings.iter().any(names_it) {
            linted.findings.retain(names_it);
        }
        if !linted.findings.is_empty() {
            return Some(linted);
        }
    }
    None
}

/// Whether an error names the call with this id. If the error is cut short, it may contain only the beginning of the
/// id.
fn names(found: &Recognised, id: &str) -> bool {
    let value = |name: &str| found.captures.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let Some(named) = value("ids").or_else(|| value("id")) else { return false };
    let last = named.rsplit(", ").next().unwrap_or(named);
    let is_cut = found.is_partial && last.len() >= MIN_CUT_ID && id.starts_with(last);
    named.contains(id) || is_cut
}
