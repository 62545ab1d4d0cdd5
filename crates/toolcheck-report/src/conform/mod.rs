//! Reports on agent loops that were run through scenarios, and their outputs: one file each.
//!
//! A report is what `schemas/conform.v1.schema.json` of the repository describes. It has all that the other outputs need,
//! so that they can be written later, and for several clients at once.

mod html;
mod json;
mod junit;
mod markdown;
mod page;
mod picture;
mod table;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use toolcheck_core::{Error, names};

pub use html::{html, matrix_html};
pub use json::{json, matrix_json};
pub use junit::junit;
pub use markdown::{markdown, matrix_markdown};
pub use text::text;

const VERSION: u32 = 1;

/// The results of a client's runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of the format.
    pub version: u32,
    /// The version of toolcheck.
    pub toolcheck: String,
    /// The set of scenarios that counts.
    pub set: String,
    /// The name of the client.
    pub name: String,
    /// The command that is the client.
    pub client: String,
    /// The runs, in their order.
    pub runs: Vec<ScenarioRun>,
    /// Failures that are said to be known, and that did not happen.
    pub stale: Vec<String>,
    /// How many runs were still to come when this was written.
    #[serde(default)]
    pub runs_left: usize,
}

/// A scenario in a format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScenarioRun {
    /// The id of the scenario.
    pub scenario: String,
    /// What happens in it.
    pub title: String,
    /// Whether it belongs to the set that counts.
    pub scored: bool,
    /// The id of the format.
    pub format: String,
    /// Whether responses were streamed.
    pub stream: bool,
    /// The worst verdict.
    pub status: Status,
    /// Why there are no verdicts.
    pub reason: Option<String>,
    /// What each check says.
    pub verdicts: Vec<Verdict>,
    /// How the run ended for the user of the loop.
    pub outcome: String,
    /// What the API refused.
    pub refused: Vec<RefusedRequest>,
    /// The exchanges, as `toolcheck lint` reads them.
    pub exchanges: Vec<Json>,
    /// How many more there were, which would have made the report too large.
    pub exchanges_left_out: usize,
    /// The name of the file with all exchanges.
    pub file: Option<String>,
}

/// What a check says of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The id of the check.
    pub check: String,
    /// What it says: [`Status::Broke`] and [`Status::Skip`] are not said by checks.
    pub status: Status,
    /// What is wrong, or why nothing can be said.
    pub reason: String,
    /// Why it is known to fail.
    pub known: Option<String>,
}

/// A request that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedRequest {
    /// The id of the rule.
    pub rule: String,
    /// What is wrong.
    pub message: String,
    /// Where in the body: a JSON Pointer.
    pub place: String,
    /// What the API says.
    pub text: Option<String>,
    /// The status.
    pub status: u16,
    /// Where the refusal was seen, or what says that there is one.
    pub source: Option<String>,
}

names! {
    /// What became of a run or a check, the worst last.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Status {
        /// The client does not support the scenario.
        Skip = "skip",
        /// Informational: it does not affect the result.
        Info = "info",
        /// It is as it must and should be.
        Pass = "pass",
        /// It is not as it should be.
        Weak = "weak",
        /// The run does not show whether it is as it must or should be.
        Inconclusive = "inconclusive",
        /// It is not as it must be.
        Fail = "fail",
        /// The client crashed, answered nonsense or took too long.
        Broke = "broke",
    }
    /// The name.
    as_str
}

impl Status {
    /// Whether it makes the exit status 1 where it is not known.
    pub fn counts(self) -> bool {
        self >= Self::Inconclusive
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Report {
    /// A report on a client, without runs.
    pub fn new(toolcheck: &str, set: &str, name: &str, client: &str) -> Self {
        let owned = str::to_owned;
        Self {
            version: VERSION,
            toolcheck: owned(toolcheck),
            set: owned(set),
            name: owned(name),
            client: owned(client),
            runs: Vec::new(),
            stale: Vec::new(),
            runs_left: 0,
        }
    }

    /// Reads a report.
    ///
    /// # Errors
    ///
    /// It is not a report, or one of another version; the error has the place.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        /// The version, which is read even if all else has changed.
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        if let Ok(Versioned { version }) = serde_json::from_slice(text)
            && version != u64::from(VERSION)
        {
            return Err(Error::new(format!(
                "it has version {version}, but this program reads version {VERSION}"
            )));
        }
        serde_json::from_slice(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Error::new(match error.is_data() {
                true => error.to_string(),
                false => format!("it is not valid JSON (line {line}, column {column})"),
            })
        })
    }
}

/// The most bytes of exchanges in a run.
const MOST_OF_RUN: usize = 64 << 10;

impl ScenarioRun {
    /// A run of a scenario, of which nothing is known yet.
    pub fn new(scenario: &str, title: &str, format: &str, stream: bool) -> Self {
        Self {
            scenario: scenario.to_owned(),
            title: title.to_owned(),
            scored: true,
            format: format.to_owned(),
            stream,
            status: Status::Skip,
            reason: None,
            verdicts: Vec::new(),
            outcome: String::new(),
            refused: Vec::new(),
            exchanges: Vec::new(),
            exchanges_left_out: 0,
            file: None,
        }
    }

    /// Adds the exchanges, each as a line of JSON, in bounds.
    pub fn keep(&mut self, lines: impl Iterator<Item = String>) {
        let mut bytes = 0;
        for line in lines {
            bytes += line.len();
            let exchange = (bytes <= MOST_OF_RUN).then(|| serde_json::from_str(&line).ok()).flatten();
            match exchange {
                Some(exchange) => self.exchanges.push(exchange),
                None => self.exchanges_left_out += 1,
            }
        }
    }

    /// The status by the verdicts.
    pub fn judge(&mut self) {
        let worst = self.verdicts.iter().map(|verdict| verdict.status).max();
        self.status = worst.unwrap_or(Status::Pass).max(Status::Pass);
    }

    /// Whether it fails, or does not show enough, in a way that is known, and in no other.
    pub fn is_known(&self) -> bool {
        let mut counting = self.verdicts.iter().filter(|verdict| verdict.status.counts());
        self.status.counts()
            && self.status != Status::Broke
            && counting.all(|verdict| verdict.known.is_some())
    }

    /// Whether it makes the exit status 1.
    pub fn is_unexpected(&self) -> bool {
        self.scored && self.status.counts() && !self.is_known()
    }

    /// Whether responses were streamed, in a word.
    fn way(&self) -> &'static str {
        if self.stream { "streamed" } else { "whole" }
    }

    /// The verdicts that say that something is not as it must or should be.
    fn faults(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| verdict.status > Status::Pass)
    }
}

impl Verdict {
    /// What a check says.
    pub fn new(check: &str, status: Status, reason: &str) -> Self {
        Self { check: check.to_owned(), status, reason: reason.to_owned(), known: None }
    }
}

impl RefusedRequest {
    /// A refusal by a rule.
    pub fn new(rule: &str, message: &str, place: &str, status: u16) -> Self {
        Self {
            rule: rule.to_owned(),
            message: message.to_owned(),
            place: place.to_owned(),
            text: None,
            status,
            source: None,
        }
    }
}
