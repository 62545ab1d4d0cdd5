use toolcheck_core::Level;
use toolcheck_core::ir::{Body, ReasoningMode};

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::missing_reasoning;
use crate::view::exchanges::ReasoningChange;

declare_rule! {
    DroppedReasoning in Reasoning, since "0.1.0", warning on wire looks at [ANSWER] answered as missing_reasoning, check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|kept| !kept.is_of_another) else { return };
    let thoughts = kept.thoughts(cx);
    let what = match thoughts {
        ReasoningChange::Dropped | ReasoningChange::Emptied => "without its reasoning",
        ReasoningChange::PartlyDropped => "with only a part of its reasoning",
        _ => return,
    };
    let request = &cx.transcript.request;
    let is_adaptive =
        request.reasoning_setting.is_some_and(|setting| setting.mode == ReasoningMode::Adaptive);
    if request.reasoning == Some(false) && !is_adaptive {
        return;
    }
    let number = kept.turn(cx).start;
    let message = &cx.transcript.messages[number];
    let Some(first) = cx.transcript.parts_of(message).first() else { return };
    let finding = out.report(message.place, format!("the model's turn is sent back {what}"));
    finding
        .caption("the turn in the history")
        .help("keep the whole message of the response, with all its reasoning and signatures")
        .at(cx, (number, message, first));
    finding.case_if(thoughts == ReasoningChange::Emptied, "empty");
    finding.case(match first.body {
        _ if is_adaptive => "adaptive",
        _ if request.reasoning.is_none() => "by-default",
        Body::Call(_) => "call",
        _ => "text",
    });
    if thoughts == ReasoningChange::PartlyDropped || is_adaptive {
        // What is known is what happens where all of it is missing, and a budget is set.
        finding.at_most(Level::Warning);
    }
    kept.point_at_reasoning(finding);
}

/// Whether this rule reports the turn that starts with this message.
pub(crate) fn reports(cx: &Context<'_, '_>, message: usize) -> bool {
    let is_dropped = |thoughts| matches!(thoughts, ReasoningChange::Dropped | ReasoningChange::Emptied);
    let is_ignored = cx.ignored_rules.iter().any(|rule| rule.id == RULE.id);
    let kept = cx.kept.filter(|kept| !is_ignored && !kept.is_of_another);
    kept.is_some_and(|kept| kept.turn(cx).start == message && is_dropped(kept.thoughts(cx)))
}
