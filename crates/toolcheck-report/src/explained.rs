//! What an API's error means, and what in a request causes it.
//!
//! ```
//! use toolcheck_report::explained::Explained;
//!
//! let explained = Explained::new("messages: at least one message is required");
//! assert_eq!(explained.reading.matches[0].refusal.rule, "empty-content");
//! assert!(explained.is_explained());
//! ```

mod cause;
mod class;
mod named;
mod pointed;

use std::borrow::Cow;
use std::io;

use serde_json::{Value, json};
use toolcheck_core::recognise::{Classified, ErrorReading, Likeness, Origin, Recognised};
use toolcheck_core::text::shown;
use toolcheck_core::{RuleId, setters};
use toolcheck_json::{contains, distinct, sort_by_position};
use toolcheck_lint::{FileReport, Options, Report, Rule, rules};

use self::cause::Search;
pub use self::named::Named;
use crate::Style;
use crate::outputs;
use crate::outputs::json::report_v1;
use crate::style::wrapping;

/// The maximum number of targets and frameworks to name that have the same text.
const MAX_ORIGINS: usize = 6;
/// The length from which on a word is an id, and not a number.
const SHORTEST_ID: usize = 5;
/// What ids of calls and of what the model thinks begin with.
const PREFIXES: [&str; 5] = ["call_", "toolu_", "tooluse_", "fc_", "rs_"];

/// What an error means.
#[derive(Debug)]
#[non_exhaustive]
pub struct Explained {
    /// What its text says.
    pub reading: ErrorReading,
    /// The places that it names, in the request if there is one.
    pub named: Vec<Named>,
    /// What in the request causes it; `None` if no request was given.
    pub places: Option<Places>,
    /// The ids that it names if the request has none of them: it probably is about another one.
    pub absent_ids: Vec<String>,
    ids: Vec<String>,
}

/// The findings of a request, in relation to an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Places {
    /// The findings that cause the error.
    Cause(Report),
    /// Errors at the place that the error names, which probably cause it.
    Probable(Report),
    /// What is refused with the error for some models: whether the request's own is one is not known.
    OfModel(Report),
    /// What the error names, in the request, in which nothing is found that causes it; and all its findings.
    Named(Report, Report),
    /// What the API is known to refuse with the error, although it is recorded to accept it in other cases, or nothing is
    /// known of this one.
    Accepted(Report),
    /// All findings of the request, because none causes the error.
    Others(Report),
}

impl Places {
    /// The findings.
    pub fn report(&self) -> &Report {
        match self {
            Self::Cause(report)
            | Self::Probable(report)
            | Self::OfModel(report)
            | Self::Named(report, _)
            | Self::Accepted(report)
            | Self::Others(report) => report,
        }
    }

    /// Whether they cause the error; `None` if they don't.
    fn cause(&self) -> Option<&'static str> {
        match self {
            Self::Cause(_) => Some("found"),
            Self::Probable(_) | Self::OfModel(_) | Self::Named(..) => Some("probable"),
            Self::Accepted(_) => Some("usually-accepted"),
            Self::Others(_) => None,
        }
    }
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
    /// No colors, not wrapped. `noun` is what the request is in, "file" or "request", and `how_to_add` how the user adds the
    /// one that failed, such as `: --error TEXT FILE`.
    pub fn new(noun: &'w str, how_to_add: &'w str) -> Self {
        Self { style: Style::new(), width: None, noun, how_to_add }
    }

    setters! {
        /// How the findings are written.
        style: Style,
        /// The width to wrap at, in columns; `None` to wrap nothing.
        width: Option<usize>,
    }
}

impl Explained {
    /// What a text means, alone.
    pub fn new(error: &str) -> Self {
        Self::of(error, ErrorReading::new(error))
    }

    /// What a text means, alone. If the options name a target, it is the API that returned the error.
    pub fn without_request(error: &str, options: &Options) -> Self {
        Self::of(error, recognised(error, options))
    }

    fn of(error: &str, reading: ErrorReading) -> Self {
        let ids = ids(error, &reading);
        Self { reading, named: Named::all_in(error), places: None, absent_ids: Vec::new(), ids }
    }

