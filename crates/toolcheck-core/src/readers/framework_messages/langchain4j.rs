//! `ChatMessageSerializerTest.java` of langchain4j/langchain4j 1.

use toolcheck_json::Value;

use super::{Framework, named_result, turns};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    message.get("role").is_none()
        && message.get_any(&["toolExecutionRequests", "contents", "toolName"]).is_some()
        && message.is_one_of("type", &["USER", "AI", "TOOL_EXECUTION_RESULT"])
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    let content = message.get_any(&["contents", "text"]);
    if let Some(name) = message.get("toolName") {
        let body = named_result([message.get("id"), Some(name), content], message.get("isError"));
        transcript.part(message, body);
        return;
    }
    transcript.content(content, |block| {
        Some(if block.has("text") { Body::text(block.get("text")) } else { Body::Media })
    });
    for own in message.list("toolExecutionRequests") {
        turns::add_call(transcript, own);
    }
}
