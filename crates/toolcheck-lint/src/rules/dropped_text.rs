use toolcheck_core::text;

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::mixed_content;

declare_rule! {
    /// Text that the model wrote beside its calls and that is missing from the history.
    ///
    /// ## Why is this bad?
    ///
    /// The model said what it is about to do, and called tools in the same turn. The client keeps only the calls,
    /// because it treats a response as either text or calls. The model forgets its plan, and what it told the user.
    ///
    /// This rule needs exchanges: each request with the response to it, in chronological order. Nothing is reported if
    /// the turn has any text, if the text is blank, once the user has spoken again, or if the API accepts no text beside
    /// calls.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "text", "text": "I take Oban to be meant, and then I look at Mull."},
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when is the tide?"},
    ///     {"role": "assistant", "content": [  // flagged
    ///       {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}]}]},
    ///   "response": {"role": "assistant", "stop_reason": "end_turn", "content": []}}]
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "text", "text": "I take Oban to be meant, and then I look at Mull."},
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when is the tide?"},
    ///     {"role": "assistant", "content": [
    ///       {"type": "text", "text": "I take Oban to be meant, and then I look at Mull."},
    ///       {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}]}]},
    ///   "response": {"role": "assistant", "stop_reason": "end_turn", "content": []}}]
    /// ```
    DroppedText in Content, since "0.1.0", warning looks at [ANSWER], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|kept| kept.is_current(cx)) else { return };
    let said = without_thoughts(&kept.answer.text);
    if said.trim().is_empty() || kept.turn(cx).is_empty() || kept.is_unclear(cx) {
        return;
    }
    // An API that takes no text beside calls leaves no other way.
    let is_refused = mixed_content::RULE
        .cases
        .iter()
        .any(|case| cx.entry(&mixed_content::RULE, Some(case.name)).is_harmful());
    if is_refused || cx.entry(&mixed_content::RULE, None).is_harmful() || !kept.text(cx).trim().is_empty() {
        return;
    }
    let message = &cx.transcript.messages[kept.turn(cx).start];
    let finding = out.report(
        message.place,
        "the model said something beside its calls, but the history keeps only the calls",
    );
    finding.caption("the turn in the history").help("keep the text and the calls of a response in one turn");
    if let Some(call) = kept.answer.calls.first() {
        finding.label_at(call.call.place, call.spot.clone(), "the call in the response, with text beside it");
        finding.tool_call_id = call.call.id.as_deref().map(text::kept);
        finding.say().tool_name = call.call.name.as_deref().map(text::kept);
    }
}

/// The text without the reasoning that some servers leave in it.
fn without_thoughts(text: &str) -> &str {
    let is_thought = text.trim_start().starts_with("<think");
    match text.rsplit_once("</think>") {
        Some((_, rest)) => rest.trim_start_matches("ing>"),
        None if is_thought => "",
        None => text,
    }
}
