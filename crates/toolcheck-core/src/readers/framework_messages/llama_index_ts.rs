//! `ChatMessage` in `packages/core/src/llms/type.ts` of run-llama/LlamaIndexTS: calls and results are among the options.

use toolcheck_json::Value;

use super::{Framework, call, result};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own: has_tools, add };

/// Whether a message has calls or a result. Without any, it is like those of OpenAI.
pub(super) fn has_tools(message: Value<'_, '_>) -> bool {
    let own = message.get("options").and_then(|options| options.get_any(&["toolCall", "toolResult"]));
    own.is_some_and(|own| own.elements().next().unwrap_or(own).has("id"))
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    let of_tools = |key| message.get_in(&["options", key]);
    if let Some(own) = of_tools("toolResult") {
        let is_error = own.get("isError").and_then(Value::as_bool);
        transcript.part(own, Body::Result(result(own.get("id"), own.get("result"), is_error)));
        return;
    }
    transcript.content(message.get("content"), |_| Some(Body::Opaque));
    for own in of_tools("toolCall").into_iter().flat_map(Value::elements) {
        transcript.part(own, Body::Call(call(own.get("id"), own.get("name"), own.get("input"))));
    }
}
