//! Why a loop must do what a check asks for: in which APIs, with the sources, as data. One file a check.

use std::sync::LazyLock;

use serde::Deserialize;

/// What says that a loop must do it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Evidence {
    /// The formats in which it does.
    pub formats: Vec<String>,
    /// Whether that was recorded, is specified, or is reported in public.
    pub evidence: Grade,
    /// Where.
    pub sources: Vec<String>,
    /// When it was seen there.
    pub seen: String,
}

/// How good evidence is. What is only inferred is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Grade {
    /// The exchange was recorded, or the vendor's validator was run.
    Recorded,
    /// It is in the documentation, a schema or source code.
    Specified,
    /// It is quoted in public.
    Reported,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    must: Vec<Evidence>,
}

/// The texts of the files, by the ids of the checks.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/checks.rs"));

static ALL: LazyLock<Vec<(&'static str, Vec<Evidence>)>> = LazyLock::new(|| {
    let read = |(id, text): &(&'static str, &str)| {
        let file: File =
            toml::from_str(text).unwrap_or_else(|error| panic!("checks/{id}.toml can be read: {error}"));
        (*id, file.must)
    };
    TEXTS.iter().map(read).collect()
});

/// What says that a loop must do what a check asks for; nothing, if nothing does.
pub fn of(check: &str) -> &'static [Evidence] {
    ALL.iter().find(|(id, _)| *id == check).map_or(&[], |(_, evidence)| evidence)
}
