use toolcheck_core::ir::{Body, Content};
use toolcheck_core::target::Verdict;

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A text block without text, or with nothing but white space.
    ///
    /// ## Why is this bad?
    ///
    /// Models emit an empty text beside a call now and then. Sent back as it is, some providers refuse the request.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "text", "text": ""},  // flagged
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {}}
    ///   ]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "none"}]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "none"}]}
    /// ]}
    /// ```
    "blank-text" in Content, since "0.1.0", silent (silent in dataset) on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // Most targets do not mind: then no text need be looked at.
    let minds = |case| matches!(cx.verdict(&RULE, Some(case)), Verdict::Refused(_));
    if !["empty", "white-space", "no-data", "reasoning"].into_iter().any(minds) {
        return;
    }
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        // A message whose whole content is empty is `empty-content`.
        if message.content != Content::Filled {
            continue;
        }
        for part in parts {
            if matches!(part.body, Body::Empty) {
                out.report(part.place, "a part holds nothing")
                    .caption("nothing in here")
                    .help("leave the part out")
                    .case("no-data")
                    .at(cx, number, message, Some(part));
                continue;
            }
            if cx.transcript.blank_reasoning.binary_search(&part.place).is_ok() {
                out.report(part.place, "a block of reasoning holds nothing but white space")
                    .caption("no reasoning")
                    .help("send reasoning back as it came")
                    .case("reasoning")
                    .at(cx, number, message, Some(part));
                continue;
            }
            let Body::Text(text) = &part.body else { continue };
            let (case, message_text) = if text.is_empty() {
                ("empty", "a text block is empty")
            } else if text.is_blank() {
                ("white-space", "a text block holds nothing but white space")
            } else {
                continue;
            };
            out.report(part.place, message_text)
                .caption("no text")
                .help("leave the block out")
                .case(case)
                .at(cx, number, message, Some(part));
        }
    }
}
