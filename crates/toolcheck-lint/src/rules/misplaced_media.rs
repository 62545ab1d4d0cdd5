use toolcheck_core::ir::{Body, Content, Role};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// An image, a sound or a document where the target takes none.
    ///
    /// ## Why is this bad?
    ///
    /// Pictures and documents come from the user. In the model's own messages they are refused by most APIs.
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
    "misplaced-media" in Content, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        if message.role != Role::Assistant || message.content != Content::Filled {
            continue;
        }
        // What the model made itself is named by an id and stands beside the content.
        let in_content = |place: toolcheck_core::Place| message.content_place.span.contains(place.span);
        for part in parts.iter().filter(|part| matches!(part.body, Body::Media) && in_content(part.place)) {
            out.report(part.place, "the model's own message holds an image or a document")
                .caption("not in the model's message")
                .help("put it into a message of the user, or say in text what it shows")
                .case("assistant")
                .at(cx, number, message, Some(part))
                .value("role", message.role_text());
        }
    }
}
