use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A message that the model shall go on with, and that is not the last.
    ///
    /// ## Why is this bad?
    ///
    /// The mark asks the model to go on with this very message. Left in the history after the model did, it is refused.
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
    "misplaced-prefix" in Order, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.messages.len().saturating_sub(1);
    for (number, message) in cx.transcript.messages.iter().enumerate().take(last) {
        if message.is_prefix {
            out.report(message.place, "a message that the model shall go on with is not the last")
                .caption("marked as a beginning")
                .help("remove the mark once the model has gone on")
                .at(cx, number, message, None);
        }
    }
}
