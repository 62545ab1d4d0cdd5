//! What may be said of files that are not requests, as data.

use std::sync::OnceLock;

use foldhash::HashMap;
use serde::Deserialize;

use super::Sort;
use crate::level::Level;
use crate::rule_id::RuleId;

/// The rules that hold for a sort of files, each with the level of its findings. A rule that is not named reports nothing.
#[derive(Debug, Default)]
pub struct Policy {
    levels: HashMap<RuleId, Level>,
}

/// The policies as they are written, with the evidence for each level.
#[derive(Deserialize)]
struct File {
    #[serde(flatten)]
    sorts: HashMap<String, HashMap<RuleId, Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    level: String,
    /// Why.
    #[allow(dead_code, reason = "the tests ask for it")]
    because: String,
}

/// The name of what agents send next, beside the sorts.
const NEXT_REQUEST: &str = "next-request";

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/readers/policy.packed"));

impl Policy {
    /// The level of a rule's findings; `None` if the rule reports nothing.
    #[must_use]
    pub fn level(&self, rule: RuleId) -> Option<Level> {
        self.levels.get(&rule).copied()
    }

    /// The rules that it names.
    pub fn rules(&self) -> impl Iterator<Item = RuleId> {
        self.levels.keys().copied()
    }

    /// What may be said of the request that an agent makes next, if it does not put it right itself.
    #[must_use]
    pub fn of_next_request() -> &'static Self {
        &Self::all()[NEXT_REQUEST]
    }

    fn all() -> &'static HashMap<String, Self> {
        static ALL: OnceLock<HashMap<String, Policy>> = OnceLock::new();
        ALL.get_or_init(|| {
            // A test reads it, so that it can't fail for users.
            let file: File = toolcheck_toml::from_packed(PACKED).expect("the policies are valid");
            let policy = |rules: HashMap<RuleId, Entry>| {
                let level = |(rule, entry): (RuleId, Entry)| {
                    (rule, entry.level.parse().expect("a level is `error` or `warning`"))
                };
                Self { levels: rules.into_iter().map(level).collect() }
            };
            file.sorts.into_iter().map(|(sort, rules)| (sort, policy(rules))).collect()
        })
    }
}

impl Sort {
    /// The sorts, in the order of the documentation.
    pub const ALL: &[Self] = &[Self::AgentLog, Self::History, Self::Dataset, Self::Trace];

    /// The name in the data and in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgentLog => "agent-log",
            Self::History => "history",
            Self::Dataset => "dataset",
            Self::Trace => "trace",
        }
    }

    /// The heading in lists of formats.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::AgentLog => "Logs of agents",
            Self::History => "Histories of frameworks",
            Self::Dataset => "Data sets",
            Self::Trace => "Traces",
        }
    }

    /// What may be said of such files.
    #[must_use]
    pub fn policy(self) -> &'static Policy {
        &Policy::all()[self.as_str()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_has_a_policy_with_reasons() {
        let file: File = toolcheck_toml::from_packed(PACKED).unwrap();
        assert_eq!(file.sorts.len(), Sort::ALL.len() + 1);
        assert!(Policy::of_next_request().rules().count() > 0);
        for sort in Sort::ALL {
            assert!(sort.policy().rules().count() > 0, "{}", sort.as_str());
        }
        assert!(file.sorts.values().flatten().all(|(_, entry)| !entry.because.is_empty()));
    }
}
