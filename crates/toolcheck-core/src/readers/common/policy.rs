//! What may be said of files that are not requests, as data.

use foldhash::HashMap;
use serde::Deserialize;

use super::SourceKind;
use crate::error::Error;
use crate::level::Level;
use crate::rule_id::RuleId;
use crate::tables::{READERS, Tables};

/// The rules that hold for a kind of file, each with the level of its findings. A rule that is not named reports nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "HashMap<RuleId, RuleLevel>")]
pub struct Policy {
    levels: HashMap<RuleId, Level>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleLevel {
    level: String,
    #[allow(dead_code, reason = "the tests ask for it")]
    because: String,
}

static POLICIES: Tables<Policy, { READERS.1.len() }> = Tables::new(READERS);

impl TryFrom<HashMap<RuleId, RuleLevel>> for Policy {
    type Error = Error;

    fn try_from(rules: HashMap<RuleId, RuleLevel>) -> Result<Self, Error> {
        let level = |(rule, entry): (RuleId, RuleLevel)| Ok((rule, entry.level.parse()?));
        Ok(Self { levels: rules.into_iter().map(level).collect::<Result<_, Error>>()? })
    }
}

fn named(name: &str) -> &'static Policy {
    // A test asks for each.
    POLICIES.find(name).expect("there is a file of this name")
}

impl Policy {
    /// The level of a rule's findings; `None` if the rule reports nothing.
    pub fn level(&self, rule: RuleId) -> Option<Level> {
        self.levels.get(&rule).copied()
    }

    /// The rules that it names.
    pub fn rules(&self) -> impl Iterator<Item = RuleId> {
        self.levels.keys().copied()
    }

    /// What may be said of the request that an agent makes next, if it does not put it right itself.
    pub fn of_next_request() -> &'static Self {
        named("next-request")
    }

    /// What may be said of messages that an agent sends as they are, if the API refuses it.
    pub fn of_sent_messages() -> &'static Self {
        named("sent-messages")
    }
}

impl SourceKind {
    /// The heading in lists of formats.
    pub fn title(self) -> &'static str {
        match self {
            Self::AgentLog => "Logs of agents",
            Self::History => "Histories of frameworks",
            Self::Dataset => "Data sets",
            Self::Trace => "Traces",
            Self::Protocol => "Logs of protocols",
        }
    }

    /// What may be said of such files.
    pub fn policy(self) -> &'static Policy {
        named(self.as_str())
    }
}
