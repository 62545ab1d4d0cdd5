use rustc_hash::FxHashSet;
use toolcheck_core::ir::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A reference to a tool that the request does not declare.
    ///
    /// ## Why is this bad?
    ///
    /// A search for tools leaves references behind, and each must name a tool of this request.
    ///
    /// ## What to do
    ///
    /// Remove references to tools that are gone.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {
    ///   "tools": [{"name": "find_tool", "input_schema": {"type": "object"}}],
    ///   "messages": [
    ///     {"role": "user", "content": "what is the tide?"},
    ///     {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "find_tool", "input": {}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
    ///       {"type": "tool_reference", "tool_name": "tide"}  // flagged
    ///     ]}]}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {
    ///   "tools": [
    ///     {"name": "find_tool", "input_schema": {"type": "object"}},
    ///     {"name": "tide", "input_schema": {"type": "object"}, "defer_loading": true}
    ///   ],
    ///   "messages": [
    ///     {"role": "user", "content": "what is the tide?"},
    ///     {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "find_tool", "input": {}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
    ///       {"type": "tool_reference", "tool_name": "tide"}
    ///     ]}]}
    ///   ]
    /// }
    /// ```
    "unknown-tool-reference" in Tools, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let (Some(tools), false) = (&cx.transcript.tools, cx.transcript.tool_references.is_empty()) else {
        return;
    };
    // An MCP server's tools are declared by their server, and not by name.
    let mut known: FxHashSet<&str> = FxHashSet::default();
    for tool in tools {
        let Some(name) = &tool.name else { return };
        known.insert(&name.text);
    }
    for name in &cx.transcript.tool_references {
        // One fault a tool, however many references it left.
        if known.insert(&name.text) {
            out.report(
                name.place,
                format!("a reference to the tool `{}`, which is not declared", shorten(&name.text)),
            )
            .caption("no such tool")
            .help("declare the tool, or leave the reference out")
            .value("name", &name.text)
            .tool_name = Some(name.text.to_string());
        }
    }
}
