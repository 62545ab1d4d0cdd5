use rustc_hash::FxHashMap;
use toolcheck_core::ir::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Two tools of one name.
    ///
    /// ## Why is this bad?
    ///
    /// A call names its tool by the name alone. Some APIs refuse the request; with the others nobody knows whose schema
    /// the model followed. The usual cause: tools gathered from several servers.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"tools": [
    ///   {"name": "search", "input_schema": {"type": "object"}},
    ///   {"name": "search", "input_schema": {"type": "object"}}  // flagged
    ///  ],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"tools": [
    ///   {"name": "search", "input_schema": {"type": "object"}},
    ///   {"name": "search_docs", "input_schema": {"type": "object"}}
    ///  ],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    "duplicate-tool-definition" in Tools, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut seen = FxHashMap::default();
    for tool in cx.transcript.tools.iter().flatten() {
        let Some(name) = &tool.name else { continue };
        let Some(first) = seen.insert(&*name.text, tool.place) else { continue };
        let finding = out.report(tool.place, format!("two tools are named `{}`", shorten(&name.text)));
        finding
            .caption("again")
            .label(first, "first defined here")
            .help("give every tool a name of its own, such as its server's name in front")
            .value("name", shorten(&name.text));
        finding.tool_name = Some(name.text.to_string());
    }
}
