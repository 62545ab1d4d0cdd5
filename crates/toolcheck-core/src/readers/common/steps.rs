//! Lists of messages that belong together: a conversation that was cut into steps, or steps that each have what was said before.

use std::hash::BuildHasher;

use foldhash::HashMap;
use foldhash::fast::FixedState;
use toolcheck_json::Value;

use super::{answers, lists, trl};

/// The messages of a step of a conversation.
pub(crate) fn messages<'d, 's>(step: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_one = |list: &Value<'_, '_>| list.is_array() && lists::wrapped(*list).is_some();
    Some(step.get("messages").unwrap_or(step)).filter(|list| lists::is_list(*list) && !is_one(list))
}

/// Whether the lists of a list are one conversation that was cut into steps: one of them begins with a result.
pub(crate) fn are_joined(list: Value<'_, '_>) -> bool {
    let mut steps = list.elements().map(messages);
    steps.next().flatten().is_some_and(|first| !begins_with_result(first))
        && steps.clone().all(|step| step.is_some())
        && steps.flatten().any(begins_with_result)
}

fn begins_with_result(list: Value<'_, '_>) -> bool {
    let is_result = |block: Value<'_, '_>| block.is("type", "tool_result") || block.has("toolResult");
    let holds_result = |message: Value<'_, '_>| {
        message.list("content").any(is_result)
            || answers::has_blocks(message, "parts", &["functionResponse", "function_response"])
    };
    trl::is_rest(list) || list.elements().next().is_some_and(holds_result)
}

/// The numbers of lists that another one begins with, or that are the same under another key, each with the number of that one:
/// the steps of an agent repeat what was said before, and a fault in it is one fault. The tools of a list must not be lost.
pub(crate) fn repeated(
    lists: Vec<Option<Value<'_, '_>>>,
    has_tools: impl Fn(usize) -> bool,
) -> HashMap<usize, usize> {
    let mut repeated = HashMap::default();
    if lists.iter().flatten().nth(1).is_none() {
        return repeated;
    }
    let beginnings = |list: &Option<Value<'_, '_>>| -> Vec<u64> {
        let mut said = 0;
        let mut with = |message: Value<'_, '_>| {
            let text = message.raw().iter().filter(|byte| !byte.is_ascii_whitespace());
            said = FixedState::default().hash_one((said, text.copied().collect::<Vec<u8>>()));
            said
        };
        list.iter().flat_map(|list| list.elements()).map(&mut with).collect()
    };
    let all: Vec<Vec<u64>> = lists.iter().map(beginnings).collect();
    let wholes: HashMap<u64, usize> =
        all.iter().enumerate().rev().filter_map(|(number, own)| Some((*own.last()?, number))).collect();
    let key = |number: usize| lists[number].and_then(Value::key_text);
    for (number, own) in all.iter().enumerate() {
        for (length, whole) in (1..).zip(own) {
            let Some(other) = wholes.get(whole).copied().filter(|other| *other != number) else { continue };
            let (is_longer, keeps_tools) = (length < own.len(), has_tools(number) >= has_tools(other));
            if keeps_tools && (is_longer || key(other) != key(number)) {
                repeated.insert(other, number);
            } else if !is_longer && key(other) != key(number) {
                repeated.insert(number, other);
            }
        }
    }
    repeated
}
