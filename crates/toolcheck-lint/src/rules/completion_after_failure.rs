use toolcheck_core::ir::{Named, Role};
use toolcheck_core::pairing::CallSite;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::failure::is_failed;

declare_rule! {
    CompletionAfterFailure in Agents, since "0.1.0", warning looks at [RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    // If the model continues, it has seen the failure and can take it into account: only its last turn counts.
    let Some(last) = pairing.turns.iter().rposition(|turn| turn.role == Role::Assistant) else { return };
    let calls = pairing.calls_of_turn(last);
    let has_failed =
        |call: &CallSite<'_, '_>| pairing.answer_of(call).is_some_and(|site| is_failed(cx, site.result));
    let failed = calls.iter().find(|call| has_failed(call)).and_then(|call| pairing.answer_of(call));
    let Some(failed) = failed else { return };
    let is_completion = |name: &Named<'_>| cx.settings.completion_tools.contains(&name.text);
    // A completion that was rejected completed nothing.
    let closes =
        |call: &CallSite<'_, '_>| call.call.name.as_ref().is_some_and(is_completion) && !has_failed(call);
    if let Some(call) = calls.iter().find(|call| closes(call)) {
        out.report(call.part.place, "the task is declared complete in a turn in which a tool failed")
            .about_call(call.call)
            .caption("declared complete here")
            .label(failed.part.place, "this tool failed")
            .help("reject a completion if another tool of the same turn failed, and let the model see the failure");
    }
}
