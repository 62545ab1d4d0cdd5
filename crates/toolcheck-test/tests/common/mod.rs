//! The corpus, for tests of all of it.

use toolcheck_core::{formats, targets};
use toolcheck_lint::Options;

use crate::testing::files_below;
pub(crate) use crate::testing::fixtures;

/// A file of the corpus.
pub(crate) struct Case {
    /// Its path below `fixtures`.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// What its expectation says about it, if it has one.
    pub(crate) options: Options,
}

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    all_cases().filter(|case| case.name.ends_with(".json") || case.name.ends_with(".jsonl"))
}

/// All cases of the corpus, in the order of their names.
pub(crate) fn all_cases() -> impl Iterator<Item = Case> {
    let mut paths = files_below(fixtures());
    paths.retain(|path| !path.to_string_lossy().ends_with(".expect.json"));
    paths.into_iter().map(|path| {
        let expectation = std::fs::read(path.with_extension("expect.json")).unwrap_or_default();
        let expectation: serde_json::Value = serde_json::from_slice(&expectation).unwrap_or_default();
        let text = |key: &str| expectation[key].as_str();
        let options = Options::new()
            .format(text("format").and_then(formats::named))
            .target(text("target").map(|id| targets::find(id).unwrap()))
            .kind(text("kind").map_or_else(Default::default, |kind| kind.parse().unwrap()));
        let name = path.strip_prefix(fixtures()).unwrap().to_string_lossy().into_owned();
        Case { name, bytes: std::fs::read(path).unwrap(), options }
    })
}
