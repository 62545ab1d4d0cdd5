use toolcheck_core::text;

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::mixed_content;

declare_rule! {
    DroppedText in Content, since "0.1.0", warning looks at [ANSWER], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|kept| kept.is_current(cx)) else { return };
    let said = without_thoughts(&kept.answer.text);
    if said.trim().is_empty() || kept.turn(cx).is_empty() || kept.is_unclear(cx) {
        return;
    }
    // An API that takes no text beside calls leaves no other way.
    let is_refused = [None, Some("text-beside-calls")]
        .into_iter()
        .any(|case| cx.entry(&mixed_content::RULE, case).is_harmful());
    if is_refused || !kept.text(cx).trim().is_empty() {
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
