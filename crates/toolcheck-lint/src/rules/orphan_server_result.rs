use foldhash::HashSet;
use toolcheck_core::ir::Named;
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::server_pairs::halves;

declare_rule! {
    OrphanServerResult in Pairing, since "0.1.0", silent on wire looks at [SERVER_RESULTS, SERVER_CALLS, CALLS], check,
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    without_program(cx, out);
    for half in halves(cx.transcript).1.into_iter().filter(|half| half.is.unpaired.is_none()) {
        let finding = out
            .report(half.part.place, format!("server tool result {} has no matching call", half.is.title()));
        finding
            .about_result(half.is)
            .caption("its call is missing")
            .help("send assistant messages back complete, or remove the result")
            .at(cx, (half.message_number, half.message, half.part))
            .value("id", Named::text_or_unknown(half.is.call_id.as_ref()));
        let block = half.is.block.as_ref().map(|block| block.decode());
        finding.value_of("block", block.as_deref().map(toolcheck_core::text::shorten));
    }
}

/// Reports calls whose program is nowhere in the conversation.
fn without_program(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let calls = &cx.transcript.details.programmatic_calls;
    // The program may be in what the server keeps.
    if calls.is_empty() || cx.transcript.request.continues_remote_state {
        return;
    }
    let ids: HashSet<&str> = cx.transcript.call_ids().collect();
    for call in calls.iter().filter(|call| !ids.contains(&*call.program.text)) {
        let part = cx.transcript.parts.iter().find(|part| part.place == call.place);
        let id = part.and_then(|part| part.call()?.id.as_ref());
        out.report(
            call.place,
            format!(
                "tool call `{}` was made by a program that is missing",
                shorten(Named::text_or_unknown(id))
            ),
        )
        .caption("called by a program")
        .label(call.program.place, "no call has this id")
        .help("send the program's own call back, too, or remove `caller`")
        .case("caller")
        .value("source", &call.program.text)
        .value("id", Named::text_or_unknown(id));
    }
}
