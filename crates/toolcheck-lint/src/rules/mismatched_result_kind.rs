use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A result of another kind than its call.
    ///
    /// ## Why is this bad?
    ///
    /// Where tools come in kinds (functions, custom tools, a shell, a computer), each kind of call has a kind of
    /// result, and an id is looked up among the calls of that kind only. A result of another kind answers nothing.
    ///
    /// ## Fails
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "tidy up"},
    ///   {"type": "custom_tool_call", "call_id": "call_1", "name": "run", "input": "ls"},
    ///   {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "tidy up"},
    ///   {"type": "custom_tool_call", "call_id": "call_1", "name": "run", "input": "ls"},
    ///   {"type": "custom_tool_call_output", "call_id": "call_1", "output": "a.txt"}
    /// ]}
    /// ```
    "mismatched-result-kind" in Pairing, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for site in cx.pairing.results.iter().filter(|site| cx.pairing.is_first_answer(site)) {
        let Some(call) = site.answers.call().map(|number| &cx.pairing.calls[number]) else { continue };
        let (called, answered) = (call.call.kind, site.result.kind);
        if called.is_answered_by(answered) {
            continue;
        }
        let answered = answered.unwrap_or_default();
        let title = call.call.title();
        out.report(
            site.part.place,
            format!(
                "tool call {title} is of the kind {}, and its result is of the kind {}",
                called.name(),
                answered.name()
            ),
        )
        .about_call(call.call)
        .caption("the result")
        .label(call.part.place, "the call")
        .help("answer a call with the result of its own kind")
        .value("id", call.call.id.as_ref().map_or("?", |id| &*id.text))
        .value("kind", called.name());
    }
}
