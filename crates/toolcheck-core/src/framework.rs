//! Agent frameworks that check a conversation themselves, and the errors that they raise, as data with its evidence.
//!
//! No API returns such an error. One TOML file a framework, compiled in.

use serde::Deserialize;

use crate::rule_id::RuleId;
use crate::tables::{FRAMEWORKS, Tables};
use crate::targets::Refusal;

static ALL: Tables<Framework, { FRAMEWORKS.1.len() }> = Tables::new(FRAMEWORKS);

/// The frameworks that are compiled in, by their ids.
pub fn all() -> impl Iterator<Item = &'static Framework> {
    ALL.all()
}

/// The errors that a rule explains, with the frameworks that raise them.
pub fn errors_of(rule: RuleId) -> impl Iterator<Item = (&'static Framework, &'static Refusal)> {
    let is_of_rule = move |(_, error): &(&Framework, &Refusal)| error.rule == rule;
    errors().filter(is_of_rule)
}

/// All errors, with the frameworks that raise them.
pub(crate) fn errors() -> impl Iterator<Item = (&'static Framework, &'static Refusal)> {
    all().flat_map(|framework| framework.errors.iter().map(move |error| (framework, error)))
}

/// A library that agents are built with.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Framework {
    /// The id in reports. No target has the same.
    pub id: String,
    /// The name in prose.
    pub name: String,
    /// What it raises, with the rules that find the cause in the conversation. There is no HTTP status.
    #[serde(rename = "error")]
    pub errors: Vec<Refusal>,
}
