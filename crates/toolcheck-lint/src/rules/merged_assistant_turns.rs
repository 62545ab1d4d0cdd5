use toolcheck_core::ir::{Body, Call, Part};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Calls from two responses that the history combines in one message.
    ///
    /// ## Why is this bad?
    ///
    /// The model made the second call after it had seen the result of the first. In one message, it looks as if it had
    /// made both at once, and a model that reads this learns to act before it knows. The text and the reasoning between the
    /// calls lose their place, and a cache of the prompt is of no use from there on. The usual cause is a client that keeps
    /// one message for all steps of a run.
    ///
    /// This rule needs exchanges: each request with the response to it, in chronological order.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "when are the tides?"}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Oban"}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when are the tides?"},
    ///     {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Oban"}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}]}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "tool_use", "id": "toolu_2", "name": "tide", "input": {"port": "Mull"}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when are the tides?"},
    ///     {"role": "assistant", "content": [
    ///       {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Oban"}},
    ///       {"type": "tool_use", "id": "toolu_2", "name": "tide", "input": {"port": "Mull"}}]},  // flagged
    ///     {"role": "user", "content": [
    ///       {"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"},
    ///       {"type": "tool_result", "tool_use_id": "toolu_2", "content": "at one"}]}]}}]
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "when are the tides?"}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Oban"}},
    ///     {"type": "tool_use", "id": "toolu_2", "name": "tide", "input": {"port": "Mull"}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when are the tides?"},
    ///     {"role": "assistant", "content": [
    ///       {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Oban"}},
    ///       {"type": "tool_use", "id": "toolu_2", "name": "tide", "input": {"port": "Mull"}}]},
    ///     {"role": "user", "content": [
    ///       {"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"},
    ///       {"type": "tool_result", "tool_use_id": "toolu_2", "content": "at one"}]}]}}]
    /// ```
    MergedAssistantTurns in Order, since "0.1.0", warning looks at [EXCHANGE], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let call = |part: &usize| -> Option<(&Part<'_>, &Call<'_>)> {
        let part = cx.transcript.parts.get(*part)?;
        if let Body::Call(call) = &part.body { Some((part, call)) } else { None }
    };
    for (first, second) in cx.course.into_iter().flat_map(|course| &course.merged) {
        let (Some((first, of_first)), Some((second, of_second))) = (call(first), call(second)) else {
            continue;
        };
        let message = format!(
            "the model called {} after it had seen the result of {}, but the history has both calls in one turn",
            of_second.title(),
            of_first.title()
        );
        out.report(second.place, message)
            .about_call(of_second)
            .caption("called in a later response")
            .label(first.place, "called before")
            .help("keep each response as a message of its own, with its results directly after it");
    }
}
