//! `python/beeai_framework/backend/message.py` of i-am-bee/beeai-framework: the parts of the AI SDK with keys in snake case,
//! as ports of it to Python write them too.

use toolcheck_json::Value;

use super::{Framework, blocks_of, call, named_result, reasoning};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own: has_tools, add };

const IDS: [&str; 2] = ["tool_call_id", "id"];

/// Whether a message has calls or results. Without any, it is like those of OpenAI.
pub(super) fn has_tools(message: Value<'_, '_>) -> bool {
    message.has("role") && blocks_of(message).take(super::CALLS_LOOKED_AT).any(is_block)
}

fn is_block(block: Value<'_, '_>) -> bool {
    let has = |keys: &[&str]| block.get_any(keys).is_some();
    match block.get_str("type").as_deref() {
        Some("tool-call") => has(&["tool_name"]) && has(&IDS),
        Some("tool-result") => has(&["tool_call_id"]),
        _ => false,
    }
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.content(message.get("content"), |block| {
        let get = |key| block.get(key);
        Some(match block.get_str("type").as_deref() {
            Some("tool-call") => {
                let arguments = block.get_any(&["args", "input", "arguments"]);
                Body::Call(call(block.get_any(&IDS), get("tool_name"), arguments))
            }
            Some("tool-result") => {
                let content = block.get_any(&["result", "output"]);
                named_result([get("tool_call_id"), get("tool_name"), content], get("is_error"))
            }
            Some("reasoning" | "thinking") => reasoning(None),
            Some("image" | "image_url" | "file") => Body::Media,
            _ => Body::Opaque,
        })
    });
}
