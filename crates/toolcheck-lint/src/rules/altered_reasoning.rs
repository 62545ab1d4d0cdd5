use toolcheck_core::{response, text};

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::{modified_reasoning, unsigned_reasoning};
use crate::view::exchanges::{HistoryMatch, MatchedCall, PastCall, ReasoningChange};

declare_rule! {
    AlteredReasoning in Reasoning, since "0.1.0", warning on wire looks at [ANSWER] answered as modified_reasoning, check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|kept| !kept.is_later) else { return };
    let is_signed =
        kept.answer.reasoning.iter().chain(&kept.answer.details).any(|block| block.signature.is_some());
    let (case, what) = match kept.thoughts(cx) {
        ReasoningChange::SignedOtherwise => ("signature", "with a different signature"),
        // Where the signature must be there, another rule says so.
        ReasoningChange::Unsigned if is_unsigned_refused(cx) => return,
        ReasoningChange::Unsigned => ("unsigned", "without its signature"),
        ReasoningChange::Reworded if is_signed => {
            ("signed-text", "with a different text under the same signature")
        }
        ReasoningChange::Reworded => ("text", "with another text"),
        ReasoningChange::Kept => return check_calls(cx, out, kept),
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

/// Reports the first call that is sent back with another signature.
fn check_calls(cx: &Context<'_, '_>, out: &mut Sink<'_>, kept: &HistoryMatch<'_>) {
    if !kept.is_current(cx) {
        return;
    }
    let is_other = |(given, stored): &(&PastCall, &MatchedCall)| {
        let part = &cx.transcript.parts[stored.part];
        let signature = response::signature_of_call(cx.transcript, part, cx.document);
        let both = given.call.signature.as_deref().zip(signature.as_deref());
        both.is_some_and(|(given, stored)| !response::is_same_signature(given, stored))
    };
    let Some((given, stored)) = kept.calls_kept().find(is_other) else { return };
    let part = &cx.transcript.parts[stored.part];
    let message = &cx.transcript.messages[stored.message];
    let finding =
        out.report(part.place, "a call of the model is sent back with a different signature".to_owned());
    finding
        .caption("the call in the history")
        .help("send each call back with its own signature, byte for byte")
        .case("signature")
        .at(cx, (stored.message, message, part));
    finding.label_at(given.call.place, given.spot.clone(), "the call in the response");
    finding.tool_call_id = given.call.id.as_deref().map(text::kept);
}

fn is_unsigned_refused(cx: &Context<'_, '_>) -> bool {
    ["missing", "null", "empty"]
        .iter()
        .any(|case| cx.entry(&unsigned_reasoning::RULE, Some(case)).is_harmful())
}
