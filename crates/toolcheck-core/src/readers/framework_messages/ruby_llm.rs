//! `lib/ruby_llm/message.rb` of crmne/ruby_llm 1.

use toolcheck_json::Value;

use super::{Framework, result, turns};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own: has_calls, add };

/// Whether a message has calls, which are in an object by their ids. Without any, it is like those of OpenAI.
pub(super) fn has_calls(message: Value<'_, '_>) -> bool {
    let is_call = |call: Value<'_, '_>| call.has_all(&["id", "name", "arguments"]);
    let calls = message.get("tool_calls").filter(|calls| calls.is_object());
    calls.and_then(|calls| calls.children().next()).is_some_and(is_call)
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, role: Role) {
    let content = message.get("content");
    if role == Role::Tool {
        transcript.part(message, Body::Result(result(message.get("tool_call_id"), content, None)));
        return;
    }
    transcript.content(content, |_| Some(Body::Opaque));
    // By their ids.
    for own in message.get("tool_calls").into_iter().flat_map(Value::children) {
        turns::add_call(transcript, own);
    }
}
