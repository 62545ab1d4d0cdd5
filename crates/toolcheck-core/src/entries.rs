//! Mistral's Conversations API as a server speaks it, which keeps each conversation as entries. From its reference,
//! <https://docs.mistral.ai/api/endpoint/beta/conversations>, and the models of the package `mistralai` 3.7 for Python.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};

use crate::formats::{Format, openai_chat};
use crate::ir::Named;
use crate::readers::request_of_entries;
use crate::reply::{CREATED_AT, Event, Framing, Pieces, Reply};
use crate::targets::Target;

/// The format of a request with all entries of its conversation ([`whole`]), and of the response. It is none of
/// [`formats::ALL`](crate::formats::ALL), because no file has such requests.
pub static FORMAT: Format = Format {
    id: "mistral-conversations",
    name: "Mistral Conversations",
    family: "mistral-conversations",
    sniff: |_| 0,
    read_with: |root, _| {
        let mut transcript = request_of_entries(FORMAT.key(), root);
        transcript.request.model = root.get("model").and_then(Named::of).map(|model| model.text);
        transcript.request.is_kept = Some(is_stored(root.get("store").and_then(|store| store.as_bool())));
        Some(transcript)
    },
    answers: |_| None,
    write_reply: write,
    write_events: events,
    write_error: Some(|text, _| event("conversation.response.error", json!({"message": text, "code": 500}))),
    framing: Framing::ServerSent(None),
    keeps_responses: true,
    repeats: &["conversation_id", "agent_id"],
    ..openai_chat::CHAT
};

/// What the API refuses of a conversation, with its words.
pub static TARGET: LazyLock<Target> = LazyLock::new(|| {
    // A test reads it.
    Target::parse(include_str!("entries.toml")).unwrap_or_else(|_| Target::unknown().clone())
});

/// The keys of a request that hold for its whole conversation. A later request may not have them: what is appended with
/// `tools` is refused (<https://github.com/partITech/php-mistral/issues/76>).
const SETTINGS: [&str; 9] = [
    "agent_id",
    "agent_version",
    "description",
    "guardrails",
    "instructions",
    "metadata",
    "model",
    "name",
    "tools",
];

/// Whether an API has such conversations.
pub fn are_of(target: &Target) -> bool {
    target.format.as_deref() == Some("mistral")
}

/// Whether a request with this `store` is kept.
fn is_stored(store: Option<bool>) -> bool {
    store.unwrap_or(true)
}

/// The same of a request.
pub fn is_kept(request: &Json) -> bool {
    is_stored(request["store"].as_bool())
}

/// What a request that begins a conversation, or makes an agent, says of the whole.
pub fn settings(request: &Json) -> Json {
    let of_all = |key: &str| SETTINGS.contains(&key) || key == "completion_args";
    let members = request.as_object().into_iter().flatten();
    members
        .filter(|(key, value)| of_all(key) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The first key of a request that goes on with a conversation and that only one which begins it has, with what the error
/// says.
pub fn extra(request: &Json, text: &str) -> Option<(&'static str, Map<String, Json>)> {
    let has = |key: &&&str| {
        ["agent_id", "instructions", "model", "tools"].contains(*key) && request.get(**key).is_some()
    };
    let key = SETTINGS.iter().find(has)?;
    let fault = json!([{
        "type": "extra_forbidden", "loc": ["body", key], "msg": text, "input": request[*key]
    }]);
    Some((key, Map::from_iter([("detail".to_owned(), fault.clone()), ("message".to_owned(), fault)])))
}

/// The inputs of a request as entries.
pub fn entries(inputs: &Json, mut id: impl FnMut() -> String) -> Vec<Json> {
    let said = inputs.as_str().map(|text| json!([{"role": "user", "content": text}]));
    let entries = said.as_ref().unwrap_or(inputs).as_array().cloned().unwrap_or_default();
    let entry = |mut entry: Json| {
        let own = entry.as_object_mut()?;
        let kind = own.get("type").and_then(Json::as_str).unwrap_or("message.input").to_owned();
        let id = format!("{}_{}", prefix(&kind), id());
        for (key, value) in [("object", "entry"), ("type", &*kind), ("created_at", CREATED_AT), ("id", &*id)]
        {
            own.entry(key).or_insert_with(|| json!(value));
        }
        Some(entry)
    };
    entries.into_iter().filter_map(entry).collect()
}

fn prefix(kind: &str) -> &'static str {
    match kind {
        "function.call" => "fc",
        "function.result" => "fr",
        _ => "msg",
    }
}

/// The entries of a response.
pub fn outputs(response: &Json) -> Vec<Json> {
    response["outputs"].as_array().cloned().unwrap_or_default()
}

/// Whether an entry is a message.
pub fn is_message(entry: &Json) -> bool {
    entry["type"].as_str().is_some_and(|kind| kind.starts_with("message."))
}

/// Whether the request has other inputs than results: those the API takes while others are missing.
pub fn has_others(entries: &[Json]) -> bool {
    entries.iter().any(|entry| entry["type"] != "function.result")
}

/// A request as it would be if it brought its conversation: what holds for the whole, and all entries.
pub fn whole(id: &str, settings: &Json, entries: &[Json], request: &Json) -> Json {
    let mut whole = with(settings.clone(), json!({"conversation_id": id, "inputs": entries}));
    for key in ["stream", "store", "completion_args"] {
        if let Some(value) = request.get(key).filter(|value| !value.is_null()) {
            whole[key] = value.clone();
        }
    }
    if let Some(format) = whole["completion_args"].get("response_format").cloned() {
        whole["response_format"] = format;
    }
    whole
}

/// A conversation or an agent, as it is described.
pub fn described(id: &str, kind: &str, settings: &Json) -> Json {
    let own = json!({"id": id, "object": kind, "created_at": CREATED_AT, "updated_at": CREATED_AT});
    let of_agent = json!({"version": 0, "versions": [0], "deployment_chat": false, "source": "api"});
    let described = with(settings.clone(), own);
    if kind == "agent" { with(described, of_agent) } else { described }
}

fn usage(reply: &Reply) -> Json {
    let (input, output) = (reply.input_tokens, reply.output_tokens);
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

/// What each output has, whole or in pieces.
fn output(reply: &Reply, kind: &str, number: usize) -> Json {
    let mut output = json!({"type": kind, "id": format!("{}_{}{number}", prefix(kind), reply.id), "created_at": CREATED_AT});
    match reply.repeated.get("agent_id") {
        Some(agent) => output["agent_id"] = agent.clone(),
        None => output["model"] = json!(reply.model),
    }
    output
}

/// An object with the members of another.
pub fn with(mut value: Json, more: Json) -> Json {
    if let (Some(own), Json::Object(more)) = (value.as_object_mut(), more) {
        own.extend(more);
    }
    value
}

fn thought(text: &str) -> Json {
    json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]})
}

