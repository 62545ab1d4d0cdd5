use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Tool results whose order differs from that of their calls.
    ///
    /// ## Why is this bad?
    ///
    /// Providers that pair by id accept any order. Local servers and most chat templates ignore ids and match results
    /// by position: the model takes the first result as the outcome of the first call, whatever the ids say.
    ///
    /// ## Fails
    ///
    /// ```json ollama
    /// {"keep_alive": "5m", "messages": [
    ///   {"role": "user", "content": "find Adam and Eve"},
    ///   {"role": "assistant", "content": "", "tool_calls": [
    ///     {"id": "a", "function": {"name": "search", "arguments": {"for": "Adam"}}},
    ///     {"id": "b", "function": {"name": "search", "arguments": {"for": "Eve"}}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "b", "content": "one"},
    ///   {"role": "tool", "tool_call_id": "a", "content": "none"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json ollama
    /// {"keep_alive": "5m", "messages": [
    ///   {"role": "user", "content": "find Adam and Eve"},
    ///   {"role": "assistant", "content": "", "tool_calls": [
    ///     {"id": "a", "function": {"name": "search", "arguments": {"for": "Adam"}}},
    ///     {"id": "b", "function": {"name": "search", "arguments": {"for": "Eve"}}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "a", "content": "none"},
    ///   {"role": "tool", "tool_call_id": "b", "content": "one"}
    /// ]}
    /// ```
    ReorderedToolResults in Order, since "0.1.0", silent looks at [RESULTS], check,
    fix [
        safe: "Results that name their calls are put into the order of the calls.",
        otherwise: "the results do not name their calls",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    let mut reported = None;
    let mut last: Option<usize> = None;
    for site in pairing.results.iter().filter(|site| pairing.is_first_answer(site)) {
        let Some(call) = site.paired_with.call() else { continue };
        let call = &pairing.calls[call];
        let before = last.replace(call.number).map(|number| &pairing.calls[number]);
        let Some(before) = before.filter(|before| before.turn == call.turn && before.number > call.number)
        else {
            continue;
        };
        // One that is late is reported as that.
        if !pairing.is_in_place(call, site) {
            continue;
        }
        // A turn in the wrong order is one problem.
        if reported.replace(call.turn) == Some(call.turn) {
            continue;
        }
        out.report(
            site.part.place,
            format!("tool result {} comes after the result of a later call", site.result.title()),
        )
        .about_call(call.call)
        .caption("this result")
        .label(call.part.place, "its call")
        .label(before.part.place, "called later, answered earlier")
        .help("put the results in the order of their calls");
    }
}
