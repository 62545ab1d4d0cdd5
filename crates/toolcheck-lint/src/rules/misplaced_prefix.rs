use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// `prefix: true` on a message that is not the last.
    ///
    /// ## Why is this bad?
    ///
    /// The key asks the model to continue this very message. If it is still set on a message of the history, after
    /// the model has continued it, the request is rejected.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "I found him.", "prefix": true},  // flagged
    ///   {"role": "user", "content": "thanks"}
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
    MisplacedPrefix in Order, since "0.1.0", silent on wire, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.messages.len().saturating_sub(1);
    for (number, message) in cx.transcript.messages.iter().enumerate().take(last) {
        if message.is_prefix {
            out.report(message.place, "a message marked as a prefix is not the last message")
                .caption("marked as a prefix")
                .help("remove the key once the model has continued the message")
                .at(cx, (number, message));
        }
    }
}
