//! What the model and the server do, and what the loop must do then.

use std::sync::LazyLock;

use serde::Deserialize;
use toolcheck_serve::Turn;

use crate::evidence::{self, Evidence};

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
    /// The tools that it needs besides the six that every loop has.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Whether the user ends the first run as soon as the tool `slow` is called.
    #[serde(default)]
    pub interrupt: bool,
    /// Whether the user goes on in a copy of the conversation that ends before the model's last answer.
    #[serde(default)]
    pub fork: bool,
    /// How many requests the first run may send.
    pub max_turns: Option<u32>,
    /// The formats in which the conversation goes on: the first that is another one than before.
    #[serde(default)]
    pub then_formats: Vec<String>,
    /// Whether no tool is declared once the conversation goes on.
    #[serde(default)]
    pub withdraws_tools: bool,
    /// The formats that it is about; all, if there are none.
    #[serde(default)]
    pub formats: Vec<String>,
    /// Whether it is only about streams.
    #[serde(default)]
    pub streamed: bool,
    /// The formats in which it is only about streams: their whole responses have no room for what it has.
    #[serde(default)]
    pub only_streamed: Vec<String>,
    /// What the model says, and the server does.
    #[serde(rename = "turn")]
    pub turns: Vec<Turn>,
    /// The turns as the scenario has them, if a profile has put an agent's own tools in their place.
    #[serde(skip)]
    pub as_written: Vec<Turn>,
    /// The tool with which a run ends, if a profile names one.
    #[serde(skip)]
    pub final_tool: Option<String>,
    /// What the loop is held against.
    #[serde(rename = "check")]
    pub checks: Vec<Expected>,
}

impl Scenario {
    /// What the model says, whatever tools the agent has for it.
    pub fn said(&self) -> &[Turn] {
        if self.as_written.is_empty() { &self.turns } else { &self.as_written }
    }

    /// What a driver must be able to do besides running the loop with the six standard tools: one that knows none of it
    /// skips the scenario.
    pub fn needs(&self) -> Vec<String> {
        let ways = [
            (self.interrupt, "interrupt"),
            (self.fork, "fork"),
            (self.max_turns.is_some(), "max-turns"),
            (!self.then_formats.is_empty(), "switch-format"),
            (self.withdraws_tools, "withdraw-tools"),
            // No API runs a tool that a request does not declare, and a client may leave out what it did not ask for.
            (self.turns.iter().any(|turn| !turn.server_calls.is_empty()), "web-search"),
        ];
        let ways = ways.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, way)| way.to_owned());
        self.tools.iter().map(|tool| format!("tool:{tool}")).chain(ways).collect()
    }

    /// The format in which a conversation that began in this one goes on, if it is another one.
    pub fn then_format(&self, format: &str) -> Option<&str> {
        self.then_formats.iter().map(String::as_str).find(|then| *then != format)
    }

    /// Whether it is about a format only if the response is streamed.
    pub fn wants_stream(&self, format: &str) -> bool {
        self.streamed || self.only_streamed.iter().any(|own| own == format)
    }

    /// Whether it is about a format.
    pub fn is_about(&self, format: &str) -> bool {
        self.formats.is_empty() || self.formats.iter().any(|own| own == format)
    }
}

/// A check, and how much depends on it: exactly one of the first three is there.
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
    /// The formats in which it is held against it; all, if there are none.
    #[serde(default)]
    pub formats: Vec<String>,
    /// What says that it must be so in this scenario, where what says it of the check is about others.
    #[serde(default)]
    pub sources: Vec<String>,
}

impl Expected {
    /// Whether it is held against a run in a format; if that is not known, against any.
    pub fn is_held_in(&self, format: Option<&str>) -> bool {
        self.formats.is_empty() || format.is_none_or(|format| self.formats.iter().any(|own| own == format))
    }

    /// What says that it must be so in a format.
    pub fn sources_in(&self, format: &str) -> Vec<&str> {
        let is_about = |evidence: &&Evidence| evidence.formats.iter().any(|own| own == format);
        let of_check =
            evidence::of(self.check()).iter().filter(is_about).flat_map(|evidence| &evidence.sources);
        let own = self.sources.iter().filter(|_| self.is_held_in(Some(format)));
        own.chain(of_check).map(String::as_str).collect()
    }

    /// The id of the check.
    pub fn check(&self) -> &str {
        [&self.must, &self.should, &self.info].into_iter().flatten().next().map_or("", String::as_str)
    }
}

fn default_prompt() -> String {
    "Please use your tools.".to_owned()
}

const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

static ALL: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let read = |(id, text): &(&str, &str)| {
        toml::from_str(text).unwrap_or_else(|error| panic!("the scenario {id} can be read: {error}"))
    };
    TEXTS.iter().map(read).collect()
});

/// All scenarios, in the order in which they are run.
pub fn all() -> &'static [Scenario] {
    &ALL
}

/// The scenario with an id.
pub fn find(id: &str) -> Option<&'static Scenario> {
    ALL.iter().find(|scenario| scenario.id == id)
}
