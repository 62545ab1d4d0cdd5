use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Item, Part};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MalformedItemId in Ids, since "0.1.0", silent on wire looks at [ITEMS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if let Some(id) = &cx.transcript.request.previous_response
        && let Some(prefix) = cx.target().ids.response_prefix.as_deref()
        && !id.text.starts_with(prefix)
    {
        let title = shorten(&id.text);
        let what = format!("previous response id `{title}` does not start with `{prefix}`");
        out.report(id.place, what)
            .caption("this id")
            .help("use the id that the API returned for the response")
            .case("response")
            .value("id", &id.text)
            .value("prefix", prefix);
    }
    for item in &cx.transcript.details.items {
        let Some((case, what)) = fault(cx, item) else { continue };
        let ids = &cx.target().ids;
        let finding = out.report(item.id.place, what);
        finding
            .caption("this id")
            .help("omit the item's own id; `call_id` pairs a call with its output")
            .case(case)
            .value("id", &item.id.text)
            .value("index", item.index)
            .value("length", item.id.text.chars().count())
            .value("max", ids.item_max_length.unwrap_or_default());
        finding.value_of("prefix", ids.item_prefixes.get(&*item.kind));
        finding.fix(without_id(cx, item));
    }
}

/// The fault of an item's id: the case of the rule and the message.
/// An item needs no id, unless the server knows it by that.
fn without_id(cx: &Context<'_, '_>, item: &Item<'_>) -> Fix {
    let change = [Change::Remove(item.id.place.node)];
    let is_of_reasoning = |part: &Part<'_>| match &part.body {
        Body::Reasoning(reasoning) => {
            reasoning.id.as_ref().is_some_and(|id| id.place.node == item.id.place.node)
        }
        _ => false,
    };
    if cx.transcript.request.continues_remote_state || cx.transcript.details.refers_to_stored_calls() {
        return Fix::guess("the server may know the item by its id", change);
    }
    match cx.transcript.parts.iter().any(is_of_reasoning) {
        true => Fix::guess("the id may belong to the encrypted reasoning", change),
        false => Fix::safe(change),
    }
}

fn fault(cx: &Context<'_, '_>, item: &Item<'_>) -> Option<(&'static str, String)> {
    let ids = &cx.target().ids;
    let (id, title) = (&item.id.text, shorten(&item.id.text));
    if let Some(max) = ids.item_max_length.filter(|max| id.len() > *max && id.chars().count() > *max) {
        let length = id.chars().count();
        return Some((
            "length",
            format!("item id `{title}` has {length} characters, but the limit is {max}"),
        ));
    }
    if ids.item_pattern.as_ref().is_some_and(|pattern| !pattern.is_match(id)) {
        let what = if id.is_empty() {
            "an item id is empty".to_owned()
        } else {
            format!("item id `{title}` contains characters that are not allowed")
        };
        return Some(("characters", what));
    }
    let prefix = ids.item_prefixes.get(&*item.kind).filter(|prefix| !id.starts_with(prefix.as_str()))?;
    let kind = shorten(&item.kind);
    Some(("prefix", format!("the id `{title}` of a `{kind}` item does not start with `{prefix}`")))
}
