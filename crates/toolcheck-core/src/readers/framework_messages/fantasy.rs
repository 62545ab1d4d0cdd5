//! `content_json.go` of charmbracelet/fantasy: what a part is stands beside its data.

use toolcheck_json::Value;

use super::{Framework, blocks_of, call, first_blocks, reasoning, result};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    let is_part = |part: Value<'_, '_>| {
        // The AI SDK's data of a file has a type of its own.
        part.get("data").is_some_and(|data| {
            data.get_any(&["text", "tool_call_id"]).is_some() && data.get("type").is_none()
        }) && part.has("type")
            && part.get("text").is_none()
    };
    message.has("role") && first_blocks(message).any(is_part)
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    for part in blocks_of(message) {
        let get = |key| part.get_in(&["data", key]);
        let body = match part.get_str("type").as_deref() {
            Some("text") => Body::text(get("text")),
            Some("reasoning") => reasoning(None),
            Some("tool-call") => Body::Call(call(get("tool_call_id"), get("tool_name"), get("input"))),
            Some("tool-result") => {
                let output = get("output");
                let is_error = output.and_then(|output| output.get_str("type")).map(|kind| kind == "error");
                let content = output.and_then(|output| output.get("data")).and_then(|data| data.get("text"));
                Body::Result(result(get("tool_call_id"), content.or(output), is_error))
            }
            Some("file") => Body::Media,
            _ => Body::Opaque,
        };
        transcript.part(part, body);
    }
}
