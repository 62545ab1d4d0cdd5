//! `AssistantMessage.java` and `ToolResponseMessage.java` of spring-projects/spring-ai 1.

use toolcheck_json::Value;

use super::{Framework, named_result, turns};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    message.get("role").is_none()
        && message.is_one_of("messageType", &["USER", "ASSISTANT", "SYSTEM", "TOOL"])
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.content(message.get_any(&["text", "textContent", "content"]), |_| Some(Body::Opaque));
    for own in message.list("toolCalls") {
        turns::add_call(transcript, own);
    }
    for own in message.get_any(&["responses", "toolResponses"]).into_iter().flat_map(Value::elements) {
        transcript.part(own, named_result([own.get("id"), own.get("name"), own.get("responseData")], None));
    }
    for media in message.list("media") {
        transcript.part(media, Body::Media);
    }
}
