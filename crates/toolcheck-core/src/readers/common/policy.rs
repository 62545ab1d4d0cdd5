//! What may be said of files that are not requests, as data.

use std::sync::OnceLock;

use foldhash::HashMap;
use serde::Deserialize;

use super::SourceKind;
use crate::level::Level;
use crate::rule_id::RuleId;

/// The rules that hold for a kind of file, each with the level of its findings. A rule that is not named reports nothing.
#[derive(Debug, Default)]
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

/// A policy as it is written, read when files of its kind are.
struct Packed {
    bytes: &'static [u8],
    read: OnceLock<Policy>,
}

impl Packed {
    const fn new(bytes: &'static [u8]) -> Self {
        Self { bytes, read: OnceLock::new() }
    }

    fn entries(&self) -> HashMap<RuleId, RuleLevel> {
        // A test reads it, so that it can't fail for users.
        toolcheck_toml::from_packed(self.bytes).expect("the policy is valid")
    }

    fn policy(&self) -> &Policy {
        self.read.get_or_init(|| {
            let level = |(rule, entry): (RuleId, RuleLevel)| {
                (rule, entry.level.parse().expect("a level is `error` or `warning`"))
            };
            Policy { levels: self.entries().into_iter().map(level).collect() }
        })
    }
}

macro_rules! packed {
    ($name:literal) => {
        Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/readers/", $name, ".packed")))
    };
}

static AGENT_LOG: Packed = packed!("agent-log");
static HISTORY: Packed = packed!("history");
static DATASET: Packed = packed!("dataset");
static TRACE: Packed = packed!("trace");
static PROTOCOL: Packed = packed!("protocol");
static NEXT_REQUEST: Packed = packed!("next-request");

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
        NEXT_REQUEST.policy()
    }
}

impl SourceKind {
    /// The sorts, in the order of the documentation.
    pub const ALL: &[Self] = &[Self::AgentLog, Self::History, Self::Dataset, Self::Trace, Self::Protocol];

    /// The name in the data and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgentLog => "agent-log",
            Self::History => "history",
            Self::Dataset => "dataset",
            Self::Trace => "trace",
            Self::Protocol => "protocol",
        }
    }

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

    fn packed(self) -> &'static Packed {
        match self {
            Self::AgentLog => &AGENT_LOG,
            Self::History => &HISTORY,
            Self::Dataset => &DATASET,
            Self::Trace => &TRACE,
            Self::Protocol => &PROTOCOL,
        }
    }

    /// What may be said of such files.
    pub fn policy(self) -> &'static Policy {
        self.packed().policy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_has_a_policy_with_reasons() {
        for policy in SourceKind::ALL.iter().map(|kind| kind.packed()).chain([&NEXT_REQUEST]) {
            let entries = policy.entries();
            assert!(policy.policy().rules().count() > 0);
            assert!(entries.values().all(|entry| !entry.because.is_empty()));
        }
    }
}
