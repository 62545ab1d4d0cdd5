use serde_json::{Value as Json, json};

use super::tool_names;
use crate::{Conversation, Turn};

pub(super) fn write(conversation: &Conversation) -> Json {
    let messages = conversation.turns.iter().map(|turn| match turn {
        Turn::User(text) => json!({"role": "user", "content": text}),
        Turn::Assistant { text, calls, .. } => {
            let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
            let calls = calls.iter().map(
                |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}),
            );
            json!({"role": "assistant", "content": text.into_iter().chain(calls).collect::<Vec<_>>()})
        }
        Turn::Results(answers) => {
            let results = answers.iter().map(|answer| {
                json!({"type": "tool_result", "tool_use_id": answer.id, "content": answer.text,
                       "is_error": answer.failed})
            });
            json!({"role": "user", "content": results.collect::<Vec<_>>()})
        }
    });
    let tools = tool_names(conversation)
        .into_iter()
        .map(|name| json!({"name": name, "input_schema": {"type": "object"}}));
    json!({"max_tokens": 1024, "system": "Be brief.", "tools": tools.collect::<Vec<_>>(), "messages": messages.collect::<Vec<_>>()})
}
