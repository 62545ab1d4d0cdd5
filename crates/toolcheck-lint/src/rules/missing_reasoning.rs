use toolcheck_core::ir::{Body, Executor, Part, Role};
use toolcheck_core::pairing::Pairing;
use toolcheck_core::{Level, RuleId};

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::dropped_reasoning;

declare_rule! {
    MissingReasoning in Reasoning, since "0.1.0", silent (silent in dataset) on wire looks at [RESULTS, TEXT], check,
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
    let is_earlier_needed = cx.entry(&RULE, Some("earlier")).is_harmful();
    if is_earlier_needed {
        let continued = continued_turn(cx.pairing);
        let mut with_calls: Vec<usize> = cx.pairing.calls.iter().map(|call| call.turn).collect();
        with_calls.dedup();
        for number in with_calls.into_iter().filter(|number| Some(*number) != continued) {
            report(cx, out, number, is_by_default, true);
        }
    }
    let Some(at) = unreasoned(cx, is_earlier_needed) else { return };
    let parts = cx.transcript.parts_of(&cx.transcript.messages[turns[at].messages.start]);
    // What is there, and only behind a text, is misplaced.
    let is_there = parts.iter().any(|part| matches!(part.body, Body::Reasoning(_)));
    let is_behind_text = is_there && matches!(parts.first(), Some(Part { body: Body::Text(_), .. }));
    if is_by_default || !is_behind_text || !cx.target().knows_case(RuleId::MisplacedReasoning, "turn") {
        report(cx, out, at, is_by_default, false);
    }
}

/// The message that must begin with reasoning, because the model goes on from its calls, and does not.
pub(super) fn must_begin(cx: &Context<'_, '_>) -> Option<usize> {
    let turns = &cx.pairing.turns;
    let goes_on = turns.last().is_some_and(|last| last.role != Role::Assistant);
    let is_reasoning = cx.transcript.request.reasoning == Some(true);
    let at =
        unreasoned(cx, cx.entry(&RULE, Some("earlier")).is_harmful()).filter(|_| goes_on && is_reasoning)?;
    Some(turns[at].messages.start)
}

/// The turn of the model that lacks the reasoning before the calls from which it goes on.
fn unreasoned(cx: &Context<'_, '_>, is_each_needed: bool) -> Option<usize> {
    let continued = continued_turn(cx.pairing)?;
    let begun = first_step(cx.pairing, continued);
    // Models that reason once do it before the first call, and go on without after its result.
    let is_reasoned = |number: usize| first_part(cx, number).is_none_or(|first| is_reasoning(first));
    let at = match is_each_needed {
        true => continued,
        false if (begun..=continued).step_by(2).any(is_reasoned) => return None,
        false => begun,
    };
    // The exchange shows more: what the reasoning was.
    let is_dropped = dropped_reasoning::reports(cx, cx.pairing.turns[continued].messages.start);
    (!is_dropped && !is_reasoned(at)).then_some(at)
}

/// The number of the model's turn whose results end the request: the model continues from there.
fn continued_turn(pairing: &Pairing<'_, '_>) -> Option<usize> {
    let number = pairing.turns.len().checked_sub(2)?;
    let mut answers = pairing.results_of_turn(number + 1).iter().filter_map(|site| site.paired_with.call());
    let is_working = answers.any(|call| pairing.calls[call].turn == number);
    (is_working && pairing.turns[number].role == Role::Assistant).then_some(number)
}

/// The number of the first turn of the model since somebody else than tools spoke.
fn first_step(pairing: &Pairing<'_, '_>, continued: usize) -> usize {
    let mut first = continued;
    while first >= 2
        && pairing.turns[first - 2].role == Role::Assistant
        && !pairing.results_of_turn(first - 1).is_empty()
    {
        first -= 2;
    }
    first
}

fn first_part<'c, 's>(cx: &Context<'c, 's>, turn: usize) -> Option<&'c Part<'s>> {
    let message = &cx.transcript.messages[cx.pairing.turns[turn].messages.start];
    cx.transcript.parts_of(message).first()
}

fn is_reasoning(first: &Part<'_>) -> bool {
    // Server tools come before the calls, and the reasoning before them.
    let is_server = matches!(&first.body, Body::Call(call) if call.executor == Executor::Server);
    matches!(first.body, Body::Reasoning(_) | Body::Opaque) || is_server
}

fn report(cx: &Context<'_, '_>, out: &mut Sink<'_>, turn: usize, is_by_default: bool, is_earlier: bool) {
    let Some(first) = first_part(cx, turn).filter(|first| !is_reasoning(first)) else { return };
    let number = cx.pairing.turns[turn].messages.start;
    let message = &cx.transcript.messages[number];
    // At the end of its message it is reported as misplaced.
    if matches!(cx.transcript.parts_of(message).last(), Some(Part { body: Body::Reasoning(_), .. })) {
        return;
    }
    let which = if is_earlier { "an earlier turn of the model" } else { "the model's current turn" };
    let finding = out.report(first.place, format!("{which} is sent back without its reasoning"));
    finding
        .caption("the reasoning should come before this")
        .help("send assistant messages back unchanged, with their reasoning and its signature")
        .case_if(is_earlier, "earlier")
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
