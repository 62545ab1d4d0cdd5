use toolcheck_core::ir::{Body, shorten};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// Reasoning that what it led to does not follow.
    ///
    /// ## Why is this bad?
    ///
    /// Where reasoning is an item of its own, the API keeps it together with the message or call that came of it, and
    /// refuses one without the other. The usual causes: a call that was removed and its reasoning was not, and an answer
    /// that was edited.
    ///
    /// ## Fails
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"type": "reasoning", "id": "rs_1", "summary": []},  // flagged
    ///   {"role": "user", "content": "never mind"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"type": "reasoning", "id": "rs_1", "summary": []},
    ///   {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search", "arguments": "{}"},
    ///   {"type": "function_call_output", "call_id": "call_1", "output": "none"}
    /// ]}
    /// ```
    "detached-reasoning" in Reasoning, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        let Some(part) = parts.last() else { continue };
        let Body::Reasoning(reasoning) = &part.body else { continue };
        let Some(id) = &reasoning.id else { continue };
        out.report(
            part.place,
            format!("nothing that the model said or did follows its reasoning `{}`", shorten(&id.text)),
        )
        .caption("reasoning without what came of it")
        .help("remove the reasoning too, or send both as they came")
        .at(cx, number, message, Some(part))
        .value("id", &id.text);
    }
}
