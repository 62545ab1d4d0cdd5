use toolcheck_core::ir::{Executor, TranscriptKind};
use toolcheck_core::response::ChoiceCall;
use toolcheck_core::text::{self, shorten};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::forces_a_call;

declare_rule! {
    /// A call in a response that the rest of the recording never answers.
    ///
    /// ## Why is this bad?
    ///
    /// The model called a tool, and the loop stopped or continued without its result: a tool raised an uncaught error, a
    /// limit of turns was reached, or the client took the turn for the last one. The user sees a run that ends without
    /// an answer, or with one that rests on nothing.
    ///
    /// This rule needs exchanges: each request with the response to it, in chronological order. A call may be all that a
    /// client wants of a response. So it is reported only if a tool with the same name was answered elsewhere in the
    /// file, or if the arguments are not JSON; and not if the request makes the model call a tool, if the tool completes
    /// a task, or if the same request was sent again. With `--kind session` a recording may end anywhere.
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
    ///     {"type": "tool_use", "id": "toolu_2", "name": "tide", "input": {"port": "Mull"}}]}}]  // flagged
    /// ```
    ///
    /// ## Passes
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
    ///     {"type": "tool_use", "id": "toolu_2", "name": "final_answer", "input": {"text": "At noon."}}]}}]
    /// ```
    AbandonedCall in Pairing, since "0.1.0", warning on end looks at [EXCHANGE], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some([answer]) = cx.course.map(|course| course.answers) else { return };
    if !answer.is_whole || cx.transcript.kind != TranscriptKind::Request || forces_a_call(cx.transcript) {
        return;
    }
    let completes = |call: &ChoiceCall| {
        call.name.as_ref().is_some_and(|name| cx.settings.completion_tools.contains(name))
    };
    let mut calls = answer.calls.iter().filter(|call| call.executor == Executor::Client).peekable();
    let Some(first) = calls.peek().copied() else { return };
    if calls.clone().any(completes) {
        return;
    }
    let title = match (&first.id, &first.name) {
        (Some(id), Some(name)) => format!("`{}` ({})", shorten(name), shorten(id)),
        (_, Some(name)) => format!("`{}`", shorten(name)),
        _ => "a tool without a name".to_owned(),
    };
    let message = match calls.count() {
        1 => format!("the model called {title}, and nothing in the recording answers it"),
        count => format!(
            "the model called {count} tools, and nothing in the recording answers them; first: {title}"
        ),
    };
    let finding = out.report(first.place, message);
    finding.caption("called here").help(
        "answer every call before the loop ends, with an error if the tool did not run, and let the model have the \
         last word",
    );
    finding.tool_call_id = first.id.as_deref().map(text::kept);
    finding.say().tool_name = first.name.as_deref().map(text::kept);
}
