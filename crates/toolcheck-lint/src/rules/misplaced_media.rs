use toolcheck_core::ir::{Body, Content, Message, Part, Role};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    MisplacedMedia in Content, since "0.1.0", silent on wire reports shape, check,
    values PART, ROLE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    for place in &cx.transcript.details.files {
        out.report(*place, "a message contains a file")
            .caption("files are not accepted")
            .help("put the content of the file into the message as text")
            .case("file");
    }
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        if message.role == Role::User {
            documents_of_user(cx, number, message, parts, out);
            continue;
        }
        let is_own = message.role == Role::Assistant;
        if !is_own && message.role != Role::System || message.content != Content::Filled {
            continue;
        }
        // What the model generated itself is referred to by an id, outside the content.
        let in_content = |place: toolcheck_core::Place| message.content_place.span.contains(place.span);
        for part in parts.iter().filter(|part| matches!(part.body, Body::Media) && in_content(part.place)) {
            let what = if is_own {
                "an assistant message contains an image or a document"
            } else {
                "a system message contains an image or a document"
            };
            let finding = out.report(part.place, what);
            let is_document = cx.transcript.details.documents.binary_search(&part.place).is_ok();
            finding
                .case(if is_own { "assistant" } else { "system" })
                .case_if(is_own && is_document, "assistant-document")
                .caption(if is_own {
                    "not allowed in an assistant message"
                } else {
                    "not allowed in a system message"
                })
                .help("move it to a user message, or describe it in text")
                .at(cx, (number, message, part))
                .value("role", message.role_text());
        }
    }
}

/// Documents in a user message, for targets that require text beside them or don't accept them beside results.
fn documents_of_user(
    cx: &Context<'_, '_>,
    number: usize,
    message: &Message<'_>,
    parts: &[Part<'_>],
    out: &mut Sink<'_>,
) {
    let is_document = |part: &&Part<'_>| {
        matches!(part.body, Body::Media) && cx.transcript.details.documents.binary_search(&part.place).is_ok()
    };
    let Some(document) = parts.iter().find(is_document) else { return };
    let has = |what: fn(&Body<'_>) -> bool| parts.iter().any(|part| what(&part.body));
    let (case, what, help) = if has(|body| matches!(body, Body::Result(_))) {
        (
            "beside-results",
            "a document is in the same message as tool results",
            "put it into a result, or into a separate message after the results",
        )
    } else if has(|body| matches!(body, Body::Text(_))) {
        return;
    } else {
        ("alone", "a document has no text beside it", "add a text block that says what to do with it")
    };
    out.report(document.place, what)
        .caption("the document")
        .help(help)
        .case(case)
        .at(cx, (number, message, document))
        .value("role", message.role_text());
}
