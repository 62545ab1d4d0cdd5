use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Part};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DetachedReasoning in Reasoning, since "0.1.0", silent on wire looks at [REASONING], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        let Some(part) = parts.last() else { continue };
        let (part, is_followed) = match &part.body {
            Body::Reasoning(_) => (part, false),
            _ => match before_new_message(cx, parts) {
                Some(part) => (part, true),
                None => continue,
            },
        };
        let Body::Reasoning(reasoning) = &part.body else { continue };
        let Some(id) = &reasoning.id else { continue };
        let finding = out.report(
            part.place,
            format!(
                "reasoning item `{}` is not followed by the message or call that it led to",
                shorten(&id.text)
            ),
        );
        let length = cx.document.value(part.place.node).raw().len();
        let lost = format!("the reasoning, {length} bytes");
        finding.fix(Fix::lossy(lost, [Change::Remove(part.place.node)]));
        finding
            .case_if(is_followed, "new-message")
            .caption("its message or call is missing")
            .help("remove the reasoning too, or send both unchanged")
            .at(cx, (number, message, part))
            .value("id", &id.text);
    }
}

/// The first reasoning of a turn that a text without an id follows, where items have ids: somebody else has written it.
fn before_new_message<'t, 's>(cx: &'t Context<'_, 's>, parts: &'t [Part<'s>]) -> Option<&'t Part<'s>> {
    // What the API does not keep has nothing that its id refers to.
    if cx.transcript.request.is_kept == Some(false) {
        return None;
    }
    let items = &cx.transcript.details.items;
    let pairs = parts.windows(2).map(|pair| (&pair[0], &pair[1]));
    let mut new = pairs.filter(|(before, next)| {
        matches!((&before.body, &next.body), (Body::Reasoning(is), Body::Text(_)) if is.id.is_some())
            && next.index == before.index + 1
            && items.iter().any(|item| item.index == before.index)
            && items.iter().all(|item| item.index != next.index)
    });
    new.next().map(|(before, _)| before)
}
