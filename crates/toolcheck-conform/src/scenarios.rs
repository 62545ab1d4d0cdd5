//! What the model and the server do, and what the loop must do then.

use std::sync::LazyLock;

use serde::Deserialize;
use toolcheck_serve::Turn;

/// A scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Scenario {
    /// Its id, which is also the name of its file.
    pub id: String,
    /// What happens in it.
    pub title: String,
    /// The set of scenarios that it came with.
    pub since: String,
    /// Where the fault was seen, or what says that it is one.
    pub sources: Vec<String>,
    /// What the user says first.
    #[serde(default = "default_prompt")]
    pub prompt: String,
    /// What the user says after the run has ended, in the same conversation.
    pub then: Option<String>,
    /// The formats that it is about; all, if there are none.
    #[serde(default)]
    pub formats: Vec<String>,
    /// Whether it is only about streams.
    #[serde(default)]
    pub streamed: bool,
    /// What the model says, and the server does.
    #[serde(rename = "turn")]
    pub turns: Vec<Turn>,
    /// What the loop is held against.
    #[serde(rename = "check")]
    pub checks: Vec<Expected>,
}

/// A check, and how much depends on it: exactly one of the three is there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Expected {
    /// The id of a check that a loop fails without.
    pub must: Option<String>,
    /// The id of a check that a loop is weak without.
    pub should: Option<String>,
    /// The id of a check that is only told.
    pub info: Option<String>,
}

impl Expected {
    /// The id of the check.
    #[must_use]
    pub fn check(&self) -> &str {
        [&self.must, &self.should, &self.info].into_iter().flatten().next().map_or("", String::as_str)
    }
}

fn default_prompt() -> String {
    "Please use your tools.".to_owned()
}

macro_rules! scenarios {
    ($($id:literal),* $(,)?) => {
        /// The texts of the scenarios.
        const TEXTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../scenarios/", $id, ".toml")))),*];
    };
}

scenarios![
    "single-call",
    "parallel-calls",
    "parallel-slow-first",
    "parallel-same-tool",
    "parallel-one-fails",
    "all-fail",
    "text-beside-call",
    "blank-text-beside-call",
    "nested-three",
    "twenty-calls",
    "unknown-tool",
    "unknown-beside-known",
    "schema-mismatch",
    "broken-arguments",
    "broken-beside-good",
    "no-arguments-empty-string",
    "array-arguments",
    "null-arguments",
    "double-encoded-arguments",
    "python-arguments",
    "cut-off-by-length",
    "cut-off-optional",
    "stream-closes-in-arguments",
    "stream-closes-between-calls",
    "fragmented-arguments",
    "interleaved-deltas",
    "stop-says-end",
    "duplicate-id",
    "reused-id",
    "empty-id",
    "foreign-id",
    "missing-gemini-id",
    "empty-result",
    "reasoning-kept",
    "reasoning-content-kept",
    "rate-limited-mid-loop",
    "overloaded-mid-loop",
    "refused-mid-loop",
    "resume-after-failure",
    "resume-after-cut-stream",
    "same-call-for-ever",
    "empty-answer",
];

static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let read = |(id, text): &(&str, &str)| {
        toml::from_str(text).unwrap_or_else(|error| panic!("the scenario {id} can be read: {error}"))
    };
    TEXTS.iter().map(read).collect()
});

/// All scenarios, in the order in which they are run.
#[must_use]
pub fn all() -> &'static [Scenario] {
    &ALL
}

/// The scenario with an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Scenario> {
    ALL.iter().find(|scenario| scenario.id == id)
}
