use toolcheck_core::Level;
use toolcheck_core::ir::{Body, Executor, Role};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// Calls of a reasoning model that are sent back without its reasoning.
    ///
    /// ## Why is this bad?
    ///
    /// While the model is at work with tools, its reasoning belongs to the turn. Some APIs refuse calls of the current
    /// turn that come without it, once the request asks for reasoning. The usual cause: a history that keeps texts
    /// and calls and drops what it does not know.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [
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
    /// {"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "thinking", "thinking": "Where?", "signature": "c2lnbmVk"},
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {}}
    ///   ]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "none"}]}
    /// ]}
    /// ```
    "missing-reasoning" in Reasoning, since "0.1.0", silent (silent in dataset) on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let turns = &cx.pairing.turns;
    // Where the request does not say, some models reason all the same.
    let is_by_default = cx.transcript.reasoning.is_none() && cx.minds_case(&RULE, "by-default");
    if cx.transcript.reasoning != Some(true) && !is_by_default || turns.len() < 2 {
        return;
    }
    // The calls whose results end the request: the model goes on from there.
    let (number, turn) = (turns.len() - 2, &turns[turns.len() - 2]);
    let answers = cx.pairing.results_of_turn(number + 1).iter().filter_map(|site| site.answers.call());
    let is_at_work = answers.into_iter().any(|call| cx.pairing.calls[call].turn == number);
    if turn.role != Role::Assistant || !is_at_work {
        return;
    }
    let number = turn.messages.start;
    let message = &cx.transcript.messages[number];
    let Some(first) = cx.transcript.parts_of(message).first() else { return };
    // What the provider ran itself stands before the calls, and its reasoning before that.
    let is_server = matches!(&first.body, Body::Call(call) if call.executor == Executor::Server);
    if matches!(first.body, Body::Reasoning(_) | Body::Opaque) || is_server {
        return;
    }
    let finding = out.report(first.place, "the model's current turn is sent back without its reasoning");
    finding
        .caption("reasoning should stand before this")
        .help("send the model's messages back as they came, with their reasoning and its signature")
        .at(cx, number, message, Some(first));
    if message.has_empty_reasoning {
        // Some take an empty text for it. Of those that nothing is known of it is no more than a suspicion.
        finding.case("empty").at_most(Level::Warning);
    }
    if is_by_default {
        finding.case("by-default");
    }
    match &first.body {
        Body::Call(call) => {
            finding.about_call(call).case("call");
        }
        _ => {
            finding.case("text");
        }
    }
}
