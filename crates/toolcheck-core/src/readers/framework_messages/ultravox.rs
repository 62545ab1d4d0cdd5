//! The messages of a call of Ultravox (<https://docs.ultravox.ai/tools/overview>): the text of a call is its arguments.

use toolcheck_json::Value;

use super::{Framework, call, named_result};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    message.has("text") && message.get_str("role").is_some_and(|role| role.starts_with("MESSAGE_ROLE_"))
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, role: Role) {
    let id = message.get_any(&["invocationId", "invocation_id"]);
    let name = message.get_any(&["toolName", "tool_name"]);
    let text = message.get("text");
    let body = match message.get_str("role").as_deref() {
        Some("MESSAGE_ROLE_TOOL_CALL") => Body::Call(call(id, name, text)),
        _ if role == Role::Tool => named_result([id, name, text], None),
        _ => Body::text(text),
    };
    transcript.part(message, body);
}
