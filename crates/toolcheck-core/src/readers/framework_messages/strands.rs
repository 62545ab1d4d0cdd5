//! `src/strands/types/content.py` of strands-agents/sdk-python 1.62: messages of Converse, with what is not sent of them.

use toolcheck_json::Value;

use super::{Framework, call, reasoning, result};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    message.get("role").is_some()
        && message.get("tracking_id").is_some()
        && message.list("content").all(|block| block.get("type").is_none())
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.content(message.get("content"), |block| {
        Some(if let Some(own) = block.get("toolUse") {
            Body::Call(call(own.get("toolUseId"), own.get("name"), own.get("input")))
        } else if let Some(own) = block.get("toolResult") {
            let is_error = own.get_str("status").map(|status| status == "error");
            Body::Result(result(own.get("toolUseId"), own.get("content"), is_error))
        } else if let Some(text) = block.get("text") {
            Body::text(Some(text))
        } else if block.get("reasoningContent").is_some() {
            reasoning(None)
        } else if block.get_any(&["image", "document", "video"]).is_some() {
            Body::Media
        } else {
            Body::Opaque
        })
    });
}
