use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// An empty list of tool calls.
    ///
    /// ## Why is this bad?
    ///
    /// A message without calls has no such key. Serialisers that write every field of a response send an empty list
    /// back, and strict providers refuse it.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "hello"},
    ///   {"role": "assistant", "content": "Hello!",
    ///    "tool_calls": []},  // flagged
    ///   {"role": "user", "content": "find Adam"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "hello"},
    ///   {"role": "assistant", "content": "Hello!"},
    ///   {"role": "user", "content": "find Adam"}
    /// ]}
    /// ```
    "empty-tool-calls" in Content, since "0.1.0", silent (silent in dataset) on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        let Some(place) = message.empty_calls else { continue };
        out.report(place, "a message has an empty list of tool calls")
            .caption("empty")
            .help("leave the key out where there is no call")
            .at(cx, number, message, None);
    }
}