/// Whether there is a message before the calls.
fn speaks(reply: &Reply) -> bool {
    let said = &reply.said;
    !said.text.is_empty() || !said.reasoning.is_empty() || said.calls.is_empty()
}

fn write(reply: &Reply) -> Json {
    let said = &reply.said;
    let done = json!({"object": "entry", "completed_at": CREATED_AT});
    let entry =
        |kind: &str, number: usize, more: Json| with(with(output(reply, kind, number), done.clone()), more);
    let content = if said.reasoning.is_empty() {
        json!(said.text)
    } else {
        let thoughts = said.reasoning.iter().map(|block| thought(&block.text));
        thoughts.chain([json!({"type": "text", "text": said.text})]).collect()
    };
    let message =
        speaks(reply).then(|| entry("message.output", 0, json!({"role": "assistant", "content": content})));
    let calls = said.calls.iter().enumerate().map(|(number, call)| {
        let own =
            json!({"tool_call_id": call.id, "name": call.name, "arguments": reply.arguments_text(number)});
        entry("function.call", number + 1, own)
    });
    let outputs: Vec<Json> = message.into_iter().chain(calls).collect();
    let id = reply.repeated.get("conversation_id");
    json!({"object": "conversation.response", "conversation_id": id, "outputs": outputs, "usage": usage(reply)})
}

fn event(name: &'static str, data: Json) -> Event {
    Event::new(name, with(data, json!({"type": name})))
}

fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let said = &reply.said;
    let id = reply.repeated.get("conversation_id");
    let mut events = vec![event(
        "conversation.response.started",
        json!({"created_at": CREATED_AT, "conversation_id": id}),
    )];
    let mut message = |content: Json| {
        let own = json!({"role": "assistant", "output_index": 0, "content_index": 0, "content": content});
        events.push(event("message.output.delta", with(output(reply, "message.output", 0), own)));
    };
    for block in &said.reasoning {
        pieces.divide(&block.text).into_iter().for_each(|piece| message(thought(piece)));
    }
    pieces.divide(&said.text).into_iter().for_each(|piece| message(json!(piece)));
    let texts: Vec<Cow<'_, str>> = (0..said.calls.len()).map(|call| reply.arguments_text(call)).collect();
    // A call without a piece would be no call.
    let empty = (0..texts.len()).filter(|call| texts[*call].is_empty()).map(|call| (call, ""));
    for (number, piece) in pieces.divide_all(&texts).into_iter().chain(empty) {
        let call = &said.calls[number];
        let index = number + usize::from(speaks(reply));
        let own =
            json!({"output_index": index, "tool_call_id": call.id, "name": call.name, "arguments": piece});
        events.push(event("function.call.delta", with(output(reply, "function.call", number + 1), own)));
    }
    if !pieces.lacks_end {
        let own = json!({"created_at": CREATED_AT, "usage": usage(reply)});
        events.push(event("conversation.response.done", own));
    }
    events
}
