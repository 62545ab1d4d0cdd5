//! The tests of the readers, writers and tables, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod classes;
mod diff;
mod histories;
mod protocols;
mod recognise;
mod round_trip;
mod tables;
mod testing;

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Errors in the forms in which logs and people have them.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Errors {
    /// By what they show: what each is read as, and its text.
    read: BTreeMap<String, Vec<(String, String)>>,
    /// The rule that is the first to be recognised, and the text.
    pasted: Vec<(String, String)>,
    /// What is captured under a name, what it is, and the text.
    captures: Vec<(String, String, String)>,
    /// Texts that begin like others, and go on otherwise.
    begins_alike: Vec<String>,
    /// The framework that raises it, the rule, what is captured, and the text.
    of_frameworks: Vec<(String, String, BTreeMap<String, String>, String)>,
}

static ERRORS: LazyLock<Errors> =
    LazyLock::new(|| serde_json::from_str(include_str!("errors.json")).unwrap());
