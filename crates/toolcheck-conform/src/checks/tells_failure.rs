use serde_json::Value as Json;
use toolcheck_core::conversation::Conversation;
use toolcheck_core::formats;

use super::{Check, Judgement, Seen, outputs, text_of};

pub(super) static CHECK: Check = Check {
    id: "tells-failure",
    summary: "The model is told that its tool failed.",
    help: "give the model the error of the tool as the result of the call, marked as an error where the API has a field for it",
    judge,
};

/// What the standard tool `fail` fails with, and what loops say in its place.
const WORDS: [&str; 4] = ["tool failed", "error", "failed", "exception"];

fn judge(seen: &Seen<'_>) -> Judgement {
    let Some(last) = seen.case.run.exchanges.last() else {
        return Judgement::Inconclusive("no request was sent".to_owned());
    };
    let said = formats::find(last.format).and_then(|format| Conversation::read(&last.request, format));
    let said = said.unwrap_or_default();
    let is_told = match outputs(&said).next() {
        Some(_) => outputs(&said).any(|output| output.failed || tells(&Json::from(&*output.text))),
        // A history may have results as text.
        None => said.turns.iter().filter_map(text_of).any(has_words),
    };
    (!is_told).then(|| "no result reports a failure".to_owned()).into()
}

/// Whether a result says it, in a text or under a key that is not empty: `"is_error": false` says the opposite.
fn tells(value: &Json) -> bool {
    match value {
        Json::String(text) => match serde_json::from_str::<Json>(text) {
            Ok(held @ (Json::Object(_) | Json::Array(_))) => tells(&held),
            _ => has_words(text),
        },
        Json::Array(elements) => elements.iter().any(tells),
        Json::Object(members) => members.iter().any(|(key, held)| {
            let is_empty = match held {
                Json::Null | Json::Bool(false) => true,
                Json::String(text) => text.is_empty(),
                _ => false,
            };
            has_words(key) && !is_empty || tells(held)
        }),
        _ => false,
    }
}

fn has_words(text: &str) -> bool {
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_nothing_alone() {
        for text in ["TOOL FAILED", r#"{"error": "boom"}"#, r#"[{"ok": false, "is_error": true}]"#] {
            assert!(tells(&text.into()), "{text}");
        }
        for text in ["", "ok", r#"{"is_error": false, "error": null, "text": ""}"#] {
            assert!(!tells(&text.into()), "{text}");
        }
    }
}
