//! The Agent-User Interaction protocol: the events that an agent's server sends to a front end.

use toolcheck_json::Value;

use super::events::Packed;
use super::{Reader, Reading, Sort, Unit, event_log};

pub(super) static READER: Reader = Reader {
    id: "ag-ui",
    name: "Agent-User Interaction protocol (AG-UI)",
    sort: Sort::Protocol,
    unit: Unit::File,
    sniff,
    read,
};

pub(super) static PROTOCOL: Packed =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/events/ag-ui.packed")));

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    event_log::read(&READER, PROTOCOL.get(), records)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    event_log::sniff(records, is_event)
}

/// Whether a value is an event that only this protocol has. Every file is looked at, so the
/// letters of the kind come first.
fn is_event(event: Value<'_, '_>) -> bool {
    let has = |keys: &[&str]| event.get_any(keys).is_some();
    let Some(kind) = event.get_str("type") else {
        // What starts a run.
        return has(&["runId", "run_id"])
            && has(&["threadId", "thread_id"])
            && event.get("messages").is_some_and(Value::is_array);
    };
    if !kind.starts_with(|first: char| first.is_ascii_uppercase()) {
        return false;
    }
    match &*kind {
        "RUN_STARTED" | "RUN_FINISHED" => has(&["threadId", "thread_id", "runId", "run_id"]),
        "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_END" | "TOOL_CALL_RESULT" | "TOOL_CALL_CHUNK" => {
            has(&["toolCallId", "tool_call_id"])
        }
        "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_END" | "TEXT_MESSAGE_CHUNK" => {
            has(&["messageId", "message_id"])
        }
        "MESSAGES_SNAPSHOT" => event.get("messages").is_some_and(Value::is_array),
        _ => false,
    }
}
