//! Writes requests as steps.

use serde_json::{Value as Json, json};

use crate::conversation::{Assistant, Conversation, ToolOutput, Turn};

pub(super) fn request(conversation: &Conversation, tools: &[&str]) -> Json {
    let mut input = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => input.push(json!({"type": "user_input", "content": [content(text)]})),
            Turn::Assistant(said) => input.extend(steps(said)),
            Turn::Results(outputs) => input.extend(outputs.iter().map(result)),
        }
    }
    let mut body = json!({"input": input});
    if !tools.is_empty() {
        let tool = |name| json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}});
        body["tools"] = tools.iter().map(tool).collect();
    }
    if !conversation.system.is_empty() {
        body["system_instruction"] = json!(conversation.system);
    }
    body
}

pub(super) fn content(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

fn result(output: &ToolOutput) -> Json {
    let mut step = json!({"type": "function_result", "call_id": output.call_id, "name": output.name});
    if output.failed {
        step["is_error"] = json!(true);
    }
    step["result"] = json!([content(&output.text)]);
    step
}

fn steps(said: &Assistant) -> Vec<Json> {
    let thoughts = said.reasoning.iter().map(|reasoning| {
        let mut step = json!({"type": "thought"});
        if let Some(signature) = &reasoning.signature {
            step["signature"] = json!(signature);
        }
        if !reasoning.text.is_empty() {
            step["summary"] = json!([content(&reasoning.text)]);
        }
        step
    });
    let text =
        (!said.text.is_empty()).then(|| json!({"type": "model_output", "content": [content(&said.text)]}));
    let calls = said.calls.iter().map(|call| {
        json!({"type": "function_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    });
    thoughts.chain(text).chain(calls).collect()
}
