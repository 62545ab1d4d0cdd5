//! Writes replies, as a body and as events.

use serde_json::{Value as Json, json};

use crate::reply::{Event, Pieces, Reply};

const REASONS: [&str; 3] = ["STOP", "STOP", "MAX_TOKENS"];

pub(super) fn write(reply: &Reply) -> Json {
    chunk(reply, parts(reply, None), true)
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let parts = parts(reply, Some(pieces));
    let last = parts.len().max(1) - 1;
    let mut chunks: Vec<Json> = parts
        .into_iter()
        .enumerate()
        .map(|(number, part)| chunk(reply, vec![part], number == last))
        .collect();
    if chunks.is_empty() {
        chunks.push(chunk(reply, Vec::new(), true));
    }
    chunks.into_iter().map(|chunk| Event::new("", chunk)).collect()
}

pub(super) fn error(text: &str, _: usize) -> Event {
    let error = json!({"code": 503, "message": text, "status": "UNAVAILABLE"});
    Event::new("", json!({"error": error}))
}

fn chunk(reply: &Reply, parts: Vec<Json>, is_last: bool) -> Json {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!(reply.reason(REASONS));
    }
    let (input, output) = (reply.input_tokens, reply.output_tokens);
    json!({
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output},
        "modelVersion": reply.model,
        "responseId": reply.id
    })
}

/// The parts, of which texts are divided if the reply is streamed. A call is one part in any case.
fn parts(reply: &Reply, pieces: Option<&Pieces>) -> Vec<Json> {
    let divide = |text: &str| -> Vec<String> {
        let whole = || vec![text.to_owned()];
        pieces.map_or_else(whole, |pieces| pieces.divide(text).into_iter().map(str::to_owned).collect())
    };
    let mut parts = Vec::new();
    for reasoning in &reply.said.reasoning {
        let mut thoughts: Vec<Json> = divide(&reasoning.text)
            .into_iter()
            .map(|piece| json!({"text": piece, "thought": true}))
            .collect();
        if thoughts.is_empty() {
            thoughts.push(json!({"text": "", "thought": true}));
        }
        if let (Some(last), Some(signature)) = (thoughts.last_mut(), &reasoning.signature) {
            last["thoughtSignature"] = json!(signature);
        }
        parts.extend(thoughts);
    }
    if !reply.said.text.is_empty() {
        parts.extend(divide(&reply.said.text).into_iter().map(|piece| json!({"text": piece})));
    }
    for (number, call) in reply.said.calls.iter().enumerate() {
        let mut call_part = json!({"name": call.name, "args": reply.arguments_value(number)});
        if !call.id.is_empty() {
            call_part["id"] = json!(call.id);
        }
        let mut part = json!({"functionCall": call_part});
        if let Some(signature) = reply.call_signatures.get(&number) {
            part["thoughtSignature"] = json!(signature);
        }
        parts.push(part);
    }
    parts
}
