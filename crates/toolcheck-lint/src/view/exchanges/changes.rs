//! How the arguments in a history differ from those of the response.

use serde::de::IgnoredAny;
use serde_json::Value as Json;
use toolcheck_core::response::ChoiceCall;
use toolcheck_json::Document;

use crate::view::arguments::{hash_of, hash_of_json};

/// How arguments in a history differ from those of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// They mean the same, however they are written, or they are not known.
    Same,
    /// The arguments of the response are not a JSON object, and stand in the history as a text in an object.
    Wrapped,
    /// There are none any more.
    Emptied,
    Other,
}

/// The arguments of a call in a response, to compare others with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SaidArguments {
    /// What they mean; see [`meaning`].
    pub(super) meaning: u64,
    /// Their text without the marks that people repair.
    letters: u64,
    /// Their text.
    raw: u64,
    /// Whether they are there, and no JSON.
    pub(super) is_broken: bool,
    /// Whether they are there, and no JSON object.
    pub(super) is_odd: bool,
    is_known: bool,
}

impl SaidArguments {
    pub(super) fn of(call: &ChoiceCall) -> Self {
        let text = call.arguments.trim();
        let is_broken = call.is_of_function() && call.has_all_arguments && !text.is_empty() && !is_json(text);
        Self {
            meaning: meaning(text.as_bytes()),
            letters: if is_broken { letters(text.as_bytes()) } else { 0 },
            raw: hash_of(text),
            is_broken,
            is_odd: is_broken || call.is_of_function() && !text.is_empty() && !text.starts_with('{'),
            is_known: call.has_all_arguments,
        }
    }

    /// How these arguments of a history, with this meaning, differ.
    pub(super) fn change(&self, other: u64, text: &[u8]) -> Change {
        // Marks that are missing or of another language are repaired without a loss.
        let is_repaired = || self.is_broken && letters(text) == self.letters;
        // What the client has encoded once more is another value.
        let is_encoded = !self.is_odd && text.trim_ascii_start().starts_with(b"\"");
        if !self.is_known || self.meaning == other && !is_encoded || is_repaired() {
            return Change::Same;
        }
        match () {
            () if self.is_odd && wrapped(text) == Some(self.raw) => Change::Wrapped,
            () if other == meaning(b"{}") => Change::Emptied,
            () => Change::Other,
        }
    }
}

/// The hash of what arguments mean: none are `{}`, and JSON in a string of JSON is that JSON.
pub(super) fn meaning(text: &[u8]) -> u64 {
    if text.trim_ascii_start().starts_with(b"\"")
        && let Ok(Json::String(inner)) = serde_json::from_slice(text)
        && is_json(&inner)
    {
        return hash_of_json(inner.as_bytes());
    }
    hash_of_json(text)
}

/// The hash of a text without whitespace, commas, quotation marks and backslashes.
fn letters(text: &[u8]) -> u64 {
    let is_kept = |byte: &u8| !byte.is_ascii_whitespace() && !b",'\"\\".contains(byte);
    hash_of(text.iter().copied().filter(is_kept).collect::<Vec<u8>>())
}

/// The hash of the only text in an object.
fn wrapped(text: &[u8]) -> Option<u64> {
    let Ok(Json::Object(members)) = serde_json::from_slice(text) else { return None };
    let mut values = members.values();
    let text = values.next()?.as_str()?;
    values.next().is_none().then(|| hash_of(text.trim()))
}

pub(crate) fn is_json(text: &str) -> bool {
    // What serde_json rejects may still be JSON: its depth is limited, and lone surrogates have their own rule.
    let is_in_text = || Document::read(text.as_bytes()).faults().iter().all(|fault| fault.kind.is_in_text());
    serde_json::from_str::<IgnoredAny>(text).is_ok() || is_in_text()
}
