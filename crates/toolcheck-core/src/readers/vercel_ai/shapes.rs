//! What `generateText` and `streamText` refuse of a `ModelMessage` since version 5: `modelMessageSchema` of the package `ai`,
//! run in version 6.0.326. Only calls and results with the keys of that version are looked at: before it, and in what others
//! store, they are different. And what it refuses of a `UIMessage`.

use toolcheck_json::Value;

use crate::ir::{Details, MissingKey, Place, Role, WrongValue};
use crate::names::words;
use crate::suggest::similar;

/// What a result may be.
const OUTPUTS: [&str; 6] = ["text", "json", "execution-denied", "error-text", "error-json", "content"];

/// Whether a block is a call or a result with the keys of version 5.
pub(super) fn is_new(block: Value<'_, '_>) -> bool {
    block.has("toolCallId") && block.get(key_of(block).unwrap_or_default()).is_some()
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
    let blocks = message.list("content").filter(|block| block.has("toolCallId"));
    let blocks = blocks.filter_map(|block| Some((block, key_of(block)?)));
    let mut is_misplaced = false;
    let is_right = |content: &Value<'_, '_>| match role {
        Role::System => !content.is_null() && !content.is_array(),
        _ => !content.is_null(),
    };
    if let Some(content) = message.get("content").filter(|content| !is_right(content)) {
        let wants = if role == Role::System { "a string" } else { "a string or a list" };
        let place = Place::of(content);
        details.wrong_values.push(WrongValue { place, key: "content", wants, is_doubtful: false });
    }
    for (block, key) in blocks {
        is_misplaced |= role == Role::User;
        let place = Place::of(block);
        // A call may hold its result, as that of assistant-ui does.
        let before = if key == "input" { "args" } else { "result" };
        let is_old = block.get(before).is_some() && block.get("result").is_none_or(|_| key == "output");
        let is_bare = role == Role::Tool && block.get("result").is_none();
        let lacks = [("toolName", is_new(block)), (key, is_old || is_bare)];
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
    let is_text = |key: &str| output.has_text(key);
    match kind.as_deref() {
        Some("text" | "error-text") => is_text("value"),
        Some("content") => output.has_list("value"),
        Some(kind) => !OUTPUTS.contains(&kind) || kind == "execution-denied" || output.has("value"),
        None => false,
    }
}

/// The states of the calls of a `UIMessage` since version 5.
const STATES: [&str; 7] = words(
    "input-streaming input-available approval-requested approval-responded output-available output-error output-denied",
);
const STATES_OF_4: [&str; 3] = words("partial-call call result");

/// Whether a part of a `UIMessage` is a call as since version 5, which has the tool in its type.
fn is_new_call(part: Value<'_, '_>) -> bool {
    let is_tool = |kind: &str| {
        kind == "dynamic-tool"
            || kind.starts_with("tool-") && !matches!(kind, "tool-call" | "tool-result" | "tool-invocation")
    };
    part.get_str("type").is_some_and(|kind| is_tool(&kind)) && part.get_str("state").is_some()
}

/// Whether a part of a `UIMessage` shows that its list is of version 5 or later.
pub(super) fn is_new_part(part: Value<'_, '_>) -> bool {
    is_new_call(part) && part.is_one_of("state", &STATES)
}

/// Checks a call of a `UIMessage`. `convertToModelMessages` of versions 5 to 7 makes a call without a result of one whose
/// state it does not know, and a message that is refused of one without its id or the name of its tool. Returns whether the
/// state is known.
pub(super) fn check_call(details: &mut Details<'_>, part: Value<'_, '_>) -> bool {
    let Some(state) = part.get("state").filter(|_| is_new_call(part)) else { return true };
    let text = state.as_str().unwrap_or_default();
    // It is left out as long as it is written.
    if text == "input-streaming" {
        return true;
    }
    let lacks = |key: &str| part.get(key).is_none();
    let is_unnamed = part.is("type", "dynamic-tool") && lacks("toolName");
    let missing = [("toolCallId", lacks("toolCallId") && lacks("id")), ("toolName", is_unnamed)];
    for (key, _) in missing.into_iter().filter(|(_, is_missing)| *is_missing) {
        let place = Place::of(part);
        details.missing_keys.push(MissingKey { case: "response", key, place, name: None, because: None });
    }
    let mut wrong = |value, key, wants, is_doubtful| {
        details.wrong_values.push(WrongValue { place: Place::of(value), key, wants, is_doubtful });
    };
    if let Some(id) = part.get("toolCallId").filter(|id| id.as_json_str().is_none()) {
        wrong(id, "toolCallId", "a string", false);
    }
    let is_known = STATES.contains(&&*text);
    if !is_known {
        // Another one may be newer.
        let is_meant = STATES_OF_4.contains(&&*text) || similar(&text, STATES).name().is_some();
        wrong(state, "state", "one that the SDK knows, such as `output-available`", !is_meant);
    }
    is_known
}

/// Checks a message in a list of version 5 or later: `convertToModelMessages` of versions 5 and 6 cannot read one of the user or
/// the system without parts, and drops one of the model, and that of version 7 cannot read any.
pub(super) fn check_parts(details: &mut Details<'_>, role: Role, message: Value<'_, '_>) {
    let has_some = message.get_any(&["parts", "toolInvocations"]).is_some();
    let has_blocks = message.has_list("content");
    if matches!(role, Role::User | Role::System | Role::Assistant) && !has_some && !has_blocks {
        let place = Place::of(message);
        details.missing_keys.push(MissingKey {
            case: "response",
            key: "parts",
            place,
            name: None,
            because: None,
        });
    }
}
