use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Trailing whitespace in the text that the model should continue.
    ///
    /// ## Why is this bad?
    ///
    /// If a request ends with an assistant message, the model continues from its last character. A space or a line
    /// break there is a poor start, and some APIs reject it.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "I found "}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "I found"}
    /// ]}
    /// ```
    "trailing-white-space" in Content, since "0.1.0", silent (silent in dataset) on wire looks at [TEXT], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some((message, parts)) = cx.transcript.messages_with_parts().last() else { return };
    let Some(part) = parts.last().filter(|_| message.role == Role::Assistant && cx.is_request()) else {
        return;
    };
    let Body::Text(text) = &part.body else { return };
    // Text that is all whitespace is reported by another rule.
    if text.string.is_blank() || !text.string.decode().ends_with(char::is_whitespace) {
        return;
    }
    out.report(part.place, "the text that the model should continue ends with whitespace")
        .caption("ends with whitespace")
        .help("remove the trailing whitespace")
        .at(cx, (cx.transcript.messages.len() - 1, message, part));
}
