//! The Agent Client Protocol: what an editor and a coding agent say to each other.

use toolcheck_json::Value;

use super::events::Packed;
use super::{Reader, Reading, Sort, Unit, event_log};

pub(super) static READER: Reader = Reader {
    id: "acp",
    name: "Agent Client Protocol log",
    sort: Sort::Protocol,
    unit: Unit::File,
    sniff,
    read,
};

pub(super) static PROTOCOL: Packed =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/events/acp.packed")));

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    event_log::read(&READER, PROTOCOL.get(), records)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    event_log::sniff(records, is_message)
}

/// Whether a value is a message that only this protocol has, or its update alone.
fn is_message(message: Value<'_, '_>) -> bool {
    if let Some(method) = message.get_str("method") {
        let methods = ["new", "load", "prompt", "update", "cancel", "request_permission", "set_mode"];
        return method.strip_prefix("session/").is_some_and(|method| methods.contains(&method));
    }
    message.get("update").is_some_and(|update| {
        update
            .get_str("sessionUpdate")
            .is_some_and(|kind| kind.contains('_') || kind == "plan" || kind == "notice")
    })
}
