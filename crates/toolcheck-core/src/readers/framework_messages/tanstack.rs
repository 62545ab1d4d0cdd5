//! `packages/ai/src/types.ts` of TanStack/ai (`ModelMessage`), which is like a message of Chat Completions with other keys.

use toolcheck_json::Value;

use super::{Framework, reasoning, result, turns};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own: has_tools, add };

/// Whether a message has calls or a result. Without any, it is like those of OpenAI.
pub(super) fn has_tools(message: Value<'_, '_>) -> bool {
    let has = |key: &str| message.get(key).is_some();
    match message.get_str("role").as_deref() {
        Some("assistant") => {
            let is_call = |call: Value<'_, '_>| call.has("id") && call.has("function");
            !has("tool_calls") && message.list("toolCalls").next().is_some_and(is_call)
        }
        Some("tool") => has("toolCallId") && has("content") && !has("tool_call_id"),
        _ => false,
    }
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, role: Role) {
    let content = message.get("content");
    if role == Role::Tool {
        let is_error = message.get_str("error").map(|_| true);
        transcript.part(message, Body::Result(result(message.get("toolCallId"), content, is_error)));
        return;
    }
    for thought in message.list("thinking") {
        transcript.part(thought, reasoning(thought.get("signature")));
    }
    transcript.content(content, |_| Some(Body::Opaque));
    for own in message.list("toolCalls") {
        turns::add_call(transcript, own);
    }
}
