//! Checks a request body in a test.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use toolcheck_core::suggest::unknown;
use toolcheck_core::text::{Counted, shown};
use toolcheck_core::{Format, Level, RuleId, formats};
use toolcheck_embed::Settings;
use toolcheck_lint::{FileReport, Report};
use toolcheck_report::{Style, outputs};

use crate::expected::{ActualFinding, Difference, Expected};

/// Checks a request body, a list of messages, an exchange, or JSON Lines of them.
///
/// ```
/// use toolcheck_test::check;
///
/// let request = r#"{"messages": [
///   {"role": "user", "content": "find Adam"},
///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
///   {"role": "user", "content": "well?"}
/// ]}"#;
/// check(request).format("anthropic").assert_findings(&["unanswered-tool-call at /messages/1/content/0"]);
/// ```
///
/// By default the body is checked against the API of its own format, with the default rules; [`Check`] has options.
pub fn check(body: impl Into<Body>) -> Check {
    Check { name: "body.json".to_owned(), body: body.into(), settings: Settings::new(), with_color: false }
}

/// The bytes to check, as they would be sent: from text, bytes, or a [`serde_json::Value`].
#[derive(Clone, PartialEq, Eq)]
pub struct Body(Vec<u8>);

impl Body {
    /// The JSON that serde writes for a value, such as a request of your own types.
    ///
    /// ```
    /// use toolcheck_test::{Body, check};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Message { role: &'static str, content: &'static str }
    ///
    /// check(Body::of(&[Message { role: "user", content: "hello" }])).assert_clean();
    /// ```
    ///
    /// # Panics
    ///
    /// If the value can't be written as JSON.
    #[track_caller]
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        // On several lines, so that line numbers are useful.
        match serde_json::to_vec_pretty(value) {
            Ok(bytes) => Self(bytes),
            Err(error) => panic!("the value can't be written as JSON: {error}"),
        }
    }

    /// JSON Lines, with one record per value.
    pub fn lines<'v>(records: impl IntoIterator<Item = &'v Json>) -> Self {
        Self(records.into_iter().flat_map(|record| format!("{record}\n").into_bytes()).collect())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({:?})", String::from_utf8_lossy(&self.0))
    }
}

macro_rules! from_bytes {
    ($($text:ty),*) => {$(
        impl From<$text> for Body {
            fn from(text: $text) -> Self {
                Self(AsRef::<[u8]>::as_ref(&text).to_vec())
            }
        }
    )*};
}

from_bytes!(&str, String, &String, &[u8], Vec<u8>, &Vec<u8>);

impl<const LENGTH: usize> From<&[u8; LENGTH]> for Body {
    fn from(bytes: &[u8; LENGTH]) -> Self {
        Self(bytes.into())
    }
}

impl From<&Json> for Body {
    fn from(value: &Json) -> Self {
        // A `Value` can always be written.
        Self(format!("{value:#}").into_bytes())
    }
}

impl From<Json> for Body {
    fn from(value: Json) -> Self {
        (&value).into()
    }
}

/// A body, and the options of its check.
///
/// Nothing is checked before an assertion or [`Check::report`]. An unknown name (of a format, target, kind or rule)
/// panics at once and suggests a similar one.
#[derive(Debug, Clone)]
#[must_use = "nothing is checked until something is asserted"]
pub struct Check {
    name: String,
    body: Body,
    settings: Settings,
    with_color: bool,
}

impl Check {
    /// The wire format of the body, by a name of `toolcheck formats`. By default it is detected.
    #[track_caller]
    pub fn format(self, id: &str) -> Self {
        self.with(|settings| settings.format(id))
    }

    /// The API to check against, by a name of `toolcheck targets`. By default the format's own.
    #[track_caller]
    pub fn target(self, id: &str) -> Self {
        self.with(|settings| settings.target(id))
    }

    /// The API to check against, described by the text of a TOML file (`schemas/target.v1.schema.json`).
    #[track_caller]
    pub fn own_target(self, toml: &str) -> Self {
        self.with(|settings| settings.own_target(toml))
    }

