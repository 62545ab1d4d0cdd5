//! What is meant, in spite of a mistake.

use toolcheck_json::Value;

use super::{is_own_model, own_keys};
use crate::claim::MESSAGES_LOOKED_AT;
use crate::formats::declares;
use crate::ir::{Body, Part, Role, ToolKind, Transcript};

/// Whether a body is one of this API or of a dialect, whatever single messages look like: its tools, its settings or its
/// model are, and so is a message.
pub(in crate::formats) fn is_body(root: Value<'_, '_>) -> bool {
    let messages = || root.list("messages");
    let has_keys = || declares(root, "function") || is_own_model(root) || own_keys(root) > 0;
    root.is_object() && has_keys() && messages().take(MESSAGES_LOOKED_AT).any(has_tools)
}

/// Whether a message has calls or is a result, by keys that only Chat Completions and its dialects have.
pub(crate) fn has_tools(message: Value<'_, '_>) -> bool {
    message.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some())
        || message.has("tool_call_id")
}

/// How many of the last parts are searched for the call that a message names.
const PARTS_LOOKED_AT: usize = 128;

/// Whether this is the name of the function that was called last, in the form that was before tools.
pub(super) fn answers_function(transcript: &Transcript<'_>, name: Option<&str>) -> bool {
    let Some(Part { body: Body::Call(call), .. }) = transcript.parts.last() else { return false };
    let own = call.name.as_ref().map(|name| &*name.text);
    call.kind == ToolKind::LegacyFunction && name.is_some() && own == name
}

/// Whether a message is a result, whatever its role: it names a call before it. What is not the user's comes right after it and
/// other results.
pub(super) fn is_answer(transcript: &Transcript<'_>, role: Role, id: &str) -> bool {
    let has_id = |part: &Part<'_>| matches!(&part.body, Body::Call(call) if call.id.as_ref().is_some_and(|own| own.text == id));
    let parts = &transcript.parts;
    let near = match role {
        _ if id.is_empty() => return false,
        Role::User | Role::Unknown => parts.get(parts.len().saturating_sub(PARTS_LOOKED_AT)..),
        Role::Assistant | Role::System => {
            let mut before = transcript.messages.iter().rev().take(PARTS_LOOKED_AT);
            before.find(|message| message.role != Role::Tool).map(|message| transcript.parts_of(message))
        }
        _ => None,
    };
    near.is_some_and(|near| near.iter().rev().take(PARTS_LOOKED_AT).any(has_id))
}
