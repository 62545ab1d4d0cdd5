//! `llms/marshaling.go` of tmc/langchaingo.

use toolcheck_json::Value;

use super::{Framework, named_result, turns};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    let is_of_tool =
        |part: Value<'_, '_>| part.get_any(&["tool_call", "tool_response"]).is_some_and(Value::is_object);
    message.has("role") && message.list("parts").take(super::LOOKED_AT).any(is_of_tool)
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    if let Some(text) = message.get("text") {
        transcript.part(text, Body::text(Some(text)));
    }
    for part in message.list("parts") {
        if let Some(own) = part.get("tool_call") {
            turns::add_call(transcript, own);
        } else if let Some(own) = part.get("tool_response") {
            let body = named_result([own.get("tool_call_id"), own.get("name"), own.get("content")], None);
            transcript.part(own, body);
        } else if part.has("text") {
            transcript.part(part, Body::text(part.get("text")));
        } else {
            transcript.part(part, Body::Media);
        }
    }
}
