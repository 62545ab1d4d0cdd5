use toolcheck_core::ir::Named;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Two tool calls with the same id in one turn.
    ///
    /// ## Why is this bad?
    ///
    /// A result refers to its call only by id. If two calls share an id, there is no way to tell which of them a result
    /// answers, so the outcome of one is lost. The usual causes are ids made from a counter or from the tool's name,
    /// and long ids that were truncated to the same prefix.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {"in": "src"}},
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {"in": "docs"}}  // flagged
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
    ///   {"role": "assistant", "content": [
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {"in": "src"}},
    ///     {"type": "tool_use", "id": "b", "name": "search", "input": {"in": "docs"}}
    ///   ]},
    ///   {"role": "user", "content": [
    ///     {"type": "tool_result", "tool_use_id": "a", "content": "none"},
    ///     {"type": "tool_result", "tool_use_id": "b", "content": "none"}
    ///   ]}
    /// ]}
    /// ```
    DuplicateToolCallId in Ids, since "0.1.0", error looks at [CALLS], check,
    fix [
        safe: "The later call and its result get an id of their own.",
        unsafe: "The same, where a program or stored items may refer to the id.",
        otherwise: "the later call has no result of its own, so it is not clear which call the result belongs to",
    ],
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.pairing.repeats_ids() {
        return;
    }
    for call in &cx.pairing.calls {
        let Some(first) = cx.pairing.first_of_same_id(call) else { continue };
        let title = call.call.title();
        out.report(call.part.place, format!("two tool calls in one turn have the id {title}"))
            .about_call(call.call)
            .caption("same id again")
            .label(first.part.place, "first used here")
            .help("give each call a unique id, and its result the same id")
            .at(cx, call)
            .value("id", Named::text_or_unknown(call.call.id.as_ref()));
    }
}
