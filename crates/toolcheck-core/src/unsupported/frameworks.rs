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
        let mut blocks = message.get("blocks").into_iter().flat_map(|blocks| blocks.elements());
        calls.is_some() || blocks.any(|block| is_one_of(block, "block_type", &["tool_call"]))
    };
    let is_own = list.elements().take(MESSAGES_LOOKED_AT).any(is_of_llama_index);
    if !is_own || !list.elements().any(holds_call) {
        return None;
    }
    let name = list.key_text().unwrap_or("messages".into());
    Some(Unread { place: Place::of(list), what: UnreadKind::Calls, name, is_known: true })
}

/// How many values of a trace are looked at.
const VALUES_LOOKED_AT: usize = 20_000;

/// Whether a trace has messages as attributes that are lists and maps, which OTLP writes with a key for each type.
pub(super) fn has_structured_messages(root: Value<'_, '_>) -> bool {
    is_any_in_trace(root, |value| {
        let key = value.get_str("key");
        let is_of_messages = key.is_some_and(|key| {
            matches!(&*key, "gen_ai.input.messages" | "gen_ai.output.messages" | "pydantic_ai.all_messages")
        });
        is_of_messages
            && value.get("value").is_some_and(|value| value.get_any(&["arrayValue", "array_value"]).is_some())
    })
}

/// Whether a trace has messages as events, as the conventions before 1.37 have them: of a span, by themselves, or as an
/// attribute.
pub(super) fn has_messages_as_events(root: Value<'_, '_>) -> bool {
    let is_name = |name: &str| {
        name.strip_prefix("gen_ai.").is_some_and(|name| name == "choice" || name.ends_with(".message"))
    };
    let is_event = |value: Value<'_, '_>| {
        value
            .get_any(&["name", "eventName", "event_name"])
            .and_then(Value::as_str)
            .is_some_and(|name| is_name(&name))
            || value
                .get("attributes")
                .and_then(|own| own.get_str("event.name"))
                .is_some_and(|name| is_name(&name))
    };
    let is_attribute = |value: Value<'_, '_>| {
        value.get_str("key").as_deref() == Some("events")
            && memchr::memmem::find(value.raw(), br#"\"event.name\""#).is_some()
    };
    is_event(root) || is_any_in_trace(root, |value| is_event(value) || is_attribute(value))
}

/// Whether a value in a trace, of those that are looked at, is as wanted.
fn is_any_in_trace(root: Value<'_, '_>, is_wanted: impl Fn(Value<'_, '_>) -> bool) -> bool {
    if root.get_any(&["resourceSpans", "resource_spans", "scopeSpans"]).is_none() {
        return false;
    }
    let mut stack = vec![root];
    let mut count = 0;
    while let Some(value) = stack.pop() {
        count += 1;
        if is_wanted(value) {
            return true;
        }
        if count > VALUES_LOOKED_AT {
            return false;
        }
        stack.extend(value.children().filter(|child| child.children().next().is_some()));
    }
    false
}
