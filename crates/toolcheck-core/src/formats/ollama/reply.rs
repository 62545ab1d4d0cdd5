//! Writes replies, as a body and as lines.

use serde_json::{Value as Json, json};

use super::STYLE;
use crate::conversation::Call;
use crate::formats::openai_chat::write;
use crate::reply::{CREATED_AT, Event, Pieces, Reply};

const REASONS: [&str; 3] = ["stop", "stop", "length"];

pub(super) fn write(reply: &Reply) -> Json {
    let mut message = write::message(&reply.said, &STYLE);
    for (number, written) in message["tool_calls"].as_array_mut().into_iter().flatten().enumerate() {
        *written = call(reply, number);
    }
    finished(reply, message)
}

/// A call as the server writes it: with its number, and without a type.
fn call(reply: &Reply, number: usize) -> Json {
    let Call { id, name, .. } = &reply.said.calls[number];
    let mut call =
        json!({"function": {"index": number, "name": name, "arguments": reply.arguments_value(number)}});
    if !id.is_empty() {
        call["id"] = json!(id);
    }
    call
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let mut lines = Vec::new();
    let mut line = |mut message: Json| {
        message["role"] = json!("assistant");
        let line = json!({"model": reply.model, "created_at": CREATED_AT, "message": message, "done": false});
        lines.push(Event::new("", line));
    };
    for reasoning in &reply.said.reasoning {
        for piece in pieces.divide(&reasoning.text) {
            line(json!({"content": "", "thinking": piece}));
        }
    }
    for piece in pieces.divide(&reply.said.text) {
        line(json!({"content": piece}));
    }
    // Calls are whole, and each comes in a line of its own.
    for number in 0..reply.said.calls.len() {
        line(json!({"content": "", "tool_calls": [call(reply, number)]}));
    }
    lines.push(Event::new("", finished(reply, json!({"role": "assistant", "content": ""}))));
    lines
}

pub(super) fn error(text: &str, _: usize) -> Event {
    Event::new("", json!({"error": text}))
}

fn finished(reply: &Reply, message: Json) -> Json {
    json!({
        "model": reply.model,
        "created_at": CREATED_AT,
        "message": message,
        "done": true,
        "done_reason": reply.reason(REASONS),
        "total_duration": 1,
        "load_duration": 1,
        "prompt_eval_count": reply.input_tokens,
        "prompt_eval_duration": 1,
        "eval_count": reply.output_tokens,
        "eval_duration": 1
    })
}
