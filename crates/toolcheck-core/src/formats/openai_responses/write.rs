//! Writes requests and responses as items.

use serde_json::{Value as Json, json};

use crate::conversation::{Assistant, Conversation, Turn};

pub(super) fn request(conversation: &Conversation, tools: &[&str]) -> Json {
    let mut input = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => input.push(json!({"role": "user", "content": text})),
            Turn::Assistant(said) => input.extend(items(said)),
            Turn::Results(outputs) => input.extend(outputs.iter().map(
                |output| json!({"type": "function_call_output", "call_id": output.call_id, "output": output.text}),
            )),
        }
    }
    let mut body = json!({"input": input});
    if !tools.is_empty() {
        let tool = |name| json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}});
        body["tools"] = tools.iter().map(tool).collect();
    }
    if !conversation.system.is_empty() {
        body["instructions"] = json!(conversation.system);
    }
    body
}

fn items(said: &Assistant) -> Vec<Json> {
    // Written without an id, because the server looks up items that have one.
    let reasoning = said.reasoning.iter().map(|reasoning| {
        let summary = json!({"type": "summary_text", "text": reasoning.text});
        let summary: Vec<Json> = (!reasoning.text.is_empty()).then_some(summary).into_iter().collect();
        json!({
            "type": "reasoning",
            "summary": summary,
            "encrypted_content": reasoning.signature
        })
    });
    let mut items: Vec<Json> = reasoning.collect();
    if !said.text.is_empty() {
        let content = json!([{"type": "output_text", "text": said.text}]);
        items.push(json!({"type": "message", "role": "assistant", "content": content}));
    }
    items.extend(said.calls.iter().map(|call| {
        let arguments = Json::Object(call.arguments.clone()).to_string();
        json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
    }));
    items
}
