//! `src/chat/chat_message.rs` and `src/chat/tool` of jeremychone/rust-genai 0.4 and 0.7.

use toolcheck_json::Value;

use super::{Framework, blocks_of, call, first_blocks, result};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

/// The keys that name what a block is.
const KINDS: [&str; 6] = ["Text", "Binary", "ToolCall", "ToolCalls", "ToolResponse", "ToolResponses"];

fn is_own(message: Value<'_, '_>) -> bool {
    message.has("role") && first_blocks(message).any(|block| block.get_any(&KINDS).is_some())
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.content(message.get("content").filter(|content| content.is_string()), |_| None);
    for block in blocks_of(message) {
        let Some(own) = block.get_any(&KINDS) else {
            transcript.unknown(block);
            continue;
        };
        let key = own.key_text().unwrap_or_default();
        match &*key {
            "Text" => drop(transcript.part(own, Body::text(Some(own)))),
            "Binary" => drop(transcript.part(own, Body::Media)),
            // Before 0.5, all calls or results of a message were in one list.
            _ => {
                let alone = own.is_object().then_some(own);
                for own in alone.into_iter().chain(own.elements()) {
                    transcript.part(own, tool(own, key.starts_with("ToolResponse")));
                }
            }
        }
    }
}

fn tool<'s>(own: Value<'_, 's>, is_result: bool) -> Body<'s> {
    if is_result {
        Body::Result(result(own.get("call_id"), own.get("content"), None))
    } else {
        Body::Call(call(own.get("call_id"), own.get("fn_name"), own.get("fn_arguments")))
    }
}
