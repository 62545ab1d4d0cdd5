use serde_json::{Value as Json, json};

use super::tool_names;
use crate::{Conversation, Turn};

pub(super) fn write(conversation: &Conversation) -> Json {
    let messages = conversation.turns.iter().map(|turn| match turn {
        Turn::User(text) => json!({"role": "user", "content": [{"text": text}]}),
        Turn::Assistant { text, calls, .. } => {
            let text = (!text.is_empty()).then(|| json!({"text": text}));
            let calls = calls.iter().map(
                |call| json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}}),
            );
            json!({"role": "assistant", "content": text.into_iter().chain(calls).collect::<Vec<_>>()})
        }
        Turn::Results(answers) => {
            let results = answers.iter().map(|answer| {
                let status = if answer.failed { "error" } else { "success" };
                json!({"toolResult": {"toolUseId": answer.id, "content": [{"text": answer.text}], "status": status}})
            });
            json!({"role": "user", "content": results.collect::<Vec<_>>()})
        }
    });
    let tools = tool_names(conversation)
        .into_iter()
        .map(|name| json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}));
    let mut body = json!({"inferenceConfig": {"maxTokens": 1024}, "messages": messages.collect::<Vec<_>>()});
    let tools: Vec<Json> = tools.collect();
    if !tools.is_empty() {
        body["toolConfig"] = json!({"tools": tools});
    }
    body
}
