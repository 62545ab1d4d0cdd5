use toolcheck_core::Level;
use toolcheck_core::ir::{Body, Executor, Role};

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::dropped_reasoning;

declare_rule! {
    /// Tool calls that are sent back without the reasoning that led to them.
    ///
    /// ## Why is this bad?
    ///
    /// While the model is working with tools, its reasoning is part of the turn. If the request asks for reasoning,
    /// some APIs reject calls of the current turn that come without it. The usual cause is a history that keeps text
    /// and calls and drops everything else.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024},
    ///  "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {}}  // flagged
    ///   ]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "none"}]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "max_tokens": 2048, "thinking": {"type": "enabled", "budget_tokens": 1024},
    ///  "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "thinking", "thinking": "Where?", "signature": "c2lnbmVk"},
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {}}
    ///   ]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "none"}]}
    /// ]}
    /// ```
    MissingReasoning in Reasoning, since "0.1.0", silent (silent in dataset) on wire looks at [RESULTS, TEXT], check,
    cases [
        "empty": "the message has an empty reasoning text",
        "by-default": "the request does not say whether the model reasons",
        "call": "the message starts with a call",
        "text": "the message starts with something else",
        "prefill": "the request ends with the message, which the model should continue",
    ],
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let turns = &cx.pairing.turns;
    // If the request does not say, some models reason by default. A target's entry for the whole rule is about requests
    // that say so.
    let is_by_default =
        cx.transcript.request.reasoning.is_none() && cx.entry(&RULE, Some("by-default")).is_harmful();
    if cx.transcript.request.reasoning != Some(true) && !is_by_default || turns.len() < 2 {
        return;
    }
    let last = &turns[turns.len() - 1];
    if last.role == Role::Assistant {
        check_prefill(cx, out, last.messages.start);
        return;
    }
    // The calls whose results end the request: the model continues from there.
    let (number, turn) = (turns.len() - 2, &turns[turns.len() - 2]);
    let answers = cx.pairing.results_of_turn(number + 1).iter().filter_map(|site| site.paired_with.call());
    let is_working = answers.into_iter().any(|call| cx.pairing.calls[call].turn == number);
    if turn.role != Role::Assistant || !is_working {
        return;
    }
    let number = turn.messages.start;
    let message = &cx.transcript.messages[number];
    let Some(first) = cx.transcript.parts_of(message).first() else { return };
    // Server tools come before the calls, and the reasoning before them.
    let is_server = matches!(&first.body, Body::Call(call) if call.executor == Executor::Server);
    if matches!(first.body, Body::Reasoning(_) | Body::Opaque) || is_server {
        return;
    }
    // The exchange shows more: what the reasoning was.
    if dropped_reasoning::reports(cx, number) {
        return;
    }
    let finding = out.report(first.place, "the model's current turn is sent back without its reasoning");
    finding
        .caption("the reasoning should come before this")
        .help("send assistant messages back unchanged, with their reasoning and its signature")
        .at(cx, (number, message, first));
    if message.has_empty_reasoning {
        // Some APIs accept an empty text instead. For the others it is only a suspicion.
        finding.case("empty").at_most(Level::Warning);
    }
    finding.case_if(is_by_default, "by-default");
    match &first.body {
        Body::Call(call) => finding.about_call(call).case("call"),
        _ => finding.case("text"),
    };
}

/// Checks the message that a request ends with.
fn check_prefill(cx: &Context<'_, '_>, out: &mut Sink<'_>, number: usize) {
    let message = &cx.transcript.messages[number];
    let Some(first) = cx.transcript.parts_of(message).first() else { return };
    let is_said = matches!(first.body, Body::Text(_)) && !message.is_prefix;
    if is_said && cx.is_request() && cx.entry(&RULE, Some("prefill")).is_harmful() {
        out.report(first.place, "the request ends with a message of the model without its reasoning")
            .caption("with reasoning enabled, the model can't continue this text")
            .help("leave out the text, or turn off the reasoning for this request")
            .case("prefill")
            .at(cx, (number, message, first));
    }
}
