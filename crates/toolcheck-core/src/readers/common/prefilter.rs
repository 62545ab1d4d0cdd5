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

fn may_be(record: Value<'_, '_>) -> bool {
    // Most records have one of these, and then no other key need be looked at.
    match record.get("type") {
        Some(kind) => names_an_event(kind) || record.get("direction").is_some() || may_wrap(record),
        None => {
            record.get_any(&["messages", "contents", "input", "role"]).is_none()
                || record.get_any(&["runId", "run_id"]).is_some()
        }
    }
}

/// Whether a log may have wrapped a message of a protocol into a record. What has a role is a message to a model.
fn may_wrap(record: Value<'_, '_>) -> bool {
    let mut inside = WRAPPERS.iter().filter_map(|key| record.get(key));
    inside.any(|inner| inner.is_object() && inner.get("role").is_none())
}

/// Whether a type is that of an event: with capital letters, or in parts.
fn names_an_event(kind: Value<'_, '_>) -> bool {
    kind.raw().iter().any(|byte| byte.is_ascii_uppercase() || *byte == b'.')
}
