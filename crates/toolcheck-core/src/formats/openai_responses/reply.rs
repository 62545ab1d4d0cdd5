//! Writes replies, as a body and as events.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use crate::names::words;
use crate::reply::{CREATED, Event, Pieces, Reply, Stop};

pub(super) fn write(reply: &Reply) -> Json {
    let items: Vec<Json> = items(reply).into_iter().map(|item| item.whole).collect();
    body(reply, items, status(reply))
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let mut events = Vec::new();
    let mut event = |name: &'static str, mut data: Json| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(events.len());
        events.push(Event::new(name, data));
    };
    for name in ["response.created", "response.in_progress"] {
        event(name, json!({"response": body(reply, Vec::new(), "in_progress")}));
    }
    let items = items(reply);
    let texts: Vec<Cow<'_, str>> =
        (0..reply.said.calls.len()).map(|call| reply.arguments_text(call)).collect();
    let first_call = items.len() - texts.len();
    for (index, item) in items.iter().enumerate().take(first_call) {
        let id = item.whole["id"].clone();
        event("response.output_item.added", json!({"output_index": index, "item": item.start}));
        let done = json!({"output_index": index, "item": item.whole});
        let Some(part) = &item.part else {
            event("response.output_item.done", done);
            continue;
        };
        let at = |place: &str| json!({"item_id": id, "output_index": index, place: 0});
        let with = |place: &str, key: &str, value: Json| {
            let mut data = at(place);
            data[key] = value;
            data
        };
        event(part.names[0], with(part.place, "part", part.empty.clone()));
        for piece in pieces.divide(&part.text) {
            let mut data = with(part.place, "delta", json!(piece));
            if part.place == "content_index" {
                data["logprobs"] = json!([]);
            }
            event(part.names[1], data);
        }
        let mut said = with(part.place, "text", json!(part.text));
        if part.place == "content_index" {
            said["logprobs"] = json!([]);
        }
        event(part.names[2], said);
        event(part.names[3], with(part.place, "part", part.whole.clone()));
        event("response.output_item.done", done);
    }
    let started =
        |call: usize| json!({"output_index": first_call + call, "item": items[first_call + call].start});
    let mut count = 0;
    let mut left: Vec<usize> = texts.iter().map(|text| pieces.divide(text).len()).collect();
    let mut closing = Vec::new();
    for (call, piece) in pieces.divide_all(&texts) {
        while count <= call {
            event("response.output_item.added", started(count));
            count += 1;
        }
        let index = first_call + call;
        let data = json!({"item_id": items[index].whole["id"], "output_index": index, "delta": piece});
        event(Form::of(reply, call).delta, data);
        left[call] -= 1;
        if left[call] == 0 && !pieces.interleaved {
            close(&mut event, &items[index], (Form::of(reply, call), index));
        } else if left[call] == 0 {
            closing.push(index);
        }
    }
    for call in count..texts.len() {
        event("response.output_item.added", started(call));
    }
    let silent = (0..texts.len()).filter(|call| texts[*call].is_empty()).map(|call| first_call + call);
    for index in closing.into_iter().chain(silent) {
        close(&mut event, &items[index], (Form::of(reply, index - first_call), index));
    }
    let whole: Vec<Json> = items.into_iter().map(|item| item.whole).collect();
    let status = status(reply);
    let name = if status == "completed" { "response.completed" } else { "response.incomplete" };
    event(name, json!({"response": body(reply, whole, status)}));
    events
}

pub(super) fn error(text: &str, after: usize) -> Event {
    let data = json!({
        "type": "error", "code": "server_error", "message": text, "param": null, "sequence_number": after
    });
    Event::new("error", data)
}

struct Form {
    kind: &'static str,
    prefix: &'static str,
    key: &'static str,
    /// The names of the events.
    delta: &'static str,
    done: &'static str,
}

static FUNCTION: Form = Form {
    kind: "function_call",
    prefix: "fc",
    key: "arguments",
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
};

static FREE_TEXT: Form = Form {
    kind: "custom_tool_call",
    prefix: "ctc",
    key: "input",
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
};

impl Form {
    fn of(reply: &Reply, call: usize) -> &'static Self {
        if reply.free_texts.contains(&call) { &FREE_TEXT } else { &FUNCTION }
    }
}

