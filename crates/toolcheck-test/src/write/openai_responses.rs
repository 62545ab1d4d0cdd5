use serde_json::{Value as Json, json};

use super::tool_names;
use crate::{Conversation, Turn};

pub(super) fn write(conversation: &Conversation) -> Json {
    let mut input = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => input.push(json!({"role": "user", "content": text})),
            Turn::Assistant { text, calls, .. } => {
                if !text.is_empty() {
                    let content = json!([{"type": "output_text", "text": text}]);
                    input.push(json!({"type": "message", "role": "assistant", "content": content}));
                }
                input.extend(calls.iter().map(|call| {
                    let arguments = Json::Object(call.arguments.clone()).to_string();
                    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
                }));
            }
            Turn::Results(answers) => input.extend(answers.iter().map(
                |answer| json!({"type": "function_call_output", "call_id": answer.id, "output": answer.text}),
            )),
        }
    }
    let tools = tool_names(conversation)
        .into_iter()
        .map(|name| json!({"type": "function", "name": name, "parameters": {"type": "object"}}));
    json!({"tools": tools.collect::<Vec<_>>(), "input": input})
}
