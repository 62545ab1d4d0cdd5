use foldhash::HashSet;
use toolcheck_core::ir::{Body, Executor};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    UndeclaredServerTool in Tools, since "0.1.0", silent on wire looks at [SERVER_CALLS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let needed = &cx.target().tools.needed_in_history;
    let transcript = cx.transcript;
    // A bare list of messages doesn't show the tools, and a list of tools that is not read may contain any.
    if needed.is_empty() || !transcript.is_body || transcript.request.tools.count().is_none() {
        return;
    }
    let declared = transcript.request.tools.listed().iter().filter_map(|tool| tool.name.as_ref());
    let mut known: HashSet<&str> = declared.map(|name| &*name.text).collect();
    for (number, message, part) in transcript.sites() {
        let Body::Call(call) = &part.body else { continue };
        let Some(name) = call.name.as_ref().filter(|_| call.executor == Executor::Server) else {
            continue;
        };
        // One finding per tool, however often it was called.
        if needed.iter().any(|needed| *needed == name.text) && known.insert(&name.text) {
            let what = format!("server tool `{}` is called but not declared", shorten(&name.text));
            out.report(part.place, what)
                .about_call(call)
                .caption("called here")
                .help("declare the tool, or remove its calls and results from the history")
                .at(cx, (number, message, part))
                .value("name", shorten(&name.text));
        }
    }
}
