use toolcheck_core::ir::Executor;
use toolcheck_core::text::{self, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// The same call with the same result, over and over, in a loop that never stops.
    ///
    /// ## Why is this bad?
    ///
    /// A model that gets the same answer to the same call makes it again. If the loop has no limit, it continues until
    /// somebody sees the bill.
    ///
    /// This rule needs exchanges: each request with the response to it, in chronological order. It reports the tenth
    /// same call in a row if the results tell of a problem, and otherwise the 25th: some tools are polled until
    /// something is done. `repeated-failing-call` reports the first few failures, of which the model should have learnt.
    ///
    /// Ten requests can't be shown here; `fixtures/openai-chat/endless-loop.json` has them.
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when is the tide?"},
    ///     {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}]}]},
    ///   "response": {"role": "assistant", "stop_reason": "end_turn", "content": []}}]
    /// ```
    EndlessLoop in Agents, since "0.1.0", warning looks at [EXCHANGE], check
}

/// How many same calls are too many, if their results tell of a problem.
const MOST_FAILING: usize = 10;
/// How many are too many in any case.
const MOST: usize = 25;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(course) = cx.course else { return };
    let Some(repeated) = &course.repeated else { return };
    let most = if repeated.is_failing { MOST_FAILING } else { MOST };
    // One run is one problem.
    if repeated.count != most {
        return;
    }
    let calls = course.answers.iter().flat_map(|answer| &answer.calls);
    let Some(call) = calls.into_iter().find(|call| call.executor == Executor::Client) else { return };
    let name = call.name.as_deref().map_or("a tool".to_owned(), |name| format!("`{}`", shorten(name)));
    let finding = out.report(
        call.place,
        format!("the model called {name} with the same arguments in {most} responses in a row, and nothing stops it"),
    );
    let (first, spot) = repeated.first.clone();
    finding
        .caption("called again here")
        .label_at(first, spot, "called here first")
        .help("limit the turns of a run, and end it with an error if a call with the same result comes back");
    finding.tool_call_id = call.id.as_deref().map(text::kept);
    finding.say().tool_name = call.name.as_deref().map(text::kept);
}
