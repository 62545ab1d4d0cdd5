//! Conversations, written in each wire format as its provider wants it.

mod anthropic;
mod bedrock_converse;
mod chat;
mod exchanges;
mod gemini;
mod openai_responses;

use serde_json::Value as Json;

use crate::Conversation;

pub use exchanges::exchanges;

/// The conversation as a request body of the format, without a model; `None` where there is no such format.
#[must_use]
pub fn write(conversation: &Conversation, format: &str) -> Option<Json> {
    Some(match format {
        "anthropic" => anthropic::write(conversation),
        "bedrock-converse" => bedrock_converse::write(conversation),
        "gemini" => gemini::write(conversation),
        "openai-responses" => openai_responses::write(conversation),
        "openai-chat" => chat::write(conversation, &chat::OPENAI),
        "mistral" => chat::write(conversation, &chat::MISTRAL),
        "cohere" => chat::write(conversation, &chat::COHERE),
        "ollama" => chat::write(conversation, &chat::OLLAMA),
        _ => return None,
    })
}

/// The names of the tools that are called, each once.
fn tool_names(conversation: &Conversation) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for turn in &conversation.turns {
        if let crate::Turn::Assistant { calls, .. } = turn {
            for call in calls {
                if !names.contains(&&*call.name) {
                    names.push(&call.name);
                }
            }
        }
    }
    names
}
