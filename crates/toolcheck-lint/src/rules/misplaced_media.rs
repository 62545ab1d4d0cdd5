use toolcheck_core::ir::{Body, Content, Role};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// An image, a sound or a document where the target takes none.
    ///
    /// ## Why is this bad?
    ///
    /// Pictures and documents come from the user. Most APIs refuse them in the model's own messages, and some in system
    /// messages.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "draw a circle"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "image_url", "image_url": {"url": "https://example.com/circle.png"}}  // flagged
    ///   ]},
    ///   {"role": "user", "content": "rounder"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/circle.png"}}]},
    ///   {"role": "assistant", "content": "A circle."},
    ///   {"role": "user", "content": "rounder"}
    /// ]}
    /// ```
    "misplaced-media", since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        let is_own = message.role == Role::Assistant;
        if !is_own && message.role != Role::System || message.content != Content::Filled {
            continue;
        }
        // What the model made itself is named by an id and stands beside the content.
        let in_content = |place: toolcheck_core::Place| message.content_place.span.contains(place.span);
        for part in parts.iter().filter(|part| matches!(part.body, Body::Media) && in_content(part.place)) {
            let what = if is_own {
                "the model's own message holds an image or a document"
            } else {
                "a system message holds an image or a document"
            };
            let finding = out.report(part.place, what);
            if !is_own {
                finding.case("system");
            } else if cx.transcript.documents.binary_search(&part.place).is_ok() {
                finding.case("assistant-document").case("assistant");
            } else {
                finding.case("assistant");
            }
            finding
                .caption(if is_own { "not in the model's message" } else { "not in a system message" })
                .help("put it into a message of the user, or say in text what it shows")
                .at(cx, number, message, Some(part))
                .value("role", message.role_text());
        }
    }
}
