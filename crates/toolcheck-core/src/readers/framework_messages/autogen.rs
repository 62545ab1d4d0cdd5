//! `python/packages/autogen-core/src/autogen_core/models/_types.py` and
//! `python/packages/autogen-agentchat/src/autogen_agentchat/messages.py` of microsoft/autogen 0.7.

use toolcheck_json::Value;

use super::{Framework, call, named_result};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

/// The messages that name who said them.
const NAMED: [&str; 7] = [
    "UserMessage",
    "AssistantMessage",
    "TextMessage",
    "MultiModalMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
];

fn is_own(message: Value<'_, '_>) -> bool {
    message.get("role").is_none()
        && (message.is("type", "FunctionExecutionResultMessage")
            || message.has("source") && message.has("content") && message.is_one_of("type", &NAMED))
}

/// Whether an id is one that the client for Ollama counts, which all calls of a turn have
/// (`autogen_ext/models/ollama/_ollama_client.py`): their names and their order tell them apart.
fn is_counted(message: Value<'_, '_>) -> bool {
    let mut ids = message.list("content").filter_map(|block| block.get_str("id"));
    let first = ids.next().filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
    first.is_some() && first == ids.next()
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.details.shares_ids |= is_counted(message);
    transcript.content(message.get("content"), |block| {
        let get = |key| block.get(key);
        Some(if block.has("call_id") {
            named_result([get("call_id"), get("name"), get("content")], get("is_error"))
        } else if block.has("arguments") {
            Body::Call(call(get("id"), get("name"), get("arguments")))
        } else {
            Body::Media
        })
    });
}
