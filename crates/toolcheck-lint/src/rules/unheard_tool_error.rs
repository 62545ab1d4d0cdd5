use toolcheck_core::ir::TranscriptKind;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::failure::is_failed;

declare_rule! {
    /// A recording that ends with a tool error that the model never saw.
    ///
    /// ## Why is this bad?
    ///
    /// The tool's error says what to do instead, but the loop stopped before the model could read it: the user is
    /// left with nothing done, and with no explanation. The usual cause is a loop that returns after running the tools.
    ///
    /// Only recordings are checked (`--kind session`): a request ends with results because it is about to be sent. A
    /// tool has failed if the format says so (`is_error`, `status`, an `error` in the response), or if the text of
    /// its result begins like an error.
    ///
    /// ## Fails
    ///
    /// ```json anthropic kind=session
    /// {"messages": [
    ///   {"role": "user", "content": "what does the harbour log say?"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
    ///   {"role": "user", "content": [
    ///     {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": "no path"}  // flagged
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic kind=session
    /// {"messages": [
    ///   {"role": "user", "content": "what does the harbour log say?"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
    ///   {"role": "user", "content": [
    ///     {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": "no path"}
    ///   ]},
    ///   {"role": "assistant", "content": "Which log do you mean?"}
    /// ]}
    /// ```
    UnheardToolError in Agents, since "0.1.0", warning looks at [RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if cx.transcript.kind != TranscriptKind::Session || cx.is_cut_off {
        return;
    }
    let last = cx.pairing.turns.len().saturating_sub(1);
    let results = cx.pairing.results.iter().rev().take_while(|site| site.turn == last);
    // A loop that stops is one problem, however many tools failed.
    let Some(site) = results.filter(|site| is_failed(cx, site.result)).last() else { return };
    let finding = out.report(
        site.part.place,
        format!(
            "the recording ends with failed tool result {}, which the model never saw",
            site.result.title()
        ),
    );
    finding
        .about_result(site.result)
        .caption("never sent to the model")
        .help("send results back to the model, and let it continue until it makes no more calls");
    finding.label(site.paired_with.call().map(|call| cx.pairing.calls[call].part.place), "its call");
}
