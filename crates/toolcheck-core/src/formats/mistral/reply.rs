//! Writes replies, as a body and as events.

use serde_json::{Value as Json, json};

use super::STYLE;
use crate::formats::openai_chat::reply::{self as chat, REASONS};
use crate::reply::{Event, Pieces, Reply};

pub(super) fn write(reply: &Reply) -> Json {
    let message = chat::message(reply, &STYLE);
    chat::body(reply, message, "chat.completion")
}

/// Calls are whole, all in the last chunk.
pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let said = &reply.said;
    let chunk = |delta: Json, reason: Option<&str>| Event::new("", chat::chunk(reply, delta, reason));
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    for reasoning in &said.reasoning {
        for piece in pieces.divide(&reasoning.text) {
            let block = json!({"type": "thinking", "thinking": [{"type": "text", "text": piece}]});
            events.push(chunk(json!({"content": [block]}), None));
        }
    }
    for piece in pieces.divide(&said.text) {
        events.push(chunk(json!({"content": piece}), None));
    }
    let reason = Some(reply.reason(REASONS));
    let mut last = json!({"content": ""});
    if !said.calls.is_empty() {
        let mut calls = chat::calls(reply, &STYLE);
        for (number, call) in calls.iter_mut().enumerate() {
            call["index"] = json!(pieces.index(number));
        }
        last["tool_calls"] = json!(calls);
    }
    let mut end = chunk(last, reason);
    end.data["usage"] = chat::usage(reply);
    events.push(end);
    events
}
