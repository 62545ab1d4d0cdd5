//! `haystack/dataclasses/chat_message.py` of deepset-ai/haystack 2.

use toolcheck_json::Value;

use super::{Framework, call, first_blocks, named_result, reasoning};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    let is_block = |block: Value<'_, '_>| {
        block.get("type").is_none()
            && (block.get_in(&["tool_call", "tool_name"]).is_some()
                || block.get_in(&["tool_call_result", "origin"]).is_some()
                || message.has("meta") && message.has("name") && block.has("text"))
    };
    match message.has("role") {
        true => first_blocks(message).any(is_block),
        false => message.has("_role") && message.has("_content"),
    }
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.content(message.get_any(&["content", "_content"]), |block| {
        Some(if let Some(own) = block.get("tool_call") {
            Body::Call(call(own.get("id"), own.get("tool_name"), own.get("arguments")))
        } else if let Some(own) = block.get("tool_call_result") {
            let of_call = |key| own.get_in(&["origin", key]);
            named_result([of_call("id"), of_call("tool_name"), own.get("result")], own.get("error"))
        } else if block.has("reasoning") {
            reasoning(None)
        } else if block.get_any(&["image", "file"]).is_some() {
            Body::Media
        } else {
            Body::Opaque
        })
    });
}
