use foldhash::HashSet;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::server_pairs::halves;

declare_rule! {
    MissingContainer in Tools, since "0.1.0", silent on wire looks at [SERVER_CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let transcript = cx.transcript;
    // A bare list of messages doesn't show the rest of the request.
    if transcript.details.programmatic_calls.is_empty()
        || transcript.request.container.is_some()
        || !transcript.is_body
    {
        return;
    }
    let running = halves(transcript).0;
    let running: HashSet<&str> =
        running.iter().filter_map(|half| half.is.id.as_ref()).map(|id| &*id.text).collect();
    let mut calls = transcript.details.programmatic_calls.iter();
    if let Some(call) = calls.find(|call| running.contains(&*call.program.text)) {
        out.report(
            call.place,
            "a program is waiting for the result of this call, but the request names no container",
        )
        .caption("called by a program")
        .label(call.program.place, "the program that made the call")
        .help("set `container` to the id that came with the response");
    }
}
