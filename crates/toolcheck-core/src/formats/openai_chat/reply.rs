//! Writes replies, as a body and as chunks.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use super::write::{self, STYLE, Style};
use crate::conversation::Call;
use crate::reply::{CREATED, Event, Pieces, Reply};

pub(in crate::formats) const REASONS: [&str; 3] = ["stop", "tool_calls", "length"];

pub(super) fn write(reply: &Reply) -> Json {
    let mut message = message(reply, &STYLE);
    message.get_mut("tool_calls").and_then(Json::as_array_mut).into_iter().flatten().for_each(write_id);
    message["refusal"] = Json::Null;
    if let Some(text) = plain_reasoning(reply) {
        message["reasoning_content"] = json!(text);
    }
    if reply.said.text.is_empty() && !reply.said.calls.is_empty() {
        message["content"] = Json::Null;
    }
    body(reply, message, "chat.completion")
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let said = &reply.said;
    let event = |delta: Json, reason: Option<&str>| Event::new("", chunk(reply, delta, reason));
    let content = if said.text.is_empty() && !said.calls.is_empty() { Json::Null } else { json!("") };
    let mut events = vec![event(json!({"role": "assistant", "content": content, "refusal": null}), None)];
    let reasoning = plain_reasoning(reply).unwrap_or_default();
    for piece in pieces.divide(&reasoning) {
        events.push(event(json!({"reasoning_content": piece}), None));
    }
    for piece in pieces.divide(&said.text) {
        events.push(event(json!({"content": piece}), None));
    }
    let texts: Vec<Cow<'_, str>> = (0..said.calls.len()).map(|number| reply.arguments_text(number)).collect();
    let with_text = |number: usize, mut call: Json, text: &str| {
        let (kind, key) = call_keys(reply, number);
        call[kind][key] = json!(text);
        event(json!({"tool_calls": [call]}), None)
    };
    let mut started = calls(reply, &STYLE).into_iter().enumerate().map(|(number, mut call)| {
        write_id(&mut call);
        call["index"] = json!(pieces.index(number));
        with_text(number, call, "")
    });
    let mut count = 0;
    for (number, piece) in pieces.divide_all(&texts) {
        events.extend(started.by_ref().take((number + 1).saturating_sub(count)));
        count = count.max(number + 1);
        events.push(with_text(number, json!({"index": pieces.index(number)}), piece));
    }
    events.extend(started);
    events.push(event(json!({}), Some(reply.reason(REASONS))));
    if reply.streams_usage {
        events.iter_mut().for_each(|event| event.data["usage"] = Json::Null);
        let mut last = event(json!({}), None);
        last.data["choices"] = json!([]);
        last.data["usage"] = usage(reply);
        events.push(last);
    }
    events
}

fn plain_reasoning(reply: &Reply) -> Option<String> {
    let is_sent = reply.has_plain_reasoning && !reply.said.reasoning.is_empty();
    is_sent.then(|| reply.said.reasoning.iter().map(|block| &*block.text).collect())
}

/// The keys of the object of a call, and of the text in it.
fn call_keys(reply: &Reply, call: usize) -> (&'static str, &'static str) {
    if reply.free_texts.contains(&call) { ("custom", "input") } else { ("function", "arguments") }
}

/// A reply of this format has the key of an id even where the id is empty.
fn write_id(call: &mut Json) {
    if call.get("id").is_none() {
        call["id"] = json!("");
    }
}

pub(super) fn error(text: &str, _: usize) -> Event {
    let error = json!({"message": text, "type": "server_error", "param": null, "code": null});
    Event::new("", json!({"error": error}))
}

pub(in crate::formats) fn body(reply: &Reply, message: Json, object: &str) -> Json {
    let choice =
        json!({"index": 0, "message": message, "logprobs": null, "finish_reason": reply.reason(REASONS)});
    json!({
        "id": reply.id,
        "object": object,
        "created": CREATED,
        "model": reply.model,
        "choices": [choice],
        "usage": usage(reply)
    })
}

pub(in crate::formats) fn chunk(reply: &Reply, delta: Json, reason: Option<&str>) -> Json {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason});
    json!({
        "id": reply.id,
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": reply.model,
        "choices": [choice]
    })
}

pub(in crate::formats) fn message(reply: &Reply, style: &Style) -> Json {
    let mut message = write::message(&reply.said, style);
    if !reply.said.calls.is_empty() {
        message["tool_calls"] = json!(calls(reply, style));
    }
    message
}

pub(in crate::formats) fn calls(reply: &Reply, style: &Style) -> Vec<Json> {
    let with_arguments = |(number, call): (usize, &Call)| {
        let mut written = write::call(call, style);
        if reply.free_texts.contains(&number) {
            let (kind, key) = call_keys(reply, number);
            return json!({
                "id": call.id, "type": kind, kind: {"name": call.name, key: reply.arguments_text(number)}
            });
        }
        written["function"]["arguments"] = if style.arguments_are_text {
            json!(reply.arguments_text(number))
        } else {
            reply.arguments_value(number)
        };
        written
    };
    reply.said.calls.iter().enumerate().map(with_arguments).collect()
}

pub(in crate::formats) fn usage(reply: &Reply) -> Json {
    let (input, output) = (reply.input_tokens, reply.output_tokens);
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}