    /// What a text means, and what causes it in the request that `lint` lints with the options that it is given. They are
    /// `options` with another target, other rules and so on; if these name a target, it is the API that returned the error.
    pub fn with_request(error: &str, options: &Options, lint: impl Fn(&Options) -> FileReport) -> Self {
        let mut reading = recognised(error, options);
        let places = Search::new(error, &reading.matches, options, lint).places();
        // What the text means in this request comes first.
        let of_cause = |found: &Recognised| {
            let mut findings = places.report().files.iter().flat_map(|file| &file.findings);
            places.cause().is_some() && findings.any(|finding| finding.rule == found.refusal.rule)
        };
        sort_by_position(&mut reading.matches, |found| usize::from(!of_cause(found)));
        Self { places: Some(places), ..Self::of(error, reading) }
    }

    /// The same with the places that the error names looked up in a request, if that is one JSON document.
    pub fn located_in(mut self, request: &[u8]) -> Self {
        Named::locate(&mut self.named, request);
        let files = || self.places.iter().flat_map(|places| &places.report().files);
        let is_found = |id: &String| {
            files().any(|file| file.findings.iter().any(|finding| finding.message.contains(&**id)))
        };
        // A body in Base64 shows none of its ids.
        if !self.ids.iter().any(|id| contains(request, id.as_bytes())) && !self.ids.iter().any(is_found) {
            self.absent_ids = std::mem::take(&mut self.ids);
        }
        self.point_in(request);
        self
    }

    /// Whether the cause is found or, without a request, what the text is about. Of what no request causes, no cause is
    /// looked for.
    pub fn is_explained(&self) -> bool {
        let class = self.reading.class.as_ref();
        match &self.places {
            None => !self.reading.matches.is_empty() || class.is_some(),
            Some(places) => {
                let is_known = |found: &Classified| {
                    !found.class.is_in_request
                        || found.error.is_some() && !found.is_cut && self.names_place_in_request()
                };
                places.cause().is_some() || class.is_some_and(is_known)
            }
        }
    }

    fn names_place_in_request(&self) -> bool {
        self.named.iter().any(|one| one.found.is_some())
    }

    /// What is explained, for programs.
    pub fn to_json(&self) -> Value {
        let matches = self.reading.matches.iter().map(|found| {
            let captures: serde_json::Map<String, Value> =
                found.captures.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let mut found_as = json!({
                "rule": found.refusal.rule,
                "target": found.origin.target().map(|target| &*target.id),
                "status": found.refusal.status,
                "captures": captures,
                "probable": found.likeness != Likeness::Whole,
            });
            if let Origin::Framework(framework) = found.origin {
                found_as["framework"] = json!(framework.id);
            }
            found_as
        });
        let mut document = json!({
            "version": 1,
            "matches": matches.collect::<Vec<_>>(),
            "class": self.reading.class.as_ref().map(class::to_json),
            "status": self.reading.status,
            "from": self.reading.envelopes.iter().map(|envelope| &*envelope.name).collect::<Vec<_>>(),
            "places": self.named.iter().map(Named::to_json).collect::<Vec<_>>(),
        });
        if !self.absent_ids.is_empty() {
            document["absent_ids"] = json!(self.absent_ids);
        }
        let findings = |report: &Report| json!(report_v1(report).findings);
        if let Some(places) = &self.places {
            document["cause"] = json!(places.cause());
            if places.cause().is_some() {
                document["findings"] = findings(places.report());
                if let Places::Named(_, others) = places {
                    document["other_findings"] = findings(others);
                }
            } else {
                document["findings"] = json!([]);
                document["other_findings"] = findings(places.report());
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
        let best = self.reading.matches.first();
        let Some((best, rule)) = best.map(|best| (best, rules::get(best.refusal.rule))) else {
            return match &self.reading.class {
                Some(found) => self.write_class(found, wording, out),
                None => self.write_unknown(wording, out),
            };
        };
        self.write_match(best, rule, wording, out)?;
        self.write_named(wording, out)?;
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
            Some(places @ Places::Named(_, others)) => {
                wording.write_cause(places, out)?;
                if others.files.iter().any(|file| !file.findings.is_empty()) {
                    writeln!(out)?;
                    wording.write_others(others, &format!("Other problems in this {noun}:"), out)?;
                }
                return Ok(());
            }
            // Each finding names its rule's page.
            Some(places) => return wording.write_cause(places, out),
        }
        writeln!(out, "\nmore: toolcheck explain {}", rule.id)
    }

    /// Writes that the text is not known, and what causes it in the request or is wrong with it.
    fn write_unknown(&self, wording: &Wording<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        match &self.places {
            Some(Places::Cause(report)) => wording.write_full(report, out),
            Some(places) => {
                writeln!(out, "No known error of a provider or a framework matches this text.")?;
                self.write_around(wording, out)?;
                if places.cause().is_some() {
                    return wording.write_cause(places, out);
                }
                writeln!(out)?;
                wording.write_others(places.report(), &format!("The problems in this {}:", wording.noun), out)
            }
            None => {
                writeln!(out, "No known error of a provider or a framework matches this text.")?;
                writeln!(out, "If it is about tool calls or the order of messages, please report it.")?;
                self.write_around(wording, out)?;
                writeln!(
                    out,
                    "\nTo see the problems of the request that failed, add it{}",
                    wording.how_to_add
                )
            }
        }
    }

    /// The rules that the text is known for, too.
    fn other_rules(&self, best: &Recognised) -> Vec<&'static str> {
        let rules = self.reading.matches.iter().map(|found| found.refusal.rule);
        distinct(rules.filter(|rule| *rule != best.refusal.rule).map(RuleId::as_str))
    }

