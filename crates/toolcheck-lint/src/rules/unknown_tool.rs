use rustc_hash::FxHashSet;
use toolcheck_core::ir::{Body, Executor, ToolDef, shorten};
use toolcheck_json::FaultKind;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A call of a tool that the request does not declare.
    ///
    /// ## Why is this bad?
    ///
    /// The model invented a tool, or the tool was renamed and the history was not. APIs take such a history, but the
    /// model learns from it that the tool exists, and calls it again.
    ///
    /// A list of tools that is kept as a JSON text, as datasets have it, counts too.
    ///
    /// Tools of the provider and searches for tools do not matter: what a search may find is declared too, or stands in
    /// what it found. Nothing is said where there may be functions that the request does not show: those of a tool that
    /// toolcheck does not know, or of a conversation that the server holds.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
    ///  "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "find_person", "arguments": "{}"}}  // flagged
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "no such tool"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
    ///  "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "none"}
    /// ]}
    /// ```
    "unknown-tool" in Tools, since "0.1.0", warning (error in dataset) on call, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut known: FxHashSet<&str> = cx.definitions().map(|tool| &*tool.name).collect();
    let tools = cx.transcript.tools.as_deref().unwrap_or_default();
    // Without any definition that is another fault, or the transcript does not show them.
    if tools.is_empty() && known.is_empty() {
        return;
    }
    // A tool of the client's without a name may be the one that is called.
    let is_nameless = |tool: &ToolDef<'_>| {
        tool.executor == Executor::Client && tool.name.as_ref().is_none_or(|name| name.instead.is_some())
    };
    if cx.transcript.hides_tools || tools.iter().any(is_nameless) {
        return;
    }
    let declared = tools.iter().filter_map(|tool| tool.name.as_ref());
    let found = cx.transcript.tool_references.iter().chain(&cx.transcript.tools_elsewhere);
    known.extend(declared.chain(found).map(|name| &*name.text));
    for part in &cx.transcript.parts {
        let Body::Call(call) = &part.body else { continue };
        // What is no string is that fault.
        let name = call.name.as_ref().filter(|name| call.is_of_function() && name.instead.is_none());
        let Some(name) = name else { continue };
        // One finding a tool, however often it is called.
        if !known.insert(&name.text) {
            continue;
        }
        // A name that is empty, malformed or cut off is a fault of its own.
        let pattern = cx.target.names.pattern.as_ref();
        let is_malformed =
            name.text.is_empty() || pattern.is_some_and(|pattern| !pattern.0.is_match(&name.text));
        let is_cut_off = cx.document.faults().iter().any(|fault| {
            fault.kind == FaultKind::UnterminatedString && fault.span.start >= name.place.span.start
        });
        if !is_malformed && !is_cut_off {
            out.report(part.place, format!("the tool `{}` is called and not declared", shorten(&name.text)))
                .about_call(call)
                .caption("called here")
                .help("declare the tool, or rename it in the history as in the definitions");
        }
    }
}
