//! Agent frameworks that check a conversation themselves, and the errors that they raise, as data with its evidence.
//!
//! Such an error comes before anything is sent, so no provider has it. One TOML file a framework, compiled in.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::target::Refusal;

macro_rules! builtin {
    ($($id:literal)*) => {
        static BUILTIN: [(&str, &str); [$($id),*].len()] =
            [$(($id, include_str!(concat!("../frameworks/", $id, ".toml")))),*];
    };
}

// The list of frameworks, sorted: one line each.
builtin! {
    "ai-sdk"
    "google-adk"
    "langgraph"
    "litellm"
    "openai-agents"
    "pydantic-ai"
}

static FRAMEWORKS: LazyLock<Vec<Framework>> = LazyLock::new(|| {
    let read = |(id, text): &(&str, &str)| {
        toolcheck_toml::from_str(text).unwrap_or_else(|error| panic!("frameworks/{id}.toml: {error}"))
    };
    BUILTIN.iter().map(read).collect()
});

/// The frameworks that are compiled in, by their ids.
pub fn all() -> impl Iterator<Item = &'static Framework> {
    FRAMEWORKS.iter()
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