    fn write_match(
        &self,
        best: &Recognised,
        rule: &Rule,
        wording: &Wording<'_>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let of_rule = self.reading.matches.iter().filter(|found| found.refusal.rule == best.refusal.rule);
        let mut origins: Vec<&str> = of_rule.map(|found| found.origin.id()).collect();
        let left_out = origins.len().saturating_sub(MAX_ORIGINS);
        origins.truncate(MAX_ORIGINS);
        let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
        let status = best.refusal.status.map(|status| format!(", status {status}")).unwrap_or_default();
        let probably = if best.likeness == Likeness::Whole { "" } else { "probably " };
        let others = self.other_rules(best);
        let is_found = self.places.as_ref().is_some_and(|places| places.cause().is_some());
        // What several texts begin with says nothing for one of them, nor does a text whose first meaning is in doubt.
        let is_twin = |found: &Recognised| {
            found.refusal.rule != best.refusal.rule && found.refusal.text == best.refusal.text
        };
        let is_shared = !is_found
            && !others.is_empty()
            && match best.likeness {
                Likeness::Beginning => {
                    self.reading.matches.iter().any(|found| found.refusal.text != best.refusal.text)
                }
                Likeness::Whole => best.refusal.doubt.is_some() && self.reading.matches.iter().any(is_twin),
                _ => false,
            };
        let or = if is_shared { format!(" or {}", others.join(" or ")) } else { String::new() };
        writeln!(out, "{probably}{}{or} ({}{more}{status})", rule.id, origins.join(", "))?;
        writeln!(out)?;
        if is_shared {
            wording.write_wrapped("The text does not say which of these it is.", out)?;
        } else {
            wording.write_wrapped(rule.summary(), out)?;
        }
        if let Some(case) = case_of(best).and_then(|case| rule.case(case)).filter(|_| !is_shared) {
            wording.write_wrapped(&format!("Here: {}.", case.meaning), out)?;
        }
        if let Origin::Framework(framework) = best.origin {
            let raised = format!("{} raises this error itself: no API has returned it.", framework.name);
            wording.write_wrapped(&raised, out)?;
        }
        match (best.likeness, &best.refusal.text) {
            (Likeness::Beginning, _) => {
                wording.write_wrapped("Only the beginning of the error text matches.", out)?;
            }
            (Likeness::Similar, Some(text)) => {
                let similar = format!("This text is not known. The most similar one that is: {text}");
                wording.write_wrapped(&similar, out)?;
            }
            _ => {}
        }
        if let Some(doubt) = best.refusal.doubt.as_ref().filter(|_| !is_shared) {
            wording.write_wrapped(&format!("In doubt: {doubt}"), out)?;
        }
        if !best.captures.is_empty() {
            writeln!(out)?;
        }
        for (name, value) in &best.captures {
            writeln!(out, "  {}: {}", label_of(name), shown(value))?;
        }
        if let Some(places) = self.places_alone(&best.captures) {
            writeln!(out)?;
            wording.write_wrapped(&places, out)?;
        }
        if let Some(help) =
            best.refusal.help.as_ref().filter(|_| !is_shared && best.likeness != Likeness::Similar)
        {
            writeln!(out)?;
            wording.write_wrapped(&format!("help: {help}"), out)?;
        }
        if !others.is_empty() && !is_shared {
            writeln!(out)?;
            wording.write_wrapped(&format!("The same text can also mean: {}", others.join(", ")), out)?;
        }
        Ok(())
    }
}

