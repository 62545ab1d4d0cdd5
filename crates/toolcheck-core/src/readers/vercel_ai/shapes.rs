//! What `generateText` and `streamText` refuse of a `ModelMessage` since version 5: `modelMessageSchema` of the package `ai`,
//! run in version 6.0.326. Only calls and results with the keys of that version are looked at: before it, and in what others
//! store, they are different.

use toolcheck_json::Value;

use crate::ir::{Details, MissingKey, Place, Role, WrongValue};

/// What a result may be.
const OUTPUTS: [&str; 6] = ["text", "json", "execution-denied", "error-text", "error-json", "content"];

/// Whether a block is a call or a result with the keys of version 5.
pub(super) fn is_new(block: Value<'_, '_>) -> bool {
    block.get("toolCallId").is_some() && block.get(key_of(block).unwrap_or_default()).is_some()
}

/// The key of what a call was given, or of what its result is.
fn key_of(block: Value<'_, '_>) -> Option<&'static str> {
    match block.get_str("type").as_deref() {
        Some("tool-call") => Some("input"),
        Some("tool-result") => Some("output"),
        _ => None,
    }
}

/// Checks a message of a list that is of version 5.
pub(super) fn check(details: &mut Details<'_>, role: Role, message: Value<'_, '_>) {
    let blocks = message.list("content").filter(|block| block.get("toolCallId").is_some());
    let blocks = blocks.filter_map(|block| Some((block, key_of(block)?)));
    let mut is_misplaced = false;
    for (block, key) in blocks {
        is_misplaced |= role == Role::User;
        let place = Place::of(block);
        // A call may hold its result, as that of assistant-ui does.
        let before = if key == "input" { "args" } else { "result" };
        let is_old = block.get(before).is_some() && block.get("result").is_none_or(|_| key == "output");
        let lacks = [("toolName", is_new(block)), (key, is_old)];
        for (key, _) in lacks.into_iter().filter(|(key, is_asked)| *is_asked && block.get(key).is_none()) {
            details.missing_keys.push(MissingKey { case: "response", key, place, name: None, because: None });
        }
        if let Some(output) = block.get("output").filter(|output| key == "output" && !is_output(*output)) {
            let wants = "an object such as `{\"type\": \"json\", \"value\": …}`";
            details.wrong_values.push(WrongValue {
                place: Place::of(output),
                key,
                wants,
                is_doubtful: false,
            });
        }
    }
    if let Some(role) = message.get("role").filter(|_| is_misplaced) {
        let wants = "`assistant` for calls and `tool` for results";
        let place = Place::of(role);
        details.wrong_values.push(WrongValue { place, key: "role", wants, is_doubtful: false });
    }
}

/// Whether it is one of the outputs that there are. A type that is none of them may be newer.
fn is_output(output: Value<'_, '_>) -> bool {
    let kind = output.get_str("type");
    let is_text = |key: &str| output.get(key).is_some_and(|value| value.as_json_str().is_some());
    match kind.as_deref() {
        Some("text" | "error-text") => is_text("value"),
        Some("content") => output.get("value").is_some_and(Value::is_array),
        Some(kind) => !OUTPUTS.contains(&kind) || kind == "execution-denied" || output.get("value").is_some(),
        None => false,
    }
}
