use foldhash::HashSet;
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    UnknownToolReference in Tools, since "0.1.0", silent on wire looks at [TOOLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let (transcript, declared) = (cx.transcript, &cx.transcript.request.tools);
    // A bare list of messages, or a list of tools that is not read, doesn't show what is declared.
    let declares_none = transcript.is_body && declared.count() == Some(0);
    let tools = match &declared.list {
        Some(tools) => tools.as_slice(),
        None if declares_none => &[],
        None => return,
    };
    if declared.references.is_empty() && declared.changes.is_empty() {
        return;
    }
    // The tools of an MCP server are declared by the server, not by name.
    let mut known: HashSet<&str> = HashSet::default();
    for tool in tools {
        let Some(name) = &tool.name else { return };
        known.insert(&name.text);
    }
    let added = declared.added.iter().filter_map(|tool| tool.name.as_ref());
    known.extend(added.map(|name| &*name.text));
    let found = declared.references.iter().map(|name| (name, "search"));
    let changed = declared.changes.iter().filter_map(|change| change.tool.as_ref());
    for (name, case) in found.chain(changed.map(|name| (name, "tool-change"))) {
        // One finding per tool, however many references there are.
        if known.insert(&name.text) {
            out.report(name.place, format!("tool `{}` is referenced but not declared", shorten(&name.text)))
                .caption("not a declared tool")
                .help("declare the tool, or remove the reference")
                .case(case)
                .value("name", &name.text)
                .about_tool(&name.text);
        }
    }
}
