use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A request that ends with an assistant message.
    ///
    /// ## Why is this bad?
    ///
    /// Some APIs and models treat the message as a prefill and continue it; others reject it. The usual cause is a loop
    /// that sends another request without anything new in it.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"model": "mistral-large-latest", "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "I am looking."}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json mistral
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "I found", "prefix": true}
    /// ]}
    /// ```
    "trailing-assistant" in Order, since "0.1.0", silent, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some((message, parts)) = cx.transcript.messages_with_parts().last() else { return };
    if message.role != Role::Assistant || message.is_prefix || !cx.is_request() {
        return;
    }
    // Calls without results are reported by another rule, and a call to a server tool is resumed like this.
    if parts.iter().any(|part| matches!(part.body, Body::Call(_))) {
        return;
    }
    out.report(message.place, "the request ends with an assistant message")
        .caption("the last message")
        .help("end with a user message, or with the results of the calls")
        .at(cx, (cx.transcript.messages.len() - 1, message));
}
