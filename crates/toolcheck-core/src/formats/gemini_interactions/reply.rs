//! Writes replies, as a body and as events.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use super::write::content;
use crate::reply::{CREATED_AT, Event, Pieces, Reply, Stop};

pub(super) fn write(reply: &Reply) -> Json {
    let steps: Vec<Json> = steps(reply).into_iter().map(|step| step.whole).collect();
    let mut body = interaction(reply, status(reply));
    if !steps.is_empty() {
        body["steps"] = json!(steps);
    }
    body
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let mut events = Vec::new();
    let mut event = |name: &'static str, mut data: Json| {
        data["event_type"] = json!(name);
        events.push(Event::new(name, data));
    };
    let started =
        json!({"id": id(reply), "status": "in_progress", "object": "interaction", "model": reply.model});
    event("interaction.created", json!({"interaction": started}));
    event("interaction.status_update", json!({"interaction_id": id(reply), "status": "in_progress"}));
    for (index, step) in steps(reply).into_iter().enumerate() {
        event("step.start", json!({"index": index, "step": step.start}));
        for piece in step.deltas(pieces) {
            event("step.delta", json!({"index": index, "delta": piece}));
        }
        event("step.stop", json!({"index": index}));
    }
    event("interaction.completed", json!({"interaction": interaction(reply, status(reply))}));
    events
}

pub(super) fn error(text: &str, _: usize) -> Event {
    Event::new(
        "error",
        json!({"error": {"message": text, "code": "service_unavailable"}, "event_type": "error"}),
    )
}

/// The id, which only an interaction that the server keeps has.
fn id(reply: &Reply) -> &str {
    if reply.is_kept { &reply.id } else { "" }
}

fn status(reply: &Reply) -> &'static str {
    match reply.stop {
        Stop::Length => "incomplete",
        Stop::End | Stop::Pause => "completed",
        Stop::Natural | Stop::Calls if reply.said.calls.is_empty() => "completed",
        Stop::Natural | Stop::Calls => "requires_action",
    }
}

fn interaction(reply: &Reply, status: &str) -> Json {
    let (input, output) = (reply.input_tokens, reply.output_tokens);
    let mut body = Map::new();
    if reply.is_kept {
        body.insert("id".to_owned(), json!(reply.id));
    }
    let usage = json!({
        "total_tokens": input + output, "total_input_tokens": input, "total_output_tokens": output,
        "total_thought_tokens": 0, "total_cached_tokens": 0, "total_tool_use_tokens": 0
    });
    let members = [
        ("status", json!(status)),
        ("usage", usage),
        ("created", json!(CREATED_AT)),
        ("updated", json!(CREATED_AT)),
        ("service_tier", json!("standard")),
        ("object", json!("interaction")),
        ("model", json!(reply.model)),
    ];
    body.extend(members.map(|(key, value)| (key.to_owned(), value)));
    if let Some(previous) = &reply.previous_response {
        body.insert("previous_interaction_id".to_owned(), json!(previous));
    }
    Json::Object(body)
}

struct Step<'r> {
    whole: Json,
    /// As a stream begins it.
    start: Json,
    /// What a stream brings in pieces.
    grows: Vec<Growing<'r>>,
}

/// A text that a stream brings in pieces, with how each piece is written.
struct Growing<'r> {
    text: Cow<'r, str>,
    delta: fn(&str) -> Json,
}

impl Step<'_> {
    fn deltas(&self, pieces: &Pieces) -> Vec<Json> {
        let divided = |grows: &Growing<'_>| {
            let delta = grows.delta;
            pieces.divide(&grows.text).into_iter().map(delta).collect::<Vec<_>>()
        };
        self.grows.iter().flat_map(divided).collect()
    }
}

fn steps(reply: &Reply) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for reasoning in &reply.said.reasoning {
        let (mut whole, mut grows) = (json!({"type": "thought"}), Vec::new());
        if let Some(signature) = &reasoning.signature {
            whole["signature"] = json!(signature);
        }
        if !reasoning.text.is_empty() {
            whole["summary"] = json!([content(&reasoning.text)]);
            grows.push(Growing {
                text: Cow::Borrowed(&reasoning.text),
                delta: |piece| json!({"type": "thought_summary", "content": content(piece)}),
            });
        }
        if let Some(signature) = &reasoning.signature {
            grows.push(Growing {
                text: Cow::Borrowed(signature),
                delta: |piece| json!({"type": "thought_signature", "signature": piece}),
            });
        }
        steps.push(Step { whole, start: json!({"type": "thought"}), grows });
    }
    if !reply.said.text.is_empty() {
        steps.push(Step {
            whole: json!({"type": "model_output", "content": [content(&reply.said.text)]}),
            start: json!({"type": "model_output"}),
            grows: vec![Growing { text: Cow::Borrowed(&reply.said.text), delta: content }],
        });
    }
    for (number, call) in reply.said.calls.iter().enumerate() {
        let step = |arguments: Json| {
            let mut step =
                json!({"type": "function_call", "id": call.id, "name": call.name, "arguments": arguments});
            if let Some(signature) = reply.call_signatures.get(&number) {
                step["signature"] = json!(signature);
            }
            step
        };
        steps.push(Step {
            whole: step(reply.arguments_value(number)),
            start: step(json!({})),
            grows: vec![Growing {
                text: reply.arguments_text(number),
                delta: |piece| json!({"type": "arguments_delta", "arguments": piece}),
            }],
        });
    }
    steps
}
