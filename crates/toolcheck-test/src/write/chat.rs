//! Chat Completions and its dialects.

use serde_json::{Value as Json, json};

use super::tool_names;
use crate::{Conversation, Turn};

/// What sets a dialect apart.
pub(super) struct Dialect {
    /// A member of the body that tells the dialect from the others.
    mark: fn(&mut Json),
    has_ids: bool,
    arguments_are_text: bool,
    /// The key of a result that repeats the tool's name.
    result_name: Option<&'static str>,
    /// The key of the text beside calls.
    text_beside_calls: &'static str,
}

pub(super) static OPENAI: Dialect = Dialect {
    mark: |body| body["stream_options"] = json!({"include_usage": true}),
    has_ids: true,
    arguments_are_text: true,
    result_name: None,
    text_beside_calls: "content",
};

pub(super) static MISTRAL: Dialect = Dialect {
    mark: |body| body["random_seed"] = json!(1),
    has_ids: true,
    arguments_are_text: true,
    result_name: Some("name"),
    text_beside_calls: "content",
};

pub(super) static COHERE: Dialect = Dialect {
    mark: |body| body["safety_mode"] = json!("CONTEXTUAL"),
    has_ids: true,
    arguments_are_text: true,
    result_name: None,
    text_beside_calls: "tool_plan",
};

pub(super) static OLLAMA: Dialect = Dialect {
    mark: |body| body["options"] = json!({"num_ctx": 8192}),
    has_ids: false,
    arguments_are_text: false,
    result_name: Some("tool_name"),
    text_beside_calls: "content",
};

pub(super) fn write(conversation: &Conversation, dialect: &Dialect) -> Json {
    let mut messages = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Assistant { text, calls, .. } if calls.is_empty() => {
                messages.push(json!({"role": "assistant", "content": text}));
            }
            Turn::Assistant { text, calls, .. } => {
                let mut message = json!({"role": "assistant"});
                message[dialect.text_beside_calls] = json!(text);
                message["tool_calls"] = calls
                    .iter()
                    .map(|call| {
                        let object = Json::Object(call.arguments.clone());
                        let arguments = if dialect.arguments_are_text { json!(object.to_string()) } else { object };
                        let mut written =
                            json!({"type": "function", "function": {"name": call.name, "arguments": arguments}});
                        if dialect.has_ids {
                            written["id"] = json!(call.id);
                        }
                        written
                    })
                    .collect();
                messages.push(message);
            }
            Turn::Results(answers) => messages.extend(answers.iter().map(|answer| {
                let mut message = json!({"role": "tool", "content": answer.text});
                if dialect.has_ids {
                    message["tool_call_id"] = json!(answer.id);
                }
                if let Some(key) = dialect.result_name {
                    message[key] = json!(answer.name);
                }
                message
            })),
        }
    }
    let tools = tool_names(conversation).into_iter().map(
        |name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}),
    );
    let mut body = json!({"messages": messages});
    let tools: Vec<Json> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    (dialect.mark)(&mut body);
    body
}
