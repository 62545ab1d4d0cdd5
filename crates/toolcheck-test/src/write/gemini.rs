use serde_json::{Value as Json, json};

use super::tool_names;
use crate::{Conversation, Turn};

pub(super) fn write(conversation: &Conversation) -> Json {
    let contents = conversation.turns.iter().map(|turn| match turn {
        Turn::User(text) => json!({"role": "user", "parts": [{"text": text}]}),
        Turn::Assistant { text, calls, .. } => {
            let text = (!text.is_empty()).then(|| json!({"text": text}));
            let calls =
                calls.iter().map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}}));
            json!({"role": "model", "parts": text.into_iter().chain(calls).collect::<Vec<_>>()})
        }
        Turn::Results(answers) => {
            let results = answers.iter().map(|answer| {
                let key = if answer.failed { "error" } else { "output" };
                json!({"functionResponse": {"name": answer.name, "response": {key: answer.text}}})
            });
            json!({"role": "user", "parts": results.collect::<Vec<_>>()})
        }
    });
    let tools = tool_names(conversation).into_iter().map(|name| json!({"name": name}));
    json!({"tools": [{"functionDeclarations": tools.collect::<Vec<_>>()}], "contents": contents.collect::<Vec<_>>()})
}
