use toolcheck_core::ir::{Body, Executor, ToolKind};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MalformedServerCallId in Ids, since "0.1.0", silent on wire looks at [SERVER_CALLS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(pattern) = &cx.target().ids.server_pattern else { return };
    for (number, message, part) in cx.transcript.sites() {
        let Body::Call(call) = &part.body else { continue };
        // Calls of an MCP server have ids in another format.
        if call.executor != Executor::Server || call.kind != ToolKind::BuiltIn {
            continue;
        }
        let Some(id) = call.id.as_ref().filter(|id| !pattern.is_match(&id.text)) else { continue };
        let title = call.title();
        out.report(
            id.place,
            format!("server tool call {title} has an id that the provider cannot have generated"),
        )
        .about_call(call)
        .caption("this id")
        .help("keep the ids unchanged, and replay calls that another provider ran as text")
        .at(cx, (number, message, part))
        .value("id", &id.text)
        .value("pattern", pattern.as_str());
    }
}