    /// The kind of transcript: `request` (the default), `session` or `dataset`. The last two may end with unanswered
    /// calls.
    #[track_caller]
    pub fn kind(self, kind: &str) -> Self {
        self.with(|settings| settings.kind(kind))
    }

    /// Declares tools for transcripts without tool definitions: a list of tools, a request of any format, or an MCP
    /// server's response to `tools/list`.
    #[track_caller]
    pub fn tools(self, declared: impl Into<Body>) -> Self {
        let Body(bytes) = declared.into();
        self.with(|settings| settings.tools(&bytes))
    }

    /// The text of a `toolcheck.toml`: rule settings and selection, allowed findings, policies, and other settings for a
    /// file of this name ([`Check::named`]). Options of the check itself take precedence. No file is read, so the
    /// configuration may not name any: it cannot extend another one or name a target or tools file.
    #[track_caller]
    pub fn config(self, toml: &str) -> Self {
        self.with(|settings| settings.config(toml))
    }

    /// Runs only these rules.
    #[track_caller]
    pub fn select<'r>(self, ids: impl IntoIterator<Item = &'r str>) -> Self {
        self.with(|settings| settings.select(ids))
    }

    /// Also runs these opt-in rules.
    #[track_caller]
    pub fn extend_select<'r>(self, ids: impl IntoIterator<Item = &'r str>) -> Self {
        self.with(|settings| settings.extend_select(ids))
    }

    /// Does not run these rules.
    #[track_caller]
    pub fn ignore<'r>(self, ids: impl IntoIterator<Item = &'r str>) -> Self {
        self.with(|settings| settings.ignore(ids))
    }

    /// The file name to show for the body; by default `body.json`.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whether a failing assertion uses colors; by default it does not.
    pub fn color(mut self, with_color: bool) -> Self {
        self.with_color = with_color;
        self
    }

    #[track_caller]
    fn with(mut self, set: impl FnOnce(Settings) -> Result<Settings, toolcheck_embed::Error>) -> Self {
        match set(std::mem::take(&mut self.settings)) {
            Ok(settings) => Self { settings, ..self },
            Err(error) => panic!("{error}"),
        }
    }

    /// The report on the body.
    pub fn report(&self) -> Checked {
        let linter = self.settings.clone().name(&self.name).linter();
        Checked { report: linter.report(&self.body.0), with_color: self.with_color }
    }

    /// Asserts that there are no findings, neither errors nor warnings.
    ///
    /// # Panics
    ///
    /// If there is a finding, with the output of `toolcheck lint`; or if there is no transcript.
    #[track_caller]
    pub fn assert_clean(&self) {
        self.assert_none("finding", |file| file.findings.len());
    }

    /// Asserts that there are no errors. Warnings are ignored.
    ///
    /// # Panics
    ///
    /// If there is an error, with the output of `toolcheck lint`; or if there is no transcript.
    #[track_caller]
    pub fn assert_no_errors(&self) {
        self.assert_none("error", |file| file.count(Level::Error));
    }

    #[track_caller]
    fn assert_none(&self, what: &'static str, count: fn(&FileReport) -> usize) {
        let checked = self.report();
        checked.assert_transcript();
        let count = count(checked.file());
        if count > 0 {
            panic!("{} in {}\n\n{}", Counted(count, what), checked.read_as(), checked.failure_text());
        }
    }

    /// Asserts that exactly these are the findings, in the order of the text: rules, optionally with levels and places
    /// (see [`Expected`] for the syntax).
    ///
    /// # Panics
    ///
    /// If the findings differ, with the missing and unexpected ones and the output of `toolcheck lint`.
    #[track_caller]
    pub fn assert_findings(&self, expected: &[&str]) {
        let mut wanted = Vec::new();
        for text in expected {
            match text.parse::<Expected>() {
                Ok(expected) => wanted.push(expected),
                Err(error) => panic!("invalid expectation `{text}`: {error}"),
            }
        }
        let checked = self.report();
        let difference = Difference::of(&wanted, &checked.found());
        if !difference.is_empty() {
            let lines: String =
                difference.lines(&shown(&self.name)).iter().map(|line| format!("  {line}\n")).collect();
            panic!(
                "unexpected or missing findings in {}\n{lines}\n{}",
                checked.read_as(),
                checked.failure_text()
            );
        }
    }
}

