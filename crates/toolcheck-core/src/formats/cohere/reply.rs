//! Writes replies, as a body and as events.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use crate::reply::{Event, Pieces, Reply};

const REASONS: [&str; 3] = ["COMPLETE", "TOOL_CALL", "MAX_TOKENS"];

pub(super) fn write(reply: &Reply) -> Json {
    let said = &reply.said;
    let mut message = json!({"role": "assistant"});
    let mut content: Vec<Json> = said
        .reasoning
        .iter()
        .map(|reasoning| json!({"type": "thinking", "thinking": reasoning.text}))
        .collect();
    if said.calls.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    } else {
        if !said.text.is_empty() {
            message["tool_plan"] = json!(said.text);
        }
        let calls = said.calls.iter().enumerate().map(|(number, call)| {
            let function = json!({"name": call.name, "arguments": reply.arguments_text(number)});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    if !content.is_empty() {
        message["content"] = json!(content);
    }
    json!({
        "id": reply.id, "finish_reason": reply.reason(REASONS), "message": message, "usage": usage(reply)
    })
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let said = &reply.said;
    let mut events = Vec::new();
    let mut event = |name: &'static str, index: Option<usize>, delta: Option<Json>| {
        let mut data = json!({"type": name});
        if let Some(index) = index {
            data["index"] = json!(index);
        }
        if let Some(delta) = delta {
            data["delta"] = delta;
        }
        if name == "message-start" {
            data["id"] = json!(reply.id);
        }
        events.push(Event::new(name, data));
    };
    let message = |member: &str, value: Json| Some(json!({"message": {member: value}}));
    let empty =
        json!({"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []});
    event("message-start", None, Some(json!({"message": empty})));
    let mut contents: Vec<(&str, &str)> =
        said.reasoning.iter().map(|reasoning| ("thinking", &*reasoning.text)).collect();
    if said.calls.is_empty() {
        contents.push(("text", &said.text));
    }
    for (index, (kind, text)) in contents.into_iter().enumerate() {
        event("content-start", Some(index), message("content", json!({"type": kind, kind: ""})));
        for piece in pieces.divide(text) {
            event("content-delta", Some(index), message("content", json!({kind: piece})));
        }
        event("content-end", Some(index), None);
    }
    if !said.calls.is_empty() {
        for piece in pieces.divide(&said.text) {
            event("tool-plan-delta", None, message("tool_plan", json!(piece)));
        }
    }
    let texts: Vec<Cow<'_, str>> = (0..said.calls.len()).map(|number| reply.arguments_text(number)).collect();
    for (number, call) in said.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let started = json!({"id": call.id, "type": "function", "function": function});
        event("tool-call-start", Some(number), message("tool_calls", started));
        for piece in pieces.divide(&texts[number]) {
            let piece = json!({"function": {"arguments": piece}});
            event("tool-call-delta", Some(number), message("tool_calls", piece));
        }
        event("tool-call-end", Some(number), None);
    }
    let end = json!({"finish_reason": reply.reason(REASONS), "usage": usage(reply)});
    event("message-end", None, Some(end));
    events
}

fn usage(reply: &Reply) -> Json {
    let tokens = json!({"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens});
    json!({"billed_units": tokens, "tokens": tokens})
}