/// The case of its rule that an error is about, if the API has the text for no other.
fn case_of(found: &Recognised) -> Option<&'static str> {
    let (refusal, target) = (found.refusal, found.origin.target()?);
    let same =
        target.refusals().iter().filter(|other| (other.rule, &other.text) == (refusal.rule, &refusal.text));
    same.map(|other| &other.case).all(|case| *case == refusal.case).then_some(refusal.case.as_deref()?)
}

/// What a reader calls the placeholder of a text. In which of its ways the API writes a path or a list shows in the value.
fn label_of(placeholder: &str) -> Cow<'_, str> {
    match placeholder {
        name if name.starts_with("parent-") && name.ends_with("path") => "path of the object".into(),
        name if name.ends_with("path") => "path".into(),
        name if name.starts_with("values") => "allowed values".into(),
        "schema-context" => "path in the schema".into(),
        "bare-pattern" => "pattern".into(),
        name => name.replace('-', " ").into(),
    }
}

/// The ids that an error names: what stands where its text has one, and what only an id looks like.
fn ids(error: &str, reading: &ErrorReading) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|one: char| !one.is_ascii_alphanumeric() && !"_-".contains(one));
        words.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).map(str::to_owned).collect()
    };
    let captures = reading.matches.iter().take(1).flat_map(|found| &found.captures);
    let known =
        captures.filter(|(name, _)| matches!(&**name, "id" | "ids")).flat_map(|(_, text)| words(text));
    let seen = words(error).into_iter().filter(|word| PREFIXES.iter().any(|start| word.starts_with(start)));
    let mut ids: Vec<String> = known.chain(seen).filter(|id| id.len() >= SHORTEST_ID).collect();
    ids.dedup();
    ids
}

/// What an error can mean; first as an error of the API that returned it, if that is known.
fn recognised(error: &str, options: &Options) -> ErrorReading {
    let mut reading = ErrorReading::new(error);
    if let Some(target) = options.named_target() {
        sort_by_position(&mut reading.matches, |found| usize::from(found.origin.id() != &*target.id));
    }
    reading
}

impl Wording<'_> {
    fn write_wrapped(&self, text: &str, out: &mut dyn io::Write) -> io::Result<()> {
        for line in textwrap::wrap(text, wrapping(self.width.unwrap_or(usize::MAX))) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Writes the findings that cause the error, and how sure that is.
    fn write_cause(&self, places: &Places, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out)?;
        let noun = self.noun;
        let report = places.report();
        match places {
            Places::Cause(_) | Places::Others(_) => {}
            Places::Probable(_) => {
                self.write_wrapped(
                    "This is probably the cause: it is at the place that the error names.",
                    out,
                )?;
                writeln!(out)?;
            }
            Places::OfModel(_) => {
                self.write_wrapped(
                    "This is probably it. Only some models refuse it, and whether this one does is not known here.",
                    out,
                )?;
                writeln!(out)?;
            }
            Places::Named(..) => {
                let text = format!(
                    "If this {noun} is the request that failed, this is probably it: the error names it. toolcheck itself sees nothing wrong with it, and some things cannot be seen in a request."
                );
                self.write_wrapped(&text, out)?;
                writeln!(out)?;
            }
            Places::Accepted(_) => {
                let target = report.files.iter().find_map(|file| file.target.as_deref()).unwrap_or("the API");
                let findings = || report.files.iter().flat_map(|file| &file.findings);
                let why = if findings().any(|finding| finding.harm.is_some()) {
                    format!("{target} is recorded to accept it")
                } else if findings().any(|finding| finding.provider_error.is_some()) {
                    format!("it is disputed whether {target} rejects it")
                } else {
                    format!("{target} is not known to reject it")
                };
                let text = format!(
                    "This {noun} has what the error is about. `toolcheck lint` does not report it, because {why}."
                );
                self.write_wrapped(&text, out)?;
                writeln!(out)?;
            }
        }
        self.write_full(report, out)
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
