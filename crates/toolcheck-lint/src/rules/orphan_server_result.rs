use foldhash::HashSet;
use toolcheck_core::ir::{Body, Named};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::server_pairs::halves;

declare_rule! {
    OrphanServerResult in Pairing, since "0.1.0", silent on wire looks at [SERVER_RESULTS, SERVER_CALLS, CALLS], check,
    cases [
        "caller": "a call made by a program, without the program",
    ],
    values PART, CALL_ID [
        "block": "the type of the result",
        "source": "the id of the program that is missing",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    without_program(cx, out);
    for half in halves(cx.transcript).1 {
        let finding = out
            .report(half.part.place, format!("server tool result {} has no matching call", half.is.title()));
        finding
            .about_result(half.is)
            .caption("its call is missing")
            .help("send assistant messages back complete, or remove the result")
            .at(cx, (half.message_number, half.message, half.part))
            .value("id", Named::text_or_unknown(half.is.call_id.as_ref()));
        if let Some(block) = &half.is.block {
            finding.value("block", toolcheck_core::text::shorten(&block.decode()));
        }
    }
}

/// Reports calls whose program is nowhere in the conversation.
fn without_program(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let calls = &cx.transcript.details.programmatic_calls;
    // The program may be in what the server keeps.
    if calls.is_empty() || cx.transcript.request.continues_remote_state {
        return;
    }
    let ids = cx.transcript.parts.iter().filter_map(|part| match &part.body {
        Body::Call(call) => call.id.as_ref(),
        _ => None,
    });
    let ids: HashSet<&str> = ids.map(|id| &*id.text).collect();
    for call in calls.iter().filter(|call| !ids.contains(&*call.program.text)) {
        let id =
            cx.transcript.parts.iter().find(|part| part.place == call.place).and_then(|part| {
                match &part.body {
                    Body::Call(call) => call.id.as_ref(),
                    _ => None,
                }
            });
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
