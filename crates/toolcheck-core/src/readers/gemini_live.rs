//! Gemini's Live API: the messages of a client and of the server.

use toolcheck_json::Value;

use super::events::Packed;
use super::{Reader, Reading, Sort, Unit, event_log};

pub(super) static READER: Reader = Reader {
    id: "gemini-live",
    name: "Gemini Live log",
    sort: Sort::Protocol,
    unit: Unit::File,
    sniff,
    read,
};

pub(super) static PROTOCOL: Packed =
    Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/events/gemini-live.packed")));

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    event_log::read(&READER, PROTOCOL.get(), records)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    event_log::sniff(records, is_message)
}

/// Whether a value is a message that only this API has. It has one key, and few beside it.
fn is_message(message: Value<'_, '_>) -> bool {
    message.members().take(MOST_KEYS).any(|member| {
        let Some(key) = member.key_text() else { return false };
        let has = |keys: &[&str]| member.get_any(keys).is_some();
        match &*key {
            "setup" => {
                member.get_str("model").is_some_and(|model| model.contains("gemini") || model.contains('/'))
            }
            "setupComplete" | "setup_complete" => member.is_object(),
            "toolCall" | "tool_call" => has(&["functionCalls", "function_calls"]),
            "toolResponse" | "tool_response" => has(&["functionResponses", "function_responses"]),
            "toolCallCancellation" | "tool_call_cancellation" => has(&["ids"]),
            "clientContent" | "client_content" => has(&["turns", "turnComplete", "turn_complete"]),
            "serverContent" | "server_content" => has(&[
                "modelTurn",
                "model_turn",
                "turnComplete",
                "turn_complete",
                "generationComplete",
                "interrupted",
                "inputTranscription",
                "outputTranscription",
            ]),
            "realtimeInput" | "realtime_input" => member.is_object(),
            _ => false,
        }
    })
}

/// The most keys of a message.
const MOST_KEYS: usize = 4;
