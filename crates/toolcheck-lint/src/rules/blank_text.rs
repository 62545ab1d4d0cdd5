use std::cell::LazyCell;

use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Content, Message, Part};

use super::empty_content::{filled, may_go};
use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape::names_a_call;

declare_rule! {
    BlankText in Content, since "0.1.0", silent (silent in dataset) on wire looks at [TEXT, REASONING, EMPTY_PARTS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for block in &cx.transcript.details.blank_instructions {
        let (case, message) = match block.is_empty {
            true => ("empty-instructions", "the text block is empty"),
            false => ("blank-instructions", "the text block contains only whitespace"),
        };
        let is_marked = cx.document.value(block.place.node).members().count() > 2;
        let change = [Change::Remove(block.place.node)];
        out.report(block.place, message)
            .caption("no text")
            .help("remove the block")
            .fix(match is_marked {
                true => Fix::guess("the marks of the block go with it", change),
                false => Fix::safe(change),
            })
            .case(case);
    }
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        // A message without any content is `empty-content`.
        if message.content != Content::Filled {
            continue;
        }
        let has_others = LazyCell::new(|| parts.iter().any(is_filled));
        let filled = LazyCell::new(|| filled(cx, message, parts));
        for part in parts {
            if matches!(part.body, Body::Empty) {
                out.report(part.place, "the part has no content")
                    .caption("empty part")
                    .help("remove the part")
                    .case("no-data")
                    .at(cx, (number, message, part));
                continue;
            }
            if cx.transcript.details.blank_reasoning.binary_search(&part.place).is_ok() {
                out.report(part.place, "the reasoning block contains only whitespace")
                    .caption("no reasoning")
                    .help("send reasoning back unchanged")
                    .case("reasoning")
                    .at(cx, (number, message, part));
                continue;
            }
            if cx.transcript.details.signed_blanks.binary_search(&part.place).is_ok() {
                continue;
            }
            let Body::Text(text) = &part.body else { continue };
            let (case, message_text) = if text.string.is_empty() {
                ("empty", "the text block is empty")
            } else if text.string.is_blank() {
                ("white-space", "the text block contains only whitespace")
            } else {
                continue;
            };
            let fix = without(cx, (number, message), part, *has_others, || filled.clone());
            let finding = out.report(part.place, message_text);
            finding.fix(fix);
            finding.caption("no text").help("remove the block").case(case).at(cx, (number, message, part));
        }
    }
}

fn is_filled(part: &Part<'_>) -> bool {
    match &part.body {
        Body::Empty => false,
        Body::Text(text) => !text.string.is_blank(),
        _ => true,
    }
}

/// The message without a block, or the conversation without the message if it has no other.
fn without(
    cx: &Context<'_, '_>,
    (number, message): (usize, &Message<'_>),
    block: &Part<'_>,
    has_others: bool,
    filled: impl FnOnce() -> Option<Fix>,
) -> Option<Fix> {
    // What calls something says more than its text.
    if cx.document.value(block.place.node).members().any(names_a_call) {
        return None;
    }
    if !has_others {
        let guess = "assumes that the message means nothing, because it is only whitespace";
        return match cx.transcript.messages.len() > 1 && may_go(cx, number) {
            true => Some(Fix::guess(guess, [Change::Remove(message.place.node)])),
            false => filled(),
        };
    }
    let is_marked = cx.document.value(block.place.node).members().count() > 2;
    let change = [Change::Remove(block.place.node)];
    (block.place.node != message.content_place.node).then(|| match is_marked {
        true => Fix::guess("the cache markers of the block are removed with it", change),
        false => Fix::safe(change),
    })
}
