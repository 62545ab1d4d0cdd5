//! `llama-index-core/llama_index/core/base/llms/types.py` of run-llama/llama_index 0.14.

use toolcheck_json::Value;

use super::{Framework, call, named_result, reasoning, turns};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    let blocks = message.get("blocks").filter(|blocks| blocks.is_array() && message.has("role"));
    blocks.is_some_and(|blocks| {
        let first = blocks.elements().next();
        first.map_or_else(|| message.has("additional_kwargs"), |block| block.has("block_type"))
    })
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, role: Role) {
    let beside = message.get("additional_kwargs");
    let kept = |key| beside.and_then(|beside| beside.get(key));
    let content = message.get_any(&["blocks", "content"]);
    if role == Role::Tool {
        let body = named_result([kept("tool_call_id"), kept("name"), content], None);
        transcript.part(message, body);
        return;
    }
    let mut has_calls = false;
    transcript.content(content, |block| {
        Some(match block.get_str("block_type").as_deref() {
            Some("text") => Body::text(block.get("text")),
            Some("tool_call") => {
                has_calls = true;
                Body::Call(call(block.get("tool_call_id"), block.get("tool_name"), block.get("tool_kwargs")))
            }
            Some("thinking") => reasoning(None),
            Some("image" | "audio" | "video" | "document") => Body::Media,
            _ => Body::Opaque,
        })
    });
    // A message keeps the calls of the API as they came, if its blocks have none.
    for own in kept("tool_calls").filter(|_| !has_calls).into_iter().flat_map(Value::elements) {
        turns::add_call(transcript, own);
    }
}
