//! `src/completion/message.rs` of 0xPlaygrounds/rig 0.21 and 0.46.

use toolcheck_json::Value;

use super::{Framework, call, first_blocks, named_result, parts, reasoning};
use crate::ir::{Body, Role, Transcript};

pub(super) static FRAMEWORK: Framework = Framework { is_own, add };

fn is_own(message: Value<'_, '_>) -> bool {
    message.has("role") && (has_no_id(message) || first_blocks(message).any(is_block))
}

/// Whether a block is a call or a result of Rig: calls had no type before 0.22.
fn is_block(block: Value<'_, '_>) -> bool {
    match block.get_str("type").as_deref() {
        Some("toolcall") => block.has("function"),
        Some("toolresult") => block.has("content"),
        Some(_) => false,
        None => block.has("id") && block.get_in(&["function", "arguments"]).is_some(),
    }
}

/// Whether a message of the model says that it has no id, as those of Rig did before 0.22.
fn has_no_id(message: Value<'_, '_>) -> bool {
    message.get("id").is_some_and(Value::is_null)
        && message.is("role", "assistant")
        && first_blocks(message).all(|block| block.has("text") && block.get("type").is_none())
        && first_blocks(message).next().is_some()
}

fn add<'s>(transcript: &mut Transcript<'s>, message: Value<'_, 's>, _: Role) {
    transcript.content(message.get("content"), |block| {
        let kind = block.get_str("type");
        Some(if let Some(function) = block.get("function") {
            let get = |key| function.get(key);
            Body::Call(call(block.get("id").and_then(id_of), get("name"), get("arguments")))
        } else if kind.as_deref() == Some("toolresult") {
            let own = block.get_any(&["call", "id"]).and_then(id_of);
            named_result([own, block.get("name"), block.get("content")], None)
        } else if block.has("reasoning") || kind.as_deref() == Some("reasoning") {
            reasoning(None)
        } else if kind.as_deref().is_some_and(parts::is_media) {
            Body::Media
        } else {
            Body::Opaque
        })
    });
}

/// Since 0.22, an id names who gave it.
fn id_of<'d, 's>(id: Value<'d, 's>) -> Option<Value<'d, 's>> {
    if id.is_object() { id.children().next() } else { Some(id) }
}
