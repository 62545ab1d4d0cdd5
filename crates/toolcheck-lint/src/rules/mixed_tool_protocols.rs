use toolcheck_core::ir::{Body, Executor, Named, Place};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Native tool calls and tool calls in plain text in the same transcript.
    ///
    /// ## Why is this bad?
    ///
    /// The model imitates what it sees in the history. If the history contains calls in both forms, the model may use
    /// either, but the harness reads only one: calls in the other form are never executed. The usual causes are a
    /// setting that was changed in the middle of a task, and a history that was taken over from another agent.
    ///
    /// Two different text protocols in one transcript are the same problem. A call in plain text counts only if the
    /// transcript uses its protocol; a call in a code fence is an example.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "compare the two tide tables"},
    ///   {"role": "assistant", "content": "<read_file>\n<path>north.csv</path>\n</read_file>"},
    ///   {"role": "user", "content": "[read_file for 'north.csv'] Result:\nhigh 06:12"},
    ///   {"role": "assistant", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}  // flagged
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "high 07:40"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "how is a file read?"},
    ///   {"role": "assistant", "content": "Like this:\n```\n<read_file>\n<path>north.csv</path>\n</read_file>\n```"},
    ///   {"role": "user", "content": "then read it"},
    ///   {"role": "assistant", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "high 07:40"}
    /// ]}
    /// ```
    MixedToolProtocols in TextProtocols, since "0.1.0", warning looks at [TEXT], check
}

struct First<'c> {
    tool: &'c str,
    place: Place,
    /// The name of the protocol in a sentence.
    protocol: &'static str,
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let text_calls = &cx.text_calls().calls;
    let Some(text) = text_calls.first() else { return };
    let other = text_calls.iter().find(|call| !std::ptr::eq(call.protocol, text.protocol));
    // Calls to server tools are never written in any other form.
    let native = cx.transcript.parts.iter().find_map(|part| match &part.body {
        Body::Call(call) if call.executor == Executor::Client => {
            let tool = Named::text_or_unknown(call.name.as_ref());
            Some(First { tool, place: part.place, protocol: "the API's native form" })
        }
        _ => None,
    });
    let texts = std::iter::once(text).chain(other);
    let texts = texts.map(|call| First { tool: &call.name, place: call.place, protocol: call.protocol.name });
    let mut firsts: Vec<First<'_>> = texts.chain(native).collect();
    toolcheck_json::sort_by_position(&mut firsts, |first| first.place.span.start as usize);
    let [first, second, ..] = &firsts[..] else { return };
    let finding = out.report(
        second.place,
        format!(
            "`{}` is called using {}, but earlier calls use {}",
            shorten(second.tool),
            second.protocol,
            first.protocol
        ),
    );
    finding
        .caption("a different form of call")
        .label(first.place, "the first call of the other form")
        .help("write all calls of the history in the one form that the harness reads");
    finding.about_tool(second.tool);
}
