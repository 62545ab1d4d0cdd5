use toolcheck_core::ir::{Body, Executor};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A request with calls in its history that declares no tools.
    ///
    /// ## Why is this bad?
    ///
    /// Some APIs refuse calls and results in a request without tools. The usual cause: a last request that shall
    /// only sum up, from which the tools were left out.
    ///
    /// ## Fails
    ///
    /// ```json bedrock-converse
    /// {"messages": [
    ///   {"role": "user", "content": [{"text": "find Adam"}]},
    ///   {"role": "assistant", "content": [
    ///     {"toolUse": {"toolUseId": "a", "name": "search", "input": {}}}  // flagged
    ///   ]},
    ///   {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "none"}]}}]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json bedrock-converse
    /// {"toolConfig": {"tools": [{"toolSpec": {"name": "search", "inputSchema": {"json": {"type": "object"}}}}]},
    ///  "messages": [
    ///   {"role": "user", "content": [{"text": "find Adam"}]},
    ///   {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "search", "input": {}}}]},
    ///   {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "none"}]}}]}
    /// ]}
    /// ```
    "missing-tool-definitions" in Tools, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // A bare list of messages says nothing about the request that it is sent in.
    if cx.transcript.declared_tools() != Some(0) || !cx.transcript.is_body {
        return;
    }
    // What the provider runs itself is declared in ways of its own.
    let is_tool = |body: &Body<'_>| match body {
        Body::Call(call) => call.executor == Executor::Client,
        Body::Result(result) => result.executor == Executor::Client,
        _ => false,
    };
    let Some(first) = cx.transcript.parts.iter().find(|part| is_tool(&part.body)) else { return };
    if cx.is_training_example() {
        // Tools that the user declares beside the examples are shown to the model some other way.
        if cx.definitions().next().is_none() {
            out.report(first.place, "this example holds tool calls, and declares no tools")
                .caption("the first of them")
                .help("declare the tools that the model is given when it is used");
        }
        return;
    }
    out.report(first.place, "the history holds tool calls, and the request declares no tools")
        .caption("the first of them")
        .help("send the tools along whenever the history holds calls; a placeholder will do");
}
