use toolcheck_core::ir::{Body, Executor, ToolKind, shorten};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A kind of call, block or tool that the target or the model does not know.
    ///
    /// ## Why is this bad?
    ///
    /// APIs have kinds of calls and content of their own, and refuse the others. A history that goes from one API to
    /// another must be translated.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"model": "mistral-large-latest", "messages": [
    ///   {"role": "user", "content": "tidy up"},
    ///   {"role": "assistant", "content": "", "tool_calls": [
    ///     {"id": "abcdefghi", "type": "custom", "function": {"name": "run", "arguments": "ls"}}  // flagged
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "abcdefghi", "content": "a.txt"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json mistral
    /// {"model": "mistral-large-latest", "messages": [
    ///   {"role": "user", "content": "tidy up"},
    ///   {"role": "assistant", "content": "", "tool_calls": [
    ///     {"id": "abcdefghi", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "abcdefghi", "content": "a.txt"}
    /// ]}
    /// ```
    "unknown-content-type" in Content, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    types_of_tools(cx, out);
    for change in &cx.transcript.tool_changes {
        let number = change.message_number as usize;
        out.report(change.place, "a message adds a tool or removes one")
            .caption("not with this model")
            .help("declare the tools that the model may call at the beginning")
            .case("tool-change")
            .at(cx, number, &cx.transcript.messages[number], None);
    }
    if let Some(place) = cx.transcript.tool_search.filter(|_| cx.minds_case(&RULE, "tool-search")) {
        out.report(place, "the search for tools is declared for a model that may not have it")
            .caption("this tool")
            .help("declare the tools themselves, or ask a model that can search for them")
            .case("tool-search");
    }
    let minds_server_calls = cx.minds_case(&RULE, "server-call");
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        for part in parts {
            let Body::Call(call) = &part.body else { continue };
            let is_of_server = call.executor == Executor::Server && call.kind == ToolKind::BuiltIn;
            if let Some(name) = call.name.as_ref().filter(|_| is_of_server && minds_server_calls) {
                let what = format!("the provider's own call of `{}` is sent back", shorten(&name.text));
                out.report(part.place, what)
                    .about_call(call)
                    .caption("this kind is unknown to the model")
                    .help("leave the call and its result out, or ask a model that knows them")
                    .case("server-call")
                    .at(cx, number, message, Some(part));
                continue;
            }
            if call.executor == Executor::Server || call.kind != ToolKind::Custom {
                continue;
            }
            out.report(part.place, format!("tool call {} is of the kind {}", call.title(), call.kind.name()))
                .about_call(call)
                .caption("this kind is unknown here")
                .help("call functions, with JSON arguments")
                .case("custom-call")
                .at(cx, number, message, Some(part));
        }
    }
}

/// Tools of a type that the model does not take.
fn types_of_tools(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(model) = &cx.transcript.model else { return };
    let mut unsupported =
        cx.target.tools.unsupported.iter().filter(|entry| entry.model.0.is_match(model)).peekable();
    if unsupported.peek().is_none() {
        return;
    }
    let types: Vec<&String> = unsupported.flat_map(|entry| &entry.types).collect();
    for tool in cx.transcript.tools.iter().flatten() {
        let Some(kind) = tool.kind.as_ref().filter(|kind| types.iter().any(|own| **own == kind.text)) else {
            continue;
        };
        out.report(kind.place, format!("the model takes no tools of the type `{}`", shorten(&kind.text)))
            .caption("not with this model")
            .help("take another model, or a version of the tool that this one knows")
            .case("tool-type")
            .value("model", shorten(model))
            .value("name", shorten(&kind.text));
    }
}
