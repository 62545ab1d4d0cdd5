//! OpenAI's Realtime API: the events of a client and of the server.

use toolcheck_json::Value;

use super::events::Packed;
use super::{Reader, Reading, Sort, Unit, event_log};

pub(super) static READER: Reader = Reader {
    id: "openai-realtime",
    name: "OpenAI Realtime log",
    sort: Sort::Protocol,
    unit: Unit::File,
    sniff,
    read,
};

pub(super) static PROTOCOL: Packed =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/events/openai-realtime.packed")));

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    event_log::read(&READER, PROTOCOL.get(), records)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    event_log::sniff(records, is_event)
}

/// What the kinds begin with of events that only this API has.
const OWN: [&str; 4] = ["input_audio_buffer.", "conversation.item.", "response.cancel", "response.create"];

/// Whether a value is an event that only this API has. The Responses API has
/// `response.created` too, and its pieces of arguments have no id of a call.
fn is_event(event: Value<'_, '_>) -> bool {
    event.get_str("type").is_some_and(|kind| match &*kind {
        "session.created" | "session.update" | "session.updated" => event.get("session").is_some(),
        "conversation.created" => event.get("conversation").is_some(),
        "response.created" => false,
        "response.output_item.added" | "response.function_call_arguments.delta" => {
            event.get("call_id").is_some()
        }
        kind => OWN.iter().any(|own| kind.starts_with(own)),
    })
}
