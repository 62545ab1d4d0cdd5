//! A small adapter: a request to the Responses API becomes one to Chat Completions.
//!
//! It stands here for its tests, `tests/adapter.rs`. [`convert_item_by_item`] is the first version, with the fault that
//! most such adapters begin with, and [`convert`] the mended one.

use serde_json::{Map, Value, json};

/// Converts a request: what the model says and calls in one turn becomes one message.
///
/// # Errors
///
/// Names the first item that Chat Completions has no message for. An adapter that left it out would change what was said.
pub fn convert(request: &Value) -> Result<Value, String> {
    let mut messages: Vec<Value> = Vec::new();
    for item in items(request) {
        let Some(message) = message(item)? else { continue };
        match messages.last_mut() {
            // The turn goes on: its calls belong to the message that says its text.
            Some(last) if is_calling(&message) && last["role"] == "assistant" => join(last, message),
            _ => messages.push(message),
        }
    }
    Ok(body(request, messages))
}

/// Converts a request item by item, as it was written first: each call becomes a message of its own.
///
/// # Errors
///
/// As for [`convert`].
pub fn convert_item_by_item(request: &Value) -> Result<Value, String> {
    let messages = items(request).iter().filter_map(|item| message(item).transpose());
    Ok(body(request, messages.collect::<Result<_, _>>()?))
}

fn items(request: &Value) -> &[Value] {
    request["input"].as_array().map_or(&[], Vec::as_slice)
}

/// The message for one item; `None` for what Chat Completions does not take back.
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

fn is_calling(message: &Value) -> bool {
    message.get("tool_calls").is_some()
}

/// Adds the calls of a message to one before it.
fn join(message: &mut Value, calling: Value) {
    if message["content"] == "" {
        message["content"] = Value::Null;
    }
    if message.get("tool_calls").is_none() {
        message["tool_calls"] = json!([]);
    }
    if let (Some(calls), Some(more)) =
        (message["tool_calls"].as_array_mut(), calling["tool_calls"].as_array())
    {
        calls.extend(more.iter().cloned());
    }
}

/// A text, whether it stands alone or in parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The rest of the request around its messages.
fn body(request: &Value, mut messages: Vec<Value>) -> Value {
    if let Some(instructions) = request["instructions"].as_str() {
        messages.insert(0, json!({"role": "system", "content": instructions}));
    }
    let mut body = Map::from_iter([("messages".to_owned(), messages.into())]);
    if let Some(model) = request.get("model") {
        body.insert("model".to_owned(), model.clone());
    }
    let tools = request["tools"].as_array().into_iter().flatten().map(|tool| {
        let function = json!({"name": tool["name"], "parameters": tool["parameters"]});
        json!({"type": "function", "function": function})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
    }
    body.into()
}
