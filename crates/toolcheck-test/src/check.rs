//! One body held against the rules, in a test.

use std::fmt;
use std::path::Path;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use toolcheck_config::Config;
use toolcheck_config::allow;
use toolcheck_config::{Overrides, TargetSource, parse_target};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::suggest::similar;
use toolcheck_core::target;
use toolcheck_core::text::{Counted, shown};
use toolcheck_core::tools::{self, Definition};
use toolcheck_core::{Format, Level, formats};
use toolcheck_json::Document;
use toolcheck_lint::TargetRef;
use toolcheck_lint::{FileReport, Options, Report, Rule, lint, rules};
use toolcheck_report::{Style, outputs};

use crate::config;
use crate::expected::{Difference, Expected, Found, similar_rule};

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
/// It is held against the API of its own format, with the rules that are on where nobody says otherwise, unless the
/// [`Check`] says more.
pub fn check(body: impl Into<Body>) -> Check {
    Check {
        name: "body.json".to_owned(),
        body: body.into(),
        tools: Vec::new(),
        config: Config::default(),
        overrides: Overrides::default(),
        with_color: false,
    }
}

/// What is checked, as the bytes that would be sent: made of text, of bytes, or of a [`serde_json::Value`].
#[derive(Clone, PartialEq, Eq)]
pub struct Body(Vec<u8>);

