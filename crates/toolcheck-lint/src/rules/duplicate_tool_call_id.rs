use toolcheck_core::ir::Named;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DuplicateToolCallId in Ids, since "0.1.0", error looks at [CALLS], check,
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.pairing.repeats_ids() {
        return;
    }
    for call in &cx.pairing.calls {
        let Some(first) = cx.pairing.first_of_same_id(call) else { continue };
        let title = call.call.title();
        let finding = out.report(call.part.place, format!("two tool calls in one turn have the id {title}"));
        // The id that it should have had is that of a result.
        let own = cx.pairing.stand_in_of(call).map(|result| result.part.place);
        finding
            .about_call(call.call)
            .caption("same id again")
            .label(first.part.place, "first used here")
            .label(own, "no call has the id of this result")
            .help("give each call a unique id, and its result the same id")
            .at(cx, call)
            .value("id", Named::text_or_unknown(call.call.id.as_ref()));
    }
}
