//! The corpus, for tests of all of it.

use std::path::{Path, PathBuf};

use toolcheck_core::{formats, targets};
use toolcheck_lint::Options;

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The files of the corpus with their options, as their expectations have them.
pub(crate) fn cases() -> Vec<(PathBuf, Options)> {
    let mut open = vec![fixtures()];
    let mut cases = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".expect.json") || !(name.ends_with(".json") || name.ends_with(".jsonl")) {
            continue;
        }
        let expectation = std::fs::read(path.with_extension("expect.json")).unwrap_or_default();
        let expectation: serde_json::Value = serde_json::from_slice(&expectation).unwrap_or_default();
        let text = |key: &str| expectation[key].as_str().map(str::to_owned);
        let mut options = Options::new();
        if let Some(format) = text("format").and_then(|id| formats::named(&id)) {
            options = options.format(Some(format));
        }
        if let Some(target) = text("target").and_then(|id| targets::find(&id)) {
            options = options.target(Some(target));
        }
        if let Some(kind) = text("kind") {
            options = options.kind(kind.parse().unwrap());
        }
        cases.push((path, options));
    }
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    cases
}
