use crate::rule::{Context, Sink, declare_rule};
use crate::rules::{modified_reasoning, unsigned_reasoning};
use crate::view::exchanges::ReasoningChange;

declare_rule! {
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
