//! Conversations as the requests and responses that they came about in.

use serde_json::{Value as Json, json};

use super::write;
use crate::{Conversation, Turn};

/// The requests in which the conversation came about, each with the model's answer, in order of time.
///
/// What `kept` makes of a conversation is what the application holds of it: the history of each request is
/// `kept` of what had been said, and each response is what the model said.
#[must_use]
pub fn exchanges(
    conversation: &Conversation,
    format: &str,
    kept: impl Fn(&Conversation) -> Conversation,
) -> Option<Vec<Json>> {
    let mut exchanges = Vec::new();
    let declared = write(conversation, format)?;
    // An application declares its tools from the beginning, and not only those that were called.
    let request = |said: &Conversation| {
        let mut body = write(said, format)?;
        for key in ["tools", "toolConfig"] {
            if let Some(tools) = declared.get(key) {
                body[key].clone_from(tools);
            }
        }
        Some(body)
    };
    for (number, turn) in conversation.turns.iter().enumerate() {
        let Turn::Assistant { calls, .. } = turn else { continue };
        let up_to = |end: usize| Conversation { turns: conversation.turns[..end].to_vec() };
        let (before, after) = (write(&up_to(number), format)?, write(&up_to(number + 1), format)?);
        let answer = response(format, &list(&after)?[list(&before)?.len()..], !calls.is_empty())?;
        exchanges.push(json!({"request": request(&kept(&up_to(number)))?, "response": answer}));
    }
    let whole = request(&kept(conversation))?;
    if !matches!(conversation.turns.last(), Some(Turn::Assistant { .. })) {
        exchanges.push(json!({"request": whole, "response": null}));
    }
    Some(exchanges)
}

fn list(body: &Json) -> Option<&Vec<Json>> {
    ["messages", "input", "contents"].iter().find_map(|key| body.get(key)?.as_array())
}

/// What the API of a format answers where the model says these messages or items.
fn response(format: &str, said: &[Json], calls: bool) -> Option<Json> {
    let message = said.first()?;
    let reason = |calling: &'static str, ending: &'static str| if calls { calling } else { ending };
    Some(match format {
        "anthropic" => json!({
            "type": "message", "role": "assistant", "content": message["content"],
            "stop_reason": reason("tool_use", "end_turn")
        }),
        "bedrock-converse" => {
            json!({"output": {"message": message}, "stopReason": reason("tool_use", "end_turn")})
        }
        "gemini" => json!({"candidates": [{"content": message, "finishReason": "STOP"}]}),
        "openai-responses" => json!({"object": "response", "status": "completed", "output": said}),
        "openai-chat" | "mistral" => json!({"choices": [
            {"index": 0, "message": message, "finish_reason": reason("tool_calls", "stop")}
        ]}),
        "cohere" => json!({"message": message, "finish_reason": reason("TOOL_CALL", "COMPLETE")}),
        "ollama" => json!({"message": message, "done": true, "done_reason": "stop"}),
        _ => return None,
    })
}