impl Body {
    /// What serde writes of a value, such as a request of your own types.
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
    /// Where the value can't be written as JSON.
    #[must_use]
    #[track_caller]
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        // On several lines, so that a line number says something.
        match serde_json::to_vec_pretty(value) {
            Ok(bytes) => Self(bytes),
            Err(error) => panic!("it can't be written as JSON: {error}"),
        }
    }

    /// JSON Lines: each value a record.
    #[must_use]
    pub fn lines<'v>(records: impl IntoIterator<Item = &'v Json>) -> Self {
        Self(records.into_iter().flat_map(|record| format!("{record}\n").into_bytes()).collect())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({:?})", String::from_utf8_lossy(&self.0))
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&String> for Body {
    fn from(text: &String) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl<const LENGTH: usize> From<&[u8; LENGTH]> for Body {
    fn from(bytes: &[u8; LENGTH]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&Vec<u8>> for Body {
    fn from(bytes: &Vec<u8>) -> Self {
        Self(bytes.clone())
    }
}

impl From<&Json> for Body {
    fn from(value: &Json) -> Self {
        // Its own text with indentation, which can always be written.
        Self(format!("{value:#}").into_bytes())
    }
}

impl From<Json> for Body {
    fn from(value: Json) -> Self {
        (&value).into()
    }
}

/// A body, and how it is to be checked.
///
/// Nothing is checked until something is asserted, or [`Check::report`] is asked for. A name that there is not (of a
/// format, a target, a kind or a rule) panics at once, with the name that is most like it.
#[derive(Debug, Clone)]
#[must_use = "nothing is checked until something is asserted"]
pub struct Check {
    name: String,
    body: Body,
    tools: Vec<Definition>,
    config: Config,
    /// What takes precedence over the configuration.
    overrides: Overrides,
    with_color: bool,
}

impl Check {
    /// The wire format that it is written in, by a name of `toolcheck formats`. Left out, the content shows it.
    #[track_caller]
    pub fn format(mut self, id: &str) -> Self {
        self.overrides.read_as.format = Some(known_format(id));
        self
    }

    /// The API that it is for, by a name of `toolcheck targets`. Left out, it is the format's own.
    #[track_caller]
    pub fn target(mut self, id: &str) -> Self {
        let Some(target) = target::named(id) else { no_such("target", id, target::ids(), target::names()) };
        self.overrides.read_as.target = Some(target.into());
        self
    }

    /// The API that it is for, described by the text of a TOML file (`schemas/target.v1.schema.json`).
    #[track_caller]
    pub fn own_target(mut self, toml: &str) -> Self {
        match parse_target(toml) {
            Ok(target) => self.overrides.read_as.target = Some(TargetRef::from(target).into()),
            Err(error) => panic!("it is no target:\n{error}"),
        }
        self
    }

    /// What it is for: `request` (left out, this), `session` or `dataset`. The last two may end with calls that nothing
    /// answers yet.
    #[track_caller]
    pub fn kind(mut self, kind: &str) -> Self {
        let kinds = || TranscriptKind::ALL.iter().copied().map(TranscriptKind::as_str);
        let Ok(kind) = kind.parse() else { no_such("kind", kind, kinds(), kinds()) };
        self.overrides.read_as.kind = Some(kind);
        self
    }

    /// Declares tools for transcripts that do not: a list of them, a request of any format, or an MCP server's answer to
    /// `tools/list`.
    #[track_caller]
    pub fn tools(mut self, declared: impl Into<Body>) -> Self {
        let Body(bytes) = declared.into();
        let document = Document::read(&bytes);
        let tools = Some(document.root()).filter(|_| document.faults().is_empty()).and_then(tools::read);
        let Some(tools) = tools else {
            panic!("it declares no tools: it is no list of them, no request and no answer to tools/list")
        };
        self.tools = tools;
        self
    }

    /// The text of a `toolcheck.toml`: what rules are set to, which of them run, what is allowed, your own policies, and
    /// whatever else it says of a file of this name ([`Check::named`]) that the check itself does not. No file is looked
    /// for, so it may not name any: no configuration that it extends, no target or tools of its own.
    #[track_caller]
    pub fn config(mut self, toml: &str) -> Self {
        let config = match config::read(toml) {
            Ok(config) => config,
            Err(error) => panic!("it is no configuration: {error}"),
        };
        let reads = std::iter::once(&config.read_as).chain(config.files.iter().map(|files| &files.read_as));
        for read_as in reads {
            if matches!(read_as.target, Some(TargetSource::File(_))) || read_as.tools.is_some() {
                panic!(
                    "it is no configuration for a test: it names a file of a target or of tools, and none is read"
                );
            }
        }
        self.config = config;
        self
    }

    /// Runs these rules and no others.
    #[track_caller]
    pub fn select<'r>(mut self, ids: impl IntoIterator<Item = &'r str>) -> Self {
        self.overrides.selection.select = known_rules(ids);
        self
    }

    /// Runs these rules too: those that are off unless somebody asks for them.
    #[track_caller]
    pub fn extend_select<'r>(mut self, ids: impl IntoIterator<Item = &'r str>) -> Self {
        self.overrides.selection.extend_select.extend(known_rules(ids));
        self
    }

    /// Does not run these rules.
    #[track_caller]
    pub fn ignore<'r>(mut self, ids: impl IntoIterator<Item = &'r str>) -> Self {
        self.overrides.selection.ignore.extend(known_rules(ids));
        self
    }

    /// The name that it has where it is shown; `body.json` where nobody says otherwise.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whether a failing assertion shows colours. It does not where nobody asks for them.
    pub fn color(mut self, with_color: bool) -> Self {
        self.with_color = with_color;
        self
    }

    /// What is found.
    #[must_use]
    pub fn report(&self) -> Checked {
        let path = Path::new(&self.name);
        let (read_as, selection) = self.config.for_file(path, &self.overrides);
        let target = match &read_as.target {
            Some(TargetSource::Loaded(target)) => Some(target.clone()),
            // A configuration that names a file was refused.
            Some(TargetSource::File(_)) | None => None,
        };
        let options = Options::new()
            .format(read_as.format)
            .kind(read_as.kind_for(target.as_deref()))
            .target(target)
            .tools(self.tools.clone())
            .settings(self.config.settings.clone())
            .rules(selection.rules());
        let mut file = lint(&self.name, &self.body.0, &options);
        // Which entries are used shows only over all files of a project.
        let _ = allow::apply(&self.config.allows, path, &mut file);
        Checked { report: Report::new(vec![file]), with_color: self.with_color }
    }

    /// Asserts that nothing is found, neither an error nor a warning.
    ///
    /// # Panics
    ///
    /// Where something is found, with the picture that `toolcheck lint` draws; and where there is no transcript at all.
    #[track_caller]
    pub fn assert_clean(&self) {
        let checked = self.report();
        checked.assert_transcript();
        let count = checked.file().findings.len();
        if count > 0 {
            panic!("{} in {}\n\n{}", Counted(count, "finding"), checked.read_as(), checked.told());
        }
    }

    /// Asserts that nothing is found that the target refuses, and no call or result is lost. Warnings may be.
    ///
    /// # Panics
    ///
    /// Where there is an error, with the picture that `toolcheck lint` draws; and where there is no transcript at all.
    #[track_caller]
    pub fn assert_no_errors(&self) {
        let checked = self.report();
        checked.assert_transcript();
        let count = checked.file().count(Level::Error);
        if count > 0 {
            panic!("{} in {}\n\n{}", Counted(count, "error"), checked.read_as(), checked.told());
        }
    }

    /// Asserts that exactly this is found, in the order of the text: rules, with levels and places where they matter
    /// ([`Expected`] says how they are written).
    ///
    /// # Panics
    ///
    /// Where something else is found, with what is missing, what is unexpected, and the picture that `toolcheck lint`
    /// draws.
    #[track_caller]
    pub fn assert_findings(&self, expected: &[&str]) {
        let mut wanted = Vec::new();
        for text in expected {
            match text.parse::<Expected>() {
                Ok(expected) => wanted.push(expected),
                Err(error) => panic!("`{text}` can't be expected: {error}"),
            }
        }
        let checked = self.report();
        let difference = Difference::of(&wanted, &checked.found());
        if !difference.is_empty() {
            let lines: String =
                difference.lines(&shown(&self.name)).iter().map(|line| format!("  {line}\n")).collect();
            panic!("other findings than expected in {}\n{lines}\n{}", checked.read_as(), checked.told());
        }
    }
}

/// How many findings a failing test shows.
const FINDINGS_TOLD: usize = 10;

/// What was found in a body.
///
/// As text it is one finding a line, or `clean`: ids and places and no wording, so that a snapshot of it changes only
/// where what is found does. [`Checked::picture`] is the other one, for people.
///
/// ```
/// use toolcheck_test::check;
///
/// let report = check!([{"role": "user", "content": ""}]).format("anthropic").report();
/// assert_eq!(report.to_string(), "error empty-content at /0/content");
/// assert!(report.picture().contains("help:"));
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

    /// The id of the format that it was read as; `None` where none recognised it.
    #[must_use]
    pub fn format(&self) -> Option<&'static str> {
        self.file().format
    }

    /// The id of the target that it was held against.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.file().target.as_deref()
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.file().findings.is_empty()
    }

    /// What was found, in the order of the text.
    #[must_use]
    pub fn found(&self) -> Vec<Found> {
        self.file().findings.iter().map(Found::from).collect()
    }

    /// What `toolcheck lint` shows, in 80 columns. Its wording may change in any release.
    #[must_use]
    pub fn picture(&self) -> String {
        self.drawn(false)
    }

    /// The picture of the first findings, which a failing test prints.
    fn told(mut self) -> String {
        let findings = &mut self.report.files[0].findings;
        let more = findings.len().saturating_sub(FINDINGS_TOLD);
        findings.truncate(FINDINGS_TOLD);
        match more {
            0 => self.picture(),
            _ => format!("{}and {}\n", self.drawn(true), Counted(more, "more finding")),
        }
    }

    fn drawn(&self, is_quiet: bool) -> String {
        let mut text = Vec::new();
        let style = Style::new().color(self.with_color).is_quiet(is_quiet);
        let drawn = outputs::find("full").map(|full| (full.write)(&self.report, &style, &mut text));
        debug_assert!(matches!(drawn, Some(Ok(()))), "a picture in memory is always drawn");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// What it is and what for.
    fn read_as(&self) -> String {
        let format = self.format().unwrap_or("nothing known");
        let target = shown(self.target().unwrap_or("no API"));
        format!("{}, read as {format} and checked against {target}", shown(&self.file().path))
    }

    /// What holds no transcript is not clean: a test of it would test nothing.
    #[track_caller]
    fn assert_transcript(&self) {
        if self.file().transcripts == 0 && self.is_clean() {
            panic!("there is no transcript in {}", shown(&self.file().path));
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

/// What a snapshot keeps: version 1, to which keys may be added.
#[derive(Serialize)]
struct CheckedV1<'c> {
    format: Option<&'static str>,
    target: Option<&'c str>,
    findings: Vec<FoundV1>,
}

#[derive(Serialize)]
struct FoundV1 {
    rule: &'static str,
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

/// The format of that id.
#[track_caller]
pub(crate) fn known_format(id: &str) -> &'static Format {
    // A closure would tell its own place, here and below.
    let Some(format) = formats::named(id) else {
        no_such("format", id, formats::ALL.iter().map(|format| format.id), formats::names())
    };
    format
}

#[track_caller]
fn known_rules<'r>(ids: impl IntoIterator<Item = &'r str>) -> Vec<&'static Rule> {
    let mut known = Vec::new();
    for id in ids {
        let Some(rule) = rules::find(id) else { panic!("there is no rule `{id}`{}", similar_rule(id)) };
        known.push(rule);
    }
    known
}

#[track_caller]
fn no_such<'k>(
    what: &str,
    id: &str,
    listed: impl Iterator<Item = &'k str>,
    known: impl Iterator<Item = &'k str>,
) -> ! {
    let similar = similar(id, known);
    panic!("there is no {what} `{id}`{similar}\n\n{what}s: {}", listed.collect::<Vec<_>>().join(", "))
}
