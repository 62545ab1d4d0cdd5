use foldhash::HashMap;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::Named;
use toolcheck_json::Value;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DuplicateItemId in Ids, since "0.1.0", silent on wire looks at [ITEMS, KEPT], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // The API puts in what a reference stands for, beside what it has.
    let referred = cx.transcript.details.stored_items.iter();
    for item in referred.filter(|item| cx.continued.is_some_and(|before| before.has_item(&item.text))) {
        let title = toolcheck_core::text::shorten(&item.text);
        out.report(item.place, format!("item `{title}` is already in the previous response"))
            .caption("again here")
            .help("remove it: the request continues from the response that contains it")
            .value("id", &item.text);
    }
    let mut first = HashMap::default();
    for item in cx.transcript.details.items.iter().filter(|item| !item.id.text.is_empty()) {
        let title = toolcheck_core::text::shorten(&item.id.text);
        let Some(earlier) = first.insert(&*item.id.text, item) else {
            if cx.continued.is_some_and(|before| before.has_item(&item.id.text)) {
                out.report(item.id.place, format!("item `{title}` is already in the previous response"))
                    .caption("again here")
                    .help("remove it: the request continues from the response that contains it")
                    .value("id", &item.id.text)
                    .value("index", item.index);
            }
            continue;
        };
        // That two calls have one id is told of the calls.
        let called = [&earlier.id, &item.id].map(|id| call_id(cx, id));
        if called[0].is_some() && called[0] == called[1] {
            continue;
        }
        let finding = out.report(item.id.place, format!("item `{title}` is sent twice"));
        let (one, other) = (item_of(cx, &earlier.id), item_of(cx, &item.id));
        finding.fix(match one.zip(other).filter(|(one, other)| one.raw() == other.raw()) {
            Some((_, again)) => Fix::safe([Change::Remove(again.id())]),
            None => Fix::guess(
                "the second item differs from the first, and loses its id",
                [Change::Remove(item.id.place.node)],
            ),
        });
        finding
            .caption("again here")
            .label(earlier.id.place, "first here")
            .help("send each item once")
            .value("id", &item.id.text)
            .value("index", item.index);
    }
}

/// The id of the call that has the id of an item.
fn call_id<'c>(cx: &'c Context<'_, '_>, id: &Named<'_>) -> Option<&'c str> {
    let calls = &cx.pairing.calls;
    let after = calls.partition_point(|site| site.part.place.span.start <= id.place.span.start);
    let site = calls.get(after.checked_sub(1)?)?;
    site.part.place.span.contains(id.place.span).then(|| site.call.id.as_ref().map(|id| &*id.text))?
}

fn item_of<'d, 's>(cx: &Context<'d, 's>, id: &Named<'_>) -> Option<Value<'d, 's>> {
    let messages = &cx.transcript.messages;
    let before = messages.partition_point(|message| message.place.span.start <= id.place.span.start);
    let item = cx.document.value(messages[before.checked_sub(1)?].place.node);
    item.members().any(|member| member.id() == id.place.node).then_some(item)
}
