//! A small adapter: it converts a request to the Responses API into one to Chat Completions.
//!
//! It is an example for its tests, `tests/adapter.rs`. [`convert_item_by_item`] is the first version, with a bug that
//! most such adapters have at first, and [`convert`] is the fixed version.

use serde_json::{Map, Value, json};

/// Converts a request: the text and the calls of one turn become one message.
///
/// # Errors
///
/// Names the first item that Chat Completions has no message for. Dropping it would change the conversation.
pub fn convert(request: &Value) -> Result<Value, String> {
    let mut messages: Vec<Value> = Vec::new();
    for item in items(request) {
        let Some(message) = message(item)? else { continue };
        match messages.last_mut() {
            // The turn continues: its calls belong in the message with its text.
            Some(last) if has_calls(&message) && last["role"] == "assistant" => join(last, message),
            _ => messages.push(message),
        }
    }
    Ok(body(request, messages))
}

/// Converts a request item by item, as the first version did: each call becomes a message of its own.
///
/// # Errors
///
/// The same as those of [`convert`].
pub fn convert_item_by_item(request: &Value) -> Result<Value, String> {
    let messages = items(request).iter().filter_map(|item| message(item).transpose());
    Ok(body(request, messages.collect::<Result<_, _>>()?))
}

fn items(request: &Value) -> &[Value] {
    request["input"].as_array().map_or(&[], Vec::as_slice)
}

/// The message for one item; `None` if Chat Completions does not accept it in a request.
fn message(item: &Value) -> Result<Option<Value>, String> {
    Ok(match item["type"].as_str().unwrap_or("message") {
        "message" => Some(json!({"role": item["role"], "content": text(&item["content"])})),
        "function_call" => {
            let function = json!({"name": item["name"], "arguments": item["arguments"]});
            let call = json!({"id": item["call_id"], "type": "function", "function": function});
            Some(json!({"role": "assistant", "content": null, "tool_calls": [call]}))
        }
        "function_call_output" => {
            Some(json!({"role": "tool", "tool_call_id": item["call_id"], "content": text(&item["output"])}))
        }
        "reasoning" => None,
        other => return Err(format!("Chat Completions has no message for an item of type {other}")),
    })
}

fn has_calls(message: &Value) -> bool {
    message.get("tool_calls").is_some()
}

/// Adds the calls of a message to an earlier one.
fn join(message: &mut Value, later: Value) {
    if message["content"] == "" {
        message["content"] = Value::Null;
    }
    if message.get("tool_calls").is_none() {
        message["tool_calls"] = json!([]);
    }
    if let (Some(calls), Some(more)) = (message["tool_calls"].as_array_mut(), later["tool_calls"].as_array())
    {
        calls.extend(more.iter().cloned());
    }
}

/// The text of a content, which is a string or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The request with these messages.
fn body(request: &Value, mut messages: Vec<Value>) -> Value {
    if let Some(instructions) = request["instructions"].as_str() {
        messages.insert(0, json!({"role": "system", "content": instructions}));
    }
    let mut body = picked(request, &["model", "parallel_tool_calls"]);
    body.insert("messages".to_owned(), messages.into());
    let choice = &request["tool_choice"];
    match &choice["name"] {
        Value::Null if choice.is_null() => {}
        Value::Null => drop(body.insert("tool_choice".to_owned(), choice.clone())),
        name => {
            let choice = json!({"type": "function", "function": {"name": name}});
            body.insert("tool_choice".to_owned(), choice);
        }
    }
    let tools = request["tools"].as_array().into_iter().flatten().map(|tool| {
        let function = picked(tool, &["name", "description", "parameters", "strict"]);
        json!({"type": "function", "function": function})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
    }
    body.into()
}

/// The members of an object that are copied as they are.
fn picked(object: &Value, keys: &[&str]) -> Map<String, Value> {
    let member = |key: &&str| Some(((*key).to_owned(), object.get(*key)?.clone()));
    keys.iter().filter_map(member).collect()
}
