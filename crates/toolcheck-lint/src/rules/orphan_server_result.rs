use crate::rule::{Context, Numbered, Sink, declare_rule};
use crate::server_pairs::halves;

declare_rule! {
    /// A result of the provider's own tool, without the call that it belongs to.
    ///
    /// ## Why is this bad?
    ///
    /// What the provider ran itself stands in the history as a pair. One half alone is refused.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}  // flagged
    ///   ]},
    ///   {"role": "user", "content": "and?"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Adam"}},
    ///     {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    ///   ]},
    ///   {"role": "user", "content": "and?"}
    /// ]}
    /// ```
    "orphan-server-result" in Pairing, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for half in halves(cx.transcript).1 {
        out.report(
            half.part.place,
            format!("no call came with the provider's own result {}", half.is.title()),
        )
        .about_result(half.is)
        .caption("its call is missing")
        .help("send the model's messages back whole, or leave the result out")
        .at(cx, half.message_number, half.message, Some(half.part))
        .value("id", half.is.call_id.as_ref().map_or("?", |id| &*id.text));
    }
}
