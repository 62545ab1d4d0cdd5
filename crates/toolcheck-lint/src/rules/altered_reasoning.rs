use crate::rule::{Context, Sink, declare_rule};
use crate::rules::{modified_reasoning, unsigned_reasoning};
use crate::view::exchanges::ReasoningChange;

declare_rule! {
    /// Reasoning in the next request that differs from what the model produced.
    ///
    /// ## Why is this bad?
    ///
    /// Providers sign or encrypt the reasoning that they return, and take it back only unchanged. A client that merges
    /// blocks, cuts texts or mixes up signatures makes the whole conversation unusable. Where nothing is signed, the
    /// model continues from thoughts that it never had.
    ///
    /// This rule needs exchanges: each request with the response to it, in chronological order. Whitespace is not
    /// compared, and a text may be left out beside its signature.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"role": "assistant", "stop_reason": "tool_use", "content": [
    ///     {"type": "thinking", "thinking": "Which port? Oban.", "signature": "c2lnbmVk"},
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when is the tide?"},
    ///     {"role": "assistant", "content": [  // flagged
    ///       {"type": "thinking", "thinking": "Which port?", "signature": "b3RoZXI="},
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
    ///     {"type": "thinking", "thinking": "Which port? Oban.", "signature": "c2lnbmVk"},
    ///     {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "when is the tide?"},
    ///     {"role": "assistant", "content": [
    ///       {"type": "thinking", "thinking": "Which port? Oban.", "signature": "c2lnbmVk"},
    ///       {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]},
    ///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "at noon"}]}]},
    ///   "response": {"role": "assistant", "stop_reason": "end_turn", "content": []}}]
    /// ```
    AlteredReasoning in Reasoning, since "0.1.0", warning on wire looks at [ANSWER] answered as modified_reasoning, check,
    cases [
        "signature" for users: "it has a different signature",
        "unsigned" for users: "its signature is missing",
        "signed-text" for users: "it has a different text under the same signature",
        "text" for users: "it has a different text and no signature",
    ],
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept else { return };
    let is_signed = kept.answer.reasoning.iter().any(|block| block.signature.is_some());
    let (case, what) = match kept.thoughts(cx) {
        ReasoningChange::SignedOtherwise => ("signature", "with a different signature"),
        // Where the signature must be there, another rule says so.
        ReasoningChange::Unsigned if is_unsigned_refused(cx) => return,
        ReasoningChange::Unsigned => ("unsigned", "without its signature"),
        ReasoningChange::Reworded if is_signed => {
            ("signed-text", "with a different text under the same signature")
        }
        ReasoningChange::Reworded => ("text", "with another text"),
        _ => return,
    };
    let number = kept.turn(cx).start;
    let message = &cx.transcript.messages[number];
    let Some(first) = cx.transcript.parts_of(message).first() else { return };
    let finding = out.report(message.place, format!("the reasoning of the model is sent back {what}"));
    finding
        .caption("the turn in the history")
        .help("send reasoning back byte for byte, block for block, with its own signature")
        .case(case)
        .at(cx, (number, message, first));
    kept.point_at_reasoning(finding);
}

fn is_unsigned_refused(cx: &Context<'_, '_>) -> bool {
    ["missing", "null", "empty"]
        .iter()
        .any(|case| cx.entry(&unsigned_reasoning::RULE, Some(case)).is_harmful())
}
