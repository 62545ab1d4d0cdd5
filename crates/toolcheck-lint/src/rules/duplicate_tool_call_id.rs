use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// Two calls of one turn with the same id.
    ///
    /// ## Why is this bad?
    ///
    /// A result names its call by the id alone. With two calls under one id, nobody can say which call a result
    /// answers, so the outcome of one of them is lost. The usual cause: ids made from a counter or a tool's name, or
    /// long ids that were cut to the same beginning.
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
    "duplicate-tool-call-id" in Ids, since "0.1.0", error, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for call in &cx.pairing.calls {
        let Some(first) = cx.pairing.first_of_same_id(call) else { continue };
        let title = call.call.title();
        out.report(call.part.place, format!("two tool calls of one turn have the id {title}"))
            .about_call(call.call)
            .caption("the same id again")
            .label(first.part.place, "first used here")
            .help("give every call an id of its own, and its result the same one")
            .at(cx, call.message_number, call.message, Some(call.part))
            .value("id", call.call.id.as_ref().map_or("?", |id| &*id.text));
    }
}
