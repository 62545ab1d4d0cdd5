use toolcheck_core::ir::Named;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::server_pairs::halves;

declare_rule! {
    /// A server tool result without its call.
    ///
    /// ## Why is this bad?
    ///
    /// The provider runs server tools itself, and their calls and results stay together in the history. Either half
    /// without the other is rejected.
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
    OrphanServerResult in Pairing, since "0.1.0", silent on wire looks at [SERVER_RESULTS], check,
    values PART, CALL_ID [
        "block": "the type of the result",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for half in halves(cx.transcript).1 {
        let finding = out
            .report(half.part.place, format!("server tool result {} has no matching call", half.is.title()));
        finding
            .about_result(half.is)
            .caption("its call is missing")
            .help("send assistant messages back complete, or remove the result")
            .at(cx, (half.message_number, half.message, half.part))
            .value("id", Named::text_or_unknown(half.is.call_id.as_ref()));
        if let Some(block) = &half.is.block {
            finding.value("block", toolcheck_core::text::shorten(&block.decode()));
        }
    }
}