/// The maximum number of findings that a failing test shows.
const FINDINGS_SHOWN: usize = 10;

/// The report on a body.
///
/// Displayed, it has one line per finding, or is `clean`: ids and places without messages, so that a snapshot changes
/// only if the findings do. [`Checked::render`] returns the output for people.
///
/// ```
/// use toolcheck_test::check;
///
/// let report = check!([{"role": "user", "content": ""}]).format("anthropic").report();
/// assert_eq!(report.to_string(), "error empty-content at /0/content");
/// assert!(report.render().contains("help:"));
/// ```
#[derive(Debug)]
pub struct Checked {
    report: Report,
    with_color: bool,
}

impl Checked {
    fn file(&self) -> &FileReport {
        &self.report.files[0]
    }

    /// The id of the format that the body was read as; `None` if it was not recognised.
    pub fn format(&self) -> Option<&'static str> {
        self.file().format
    }

    /// The id of the target that the body was checked against.
    pub fn target(&self) -> Option<&str> {
        self.file().target.as_deref()
    }

    /// Whether there are no findings.
    pub fn is_clean(&self) -> bool {
        self.file().findings.is_empty()
    }

    /// The findings, in the order of the text.
    pub fn found(&self) -> Vec<ActualFinding> {
        self.file().findings.iter().map(ActualFinding::from).collect()
    }

    /// The output of `toolcheck lint`, in 80 columns. Its wording may change in any release.
    pub fn render(&self) -> String {
        self.write_full(false)
    }

    /// The output for the first findings, which a failing test prints.
    fn failure_text(mut self) -> String {
        let findings = &mut self.report.files[0].findings;
        let more = findings.len().saturating_sub(FINDINGS_SHOWN);
        findings.truncate(FINDINGS_SHOWN);
        match more {
            0 => self.render(),
            _ => format!("{}and {}\n", self.write_full(true), Counted(more, "more finding")),
        }
    }

    fn write_full(&self, is_quiet: bool) -> String {
        let mut text = Vec::new();
        let style = Style::new().color(self.with_color).is_quiet(is_quiet);
        let written = outputs::find("full").map(|full| (full.write)(&self.report, &style, &mut text));
        debug_assert!(matches!(written, Some(Ok(()))), "writing to memory never fails");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The body's name, format and target, in words.
    fn read_as(&self) -> String {
        let format = self.format().unwrap_or("an unknown format");
        let target = shown(self.target().unwrap_or("no target"));
        format!("{}, read as {format} and checked against {target}", shown(&self.file().path))
    }

    /// A body without a transcript is not clean: its test would test nothing.
    #[track_caller]
    fn assert_transcript(&self) {
        if self.file().transcripts == 0 && self.is_clean() {
            panic!("no transcript found in {}", shown(&self.file().path));
        }
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("clean");
        }
        for (number, found) in self.found().iter().enumerate() {
            write!(f, "{}{found}", if number > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// Version 1 of a serialised report. Keys may be added, but not removed or changed.
#[derive(Serialize)]
struct CheckedV1<'c> {
    format: Option<&'static str>,
    target: Option<&'c str>,
    findings: Vec<FoundV1>,
}

#[derive(Serialize)]
struct FoundV1 {
    rule: RuleId,
    level: &'static str,
    record: usize,
    pointer: String,
}

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let findings = self.found().into_iter().map(|found| FoundV1 {
            rule: found.rule,
            level: found.level.as_str(),
            record: found.place.record,
            pointer: found.place.pointer,
        });
        CheckedV1 { format: self.format(), target: self.target(), findings: findings.collect() }
            .serialize(serializer)
    }
}

#[track_caller]
pub(crate) fn known_format(id: &str) -> &'static Format {
    // Not a closure: a panic in a closure would report the closure's place, not the caller's.
    let Some(format) = formats::named(id) else {
        let unknown = unknown("format", id, formats::names());
        let ids: Vec<&str> = formats::ALL.iter().map(|format| format.id).collect();
        panic!("{unknown}\n\nformats: {}", ids.join(", "))
    };
    format
}
