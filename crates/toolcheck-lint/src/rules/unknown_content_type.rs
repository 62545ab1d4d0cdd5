use toolcheck_core::ir::{Body, Executor, ToolKind};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A kind of call or block that the target does not know.
    ///
    /// ## Why is this bad?
    ///
    /// APIs have kinds of calls and content of their own, and refuse the others. A history that goes from one API to
    /// another must be translated.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"messages": [
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
    /// {"messages": [
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
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        for part in parts {
            let Body::Call(call) = &part.body else { continue };
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
