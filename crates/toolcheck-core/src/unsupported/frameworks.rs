//! What is known of histories of frameworks and of traces that no reader reads.

use toolcheck_json::Value;

use super::{MESSAGES_LOOKED_AT, first_of, has, is_one_of};
use crate::ir::{Place, Unread, UnreadKind};

/// Whether a message is one of LlamaIndex: it keeps calls under `additional_kwargs`, or in blocks with a `block_type`
/// (`llama-index-core/llama_index/core/base/llms/types.py`).
pub(super) fn is_of_llama_index(message: Value<'_, '_>) -> bool {
    has(message, &["role"])
        && (first_of(message, "blocks").is_some_and(|block| block.get("block_type").is_some())
            || is_list_of_blocks(message) && message.get("additional_kwargs").is_some_and(Value::is_object))
}

fn is_list_of_blocks(message: Value<'_, '_>) -> bool {
    message.get("blocks").is_some_and(Value::is_array)
}

/// A list of messages of a framework that no reader reads, if it holds calls: wherever it stands, it is in no wire format.
pub(crate) fn calls_of_framework<'s>(list: Value<'_, 's>) -> Option<Unread<'s>> {
    // Every message of LlamaIndex has this key, and most lists have not.
    memchr::memmem::find(list.raw(), b"\"additional_kwargs\"")?;
    let holds_call = |message: Value<'_, '_>| {
        let kept = message.get("additional_kwargs");
        let calls = kept.and_then(|kept| first_of(kept, "tool_calls"));
        let mut blocks = message.list("blocks");
        calls.is_some() || blocks.any(|block| is_one_of(block, "block_type", &["tool_call"]))
    };
    let is_own = list.elements().take(MESSAGES_LOOKED_AT).any(is_of_llama_index);
    if !is_own || !list.elements().any(holds_call) {
        return None;
    }
    let name = list.key_text().unwrap_or("messages".into());
    Some(Unread { place: Place::of(list), what: UnreadKind::Calls, name, is_known: true })
}
