//! Writes requests and responses of Chat Completions and its dialects.

use serde_json::{Value as Json, json};

use crate::conversation::{Assistant, Call, Conversation, Reasoning, ToolOutput, Turn};

/// How a dialect's output differs from that of the others.
pub(in crate::formats) struct Style {
    /// A setting of the body that only this dialect has.
    pub(in crate::formats) mark: fn() -> (&'static str, Json),
    /// Whether arguments are a string of JSON rather than an object.
    pub(in crate::formats) arguments_are_text: bool,
    /// The key of a result that repeats the tool's name.
    pub(in crate::formats) result_name: Option<&'static str>,
    /// The key of the text in a message with calls.
    pub(in crate::formats) text_beside_calls: &'static str,
    /// Whether that is `null` if there is no text, and not an empty one.
    pub(in crate::formats) null_without_text: bool,
    /// Adds reasoning to a message. Called only if there is any.
    pub(in crate::formats) add_reasoning: fn(&mut Json, &[Reasoning]),
}

pub(super) static STYLE: Style = Style {
    mark: || ("max_completion_tokens", json!(1024)),
    arguments_are_text: true,
    result_name: None,
    text_beside_calls: "content",
    null_without_text: true,
    add_reasoning: |_, _| (),
};

pub(in crate::formats) fn request(conversation: &Conversation, tools: &[&str], style: &Style) -> Json {
    let mut messages = Vec::new();
    if !conversation.system.is_empty() {
        messages.push(json!({"role": "system", "content": conversation.system}));
    }
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Assistant(said) => messages.push(message(said, style)),
            Turn::Results(outputs) => messages.extend(outputs.iter().map(|output| result(output, style))),
        }
    }
    let mut body = json!({"messages": messages});
    if !tools.is_empty() {
        let tool = |name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}});
        body["tools"] = tools.iter().map(tool).collect();
    }
    let (key, setting) = (style.mark)();
    body[key] = setting;
    body
}

pub(in crate::formats) fn message(said: &Assistant, style: &Style) -> Json {
    let mut message = json!({"role": "assistant"});
    if said.calls.is_empty() {
        message["content"] = json!(said.text);
    } else {
        let has_none = style.null_without_text && said.text.is_empty();
        message[style.text_beside_calls] = if has_none { Json::Null } else { json!(said.text) };
        message["tool_calls"] = said.calls.iter().map(|made| call(made, style)).collect();
    }
    if !said.reasoning.is_empty() {
        (style.add_reasoning)(&mut message, &said.reasoning);
    }
    message
}

pub(in crate::formats) fn add_reasoning_blocks(
    message: &mut Json,
    reasoning: &[Reasoning],
    block: fn(&str) -> Json,
) {
    let mut blocks: Vec<Json> = reasoning.iter().map(|reasoning| block(&reasoning.text)).collect();
    let text = message["content"].as_str().filter(|text| !text.is_empty());
    blocks.extend(text.map(|text| json!({"type": "text", "text": text})));
    message["content"] = json!(blocks);
}

pub(in crate::formats) fn call(call: &Call, style: &Style) -> Json {
    let object = Json::Object(call.arguments.clone());
    let arguments = if style.arguments_are_text { json!(object.to_string()) } else { object };
    let mut written = json!({"type": "function", "function": {"name": call.name, "arguments": arguments}});
    if !call.id.is_empty() {
        written["id"] = json!(call.id);
    }
    written
}

fn result(output: &ToolOutput, style: &Style) -> Json {
    let mut message = json!({"role": "tool", "content": output.text});
    if !output.call_id.is_empty() {
        message["tool_call_id"] = json!(output.call_id);
    }
    if let Some(key) = style.result_name {
        message[key] = json!(output.name);
    }
    message
}
