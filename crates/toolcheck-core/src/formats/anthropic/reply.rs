//! Writes replies, as a body and as events.

use serde_json::{Value as Json, json};

use crate::conversation::Call;
use crate::reply::{Event, Pieces, Reply, Stop};

const REASONS: [&str; 3] = ["end_turn", "tool_use", "max_tokens"];

pub(super) fn write(reply: &Reply) -> Json {
    let content: Vec<Json> = blocks(reply).into_iter().map(|block| block.whole).collect();
    let mut message = envelope(reply);
    message["content"] = json!(content);
    message["stop_reason"] = json!(reason(reply));
    message["usage"]["output_tokens"] = json!(reply.output_tokens);
    message
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let event = |name, mut data: Json| {
        data["type"] = json!(name);
        Event::new(name, data)
    };
    let mut events = vec![event("message_start", json!({"message": envelope(reply)}))];
    for (index, block) in blocks(reply).into_iter().enumerate() {
        events.push(event("content_block_start", json!({"index": index, "content_block": block.start})));
        for (kind, key, text) in &block.deltas {
            // The first piece of arguments is empty.
            let first = (*kind == "input_json_delta").then_some("");
            for piece in first.into_iter().chain(pieces.divide(text)) {
                let delta = json!({"type": kind, *key: piece});
                events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
            }
        }
        events.push(event("content_block_stop", json!({"index": index})));
    }
    let delta = json!({"stop_reason": reason(reply), "stop_sequence": null});
    // It counts both since the start of the message, and some clients take the last count.
    let usage = json!({"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens});
    events.push(event("message_delta", json!({"delta": delta, "usage": usage})));
    if !pieces.lacks_end {
        events.push(event("message_stop", json!({})));
    }
    events
}

pub(super) fn error(text: &str, _: usize) -> Event {
    let error = json!({"type": "overloaded_error", "message": text});
    Event::new("error", json!({"type": "error", "error": error}))
}

fn reason(reply: &Reply) -> &'static str {
    if reply.stop == Stop::Pause { "pause_turn" } else { reply.reason(REASONS) }
}

fn envelope(reply: &Reply) -> Json {
    json!({
        "id": reply.id,
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": 1}
    })
}

struct Block {
    whole: Json,
    /// The block as a stream starts it.
    start: Json,
    /// What a stream adds: the type of the delta, its key and its text.
    deltas: Vec<(&'static str, &'static str, String)>,
}

fn blocks(reply: &Reply) -> Vec<Block> {
    let reasoning = reply.said.reasoning.iter().map(|reasoning| {
        let signature = reasoning.signature.clone().unwrap_or_default();
        Block {
            whole: json!({"type": "thinking", "thinking": reasoning.text, "signature": signature}),
            start: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas: vec![
                ("thinking_delta", "thinking", reasoning.text.clone()),
                ("signature_delta", "signature", signature),
            ],
        }
    });
    // What is encrypted, and what the provider has found, comes as a whole.
    let at_once = |whole: Json| Block { start: whole.clone(), whole, deltas: Vec::new() };
    let redacted =
        reply.redacted.iter().map(|data| at_once(json!({"type": "redacted_thinking", "data": data})));
    // Newer models say who calls: the model, or code that it has written. Clients send that back.
    let direct = || json!({"type": "direct"});
    let of_server = reply.server_calls.iter().flat_map(|call| {
        let block = |input: &Json| {
            json!({
                "type": "server_tool_use", "id": call.id, "name": call.name, "input": input, "caller": direct(),
            })
        };
        let input = Json::Object(call.arguments.clone());
        let kind = format!("{}_tool_result", call.name);
        let asked = Block {
            whole: block(&input),
            start: block(&json!({})),
            deltas: vec![("input_json_delta", "partial_json", input.to_string())],
        };
        let mut found = json!({"type": kind, "tool_use_id": call.id, "content": call.result});
        if matches!(&*call.name, "web_search" | "web_fetch") {
            found["caller"] = direct();
        }
        [asked, at_once(found)]
    });
    let text = (!reply.said.text.is_empty()).then(|| Block {
        whole: json!({"type": "text", "text": reply.said.text}),
        start: json!({"type": "text", "text": ""}),
        deltas: vec![("text_delta", "text", reply.said.text.clone())],
    });
    let called = |call: &Call, input: Json| {
        let (id, name) = (&call.id, &call.name);
        json!({"type": "tool_use", "id": id, "name": name, "input": input, "caller": direct()})
    };
    let calls = reply.said.calls.iter().enumerate().map(|(number, call)| Block {
        whole: called(call, reply.arguments_value(number)),
        start: called(call, json!({})),
        deltas: vec![("input_json_delta", "partial_json", reply.arguments_text(number).into_owned())],
    });
    reasoning.chain(redacted).chain(of_server).chain(text).chain(calls).collect()
}
