//! What a server asks the model of its client.

use toolcheck_json::Value;

use super::super::parts::{call, result};
use crate::ir::{Body, Role, Transcript};

/// Adds a message of a model's conversation, whose content is a block or several.
pub(super) fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>) {
    let role = match message.get_str("role").as_deref() {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    };
    transcript.next_message(role, message);
    let Some(content) = message.get("content") else { return };
    let single = Some(content).filter(|content| content.is_object());
    let several = content.elements().filter(|_| single.is_none());
    for block in single.into_iter().chain(several) {
        let body = match block.get_str("type").as_deref() {
            Some("text") => Body::text(block.get("text")),
            Some("tool_use") => Body::Call(call(block.get("id"), block.get("name"), block.get("input"))),
            Some("tool_result") => {
                let is_error = block.get("isError").and_then(Value::as_bool);
                Body::Result(result(block.get("toolUseId"), block.get("content"), is_error))
            }
            _ => Body::Opaque,
        };
        transcript.part(block, body);
    }
}
