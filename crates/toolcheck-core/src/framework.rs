//! Agent frameworks that check a conversation themselves, and the errors that they raise, as data with its evidence.
//!
//! No API returns such an error. One TOML file a framework, compiled in.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::rule_id::RuleId;
use crate::targets::Refusal;

/// The files as they were packed when this was built, by their names, sorted.
const PACKED: &[(&str, &[u8])] = &[
    ("ai-sdk", include_bytes!(concat!(env!("OUT_DIR"), "/frameworks/ai-sdk.packed"))),
    ("google-adk", include_bytes!(concat!(env!("OUT_DIR"), "/frameworks/google-adk.packed"))),
    ("langgraph", include_bytes!(concat!(env!("OUT_DIR"), "/frameworks/langgraph.packed"))),
    ("litellm", include_bytes!(concat!(env!("OUT_DIR"), "/frameworks/litellm.packed"))),
    ("openai-agents", include_bytes!(concat!(env!("OUT_DIR"), "/frameworks/openai-agents.packed"))),
    ("pydantic-ai", include_bytes!(concat!(env!("OUT_DIR"), "/frameworks/pydantic-ai.packed"))),
];

static ALL: LazyLock<Vec<Framework>> = LazyLock::new(|| {
    let read = |(id, packed): &(&str, &[u8])| {
        toolcheck_toml::from_packed(packed).unwrap_or_else(|error| panic!("frameworks/{id}.toml: {error}"))
    };
    PACKED.iter().map(read).collect()
});

/// The frameworks that are compiled in, by their ids.
pub fn all() -> impl Iterator<Item = &'static Framework> {
    ALL.iter()
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
