//! Whether records may be of a protocol: a glance, because every file is looked at.

use toolcheck_json::Value;

use super::LOOKED_AT;
use super::events::WRAPPERS;

/// Whether one of the records may be a message of a protocol, or what a log wraps around one. Only then are the readers of
/// protocols asked.
pub(crate) fn may_be_protocol(records: &[Value<'_, '_>]) -> bool {
    records.iter().any(|record| match record.is_array() {
        true => record.elements().take(LOOKED_AT).any(|element| element.is_object() && may_be(element)),
        false => may_be(*record),
    })
}

/// Whether a record may be a chunk that a server streams to the AI SDK in a front end.
pub(crate) fn is_ui_chunk(record: Value<'_, '_>) -> bool {
    let kind = record.get("type").map(Value::raw).unwrap_or_default();
    let is_of = |start: &str| kind.get(1..).is_some_and(|kind| kind.starts_with(start.as_bytes()));
    ["start", "finish-step", "text-", "tool-input-", "tool-output-"].into_iter().any(is_of)
}

fn may_be(record: Value<'_, '_>) -> bool {
    // Most records have one of these, and then no other key need be looked at.
    let Some(kind) = record.get("type") else {
        return record.get_any(&["messages", "conversations", "contents", "input", "role"]).is_none()
            || record.get_any(&["runId", "run_id"]).is_some()
            || record
                .list("messages")
                .next()
                .is_some_and(|first| WRAPPERS.iter().any(|key| first.has_object(key)));
    };
    // The type of an event has capital letters, or parts. What has a role is a message to a model.
    let mut inside = WRAPPERS.iter().filter_map(|key| record.get(key));
    is_ui_chunk(record)
        || kind.raw().iter().any(|byte| byte.is_ascii_uppercase() || *byte == b'.')
        || record.has("direction")
        || inside.any(|inner| inner.is_object() && inner.get("role").is_none())
}
