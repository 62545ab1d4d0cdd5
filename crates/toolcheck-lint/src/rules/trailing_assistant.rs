use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A request that ends with the model's own message.
    ///
    /// ## Why is this bad?
    ///
    /// To some APIs and models this is a prefill, which the model goes on with; others refuse it. The usual cause: a
    /// loop that asks again without anything new to say.
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
    "trailing-assistant" in Order, since "0.1.0", silent, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some((message, parts)) = cx.transcript.messages_with_parts().last() else { return };
    if message.role != Role::Assistant || message.is_prefix || !cx.is_request() {
        return;
    }
    // Calls that wait for results are another fault, and a call of the provider's own is resumed like this.
    if parts.iter().any(|part| matches!(part.body, Body::Call(_))) {
        return;
    }
    out.report(message.place, "the request ends with the model's own message")
        .caption("the last message")
        .help("end with a message of the user, or with the results of the calls")
        .at(cx, cx.transcript.messages.len() - 1, message, None);
}
