use foldhash::HashSet;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::server_pairs::halves;

declare_rule! {
    /// Programmatic tool calls without the id of their container.
    ///
    /// ## Why is this bad?
    ///
    /// A program that runs on the provider's side is waiting for the results of its calls. The request must name the
    /// container that it runs in.
    ///
    /// ## What to do
    ///
    /// Send the container id that came with the response.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "how high are the tides this week?"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "tide()"}},
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {},  // flagged
    ///      "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}}
    ///   ]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "2 m"}]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"container": "container_011", "tools": [{"type": "code_execution_20250825", "name": "code_execution"}, {"name": "tide", "input_schema": {"type": "object"}}], "messages": [
    ///   {"role": "user", "content": "how high are the tides this week?"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "tide()"}},
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {},
    ///      "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}}
    ///   ]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "2 m"}]}
    /// ]}
    /// ```
    MissingContainer in Tools, since "0.1.0", silent on wire looks at [SERVER_CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let transcript = cx.transcript;
    // A bare list of messages doesn't show the rest of the request.
    if transcript.details.programmatic_calls.is_empty()
        || transcript.request.container.is_some()
        || !transcript.is_body
    {
        return;
    }
    let running = halves(transcript).0;
    let running: HashSet<&str> =
        running.iter().filter_map(|half| half.is.id.as_ref()).map(|id| &*id.text).collect();
    let mut calls = transcript.details.programmatic_calls.iter();
    if let Some(call) = calls.find(|call| running.contains(&*call.program.text)) {
        out.report(
            call.place,
            "a program is waiting for the result of this call, but the request names no container",
        )
        .caption("called by a program")
        .label(call.program.place, "the program that made the call")
        .help("set `container` to the id that came with the response");
    }
}