fn close(event: &mut impl FnMut(&'static str, Json), item: &Item, (form, index): (&Form, usize)) {
    let mut done =
        json!({"item_id": item.whole["id"], "output_index": index, form.key: item.whole[form.key]});
    if form.key == FUNCTION.key {
        done["name"] = item.whole["name"].clone();
    }
    event(form.done, done);
    event("response.output_item.done", json!({"output_index": index, "item": item.whole}));
}

fn status(reply: &Reply) -> &'static str {
    if reply.stop == Stop::Length { "incomplete" } else { "completed" }
}

fn body(reply: &Reply, output: Vec<Json>, status: &str) -> Json {
    let (input, out) = (reply.input_tokens, reply.output_tokens);
    let is_ended = status != "in_progress";
    let usage = is_ended.then(|| {
        json!({
            "input_tokens": input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + out
        })
    });
    let cut = (status == "incomplete").then(|| json!({"reason": "max_output_tokens"}));
    let mut body = json!({
        "id": reply.id,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": cut,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": reply.previous_response,
        "reasoning": {"effort": null, "summary": null},
        "store": reply.is_kept,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null
    });
    for (key, value) in reply.repeated.iter().filter(|(_, value)| !value.is_null()) {
        body[key] = value.clone();
    }
    // A request may name it by its id alone.
    if let Some(Json::String(id)) = reply.repeated.get("conversation") {
        body["conversation"] = json!({"id": id});
    }
    body
}

pub(super) const REPEATED: [&str; 15] = words(
    "background conversation instructions max_output_tokens max_tool_calls metadata parallel_tool_calls \
    reasoning temperature text tool_choice tools top_p truncation user",
);

struct Item {
    whole: Json,
    start: Json,
    /// The text in it that comes in pieces; the arguments of calls come otherwise.
    part: Option<Part>,
}

/// The part of an item that has a text.
struct Part {
    /// The names of the events: added, delta, done, part done.
    names: [&'static str; 4],
    /// The key of the part's number.
    place: &'static str,
    text: String,
    empty: Json,
    whole: Json,
}

/// The id of an item. Those of the API begin alike in a response and then grow: some clients sort by them.
fn item_id(prefix: &str, reply: &Reply, number: usize) -> String {
    format!("{prefix}_{}_{number:03}", reply.id)
}

fn items(reply: &Reply) -> Vec<Item> {
    let mut items = Vec::new();
    let id = |prefix: &str, number: usize| item_id(prefix, reply, number);
    for reasoning in &reply.said.reasoning {
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        let item = |summary: Vec<Json>| {
            json!({
                "id": id("rs", items.len()),
                "type": "reasoning",
                "summary": summary,
                "encrypted_content": reasoning.signature
            })
        };
        items.push(Item {
            whole: item((!reasoning.text.is_empty()).then(|| part(&reasoning.text)).into_iter().collect()),
            start: item(Vec::new()),
            part: (!reasoning.text.is_empty()).then(|| Part {
                names: [
                    "response.reasoning_summary_part.added",
                    "response.reasoning_summary_text.delta",
                    "response.reasoning_summary_text.done",
                    "response.reasoning_summary_part.done",
                ],
                place: "summary_index",
                text: reasoning.text.clone(),
                empty: part(""),
                whole: part(&reasoning.text),
            }),
        });
    }
    if !reply.said.text.is_empty() || reply.said.calls.is_empty() {
        let part =
            |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
        let item = |content: Vec<Json>, status: &str| {
            json!({
                "id": id("msg", items.len()),
                "type": "message",
                "status": status,
                "role": "assistant",
                "content": content
            })
        };
        items.push(Item {
            whole: item(vec![part(&reply.said.text)], status(reply)),
            start: item(Vec::new(), "in_progress"),
            part: Some(Part {
                names: [
                    "response.content_part.added",
                    "response.output_text.delta",
                    "response.output_text.done",
                    "response.content_part.done",
                ],
                place: "content_index",
                text: reply.said.text.clone(),
                empty: part(""),
                whole: part(&reply.said.text),
            }),
        });
    }
    for (number, call) in reply.said.calls.iter().enumerate() {
        let form = Form::of(reply, number);
        let item = |text: &str, status: &str| {
            let mut item = json!({
                "id": id(form.prefix, items.len()),
                "type": form.kind,
                "status": status,
                "call_id": call.id,
                "name": call.name,
                form.key: text
            });
            if let Some(namespace) = reply.namespaces.get(&number) {
                item["namespace"] = json!(namespace);
            }
            item
        };
        let (whole, start) = (item(&reply.arguments_text(number), status(reply)), item("", "in_progress"));
        items.push(Item { whole, start, part: None });
    }
    items
}
