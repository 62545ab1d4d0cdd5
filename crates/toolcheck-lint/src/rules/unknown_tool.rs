use foldhash::HashSet;
use toolcheck_core::ir::{Body, Executor, ToolDef, ToolKind};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::tools;

declare_rule! {
    UnknownTool in Tools, since "0.1.0", warning (error in dataset) on call looks at [CALLS], check
}

/// The most unknown names that are compared with those of the tools.
const MOST_COMPARED: usize = 32;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = &cx.transcript.request.tools;
    // Without any definition, another rule applies, or the transcript doesn't show them.
    if tools.declared().next().is_none() && cx.definitions().next().is_none() {
        return;
    }
    let mut known: HashSet<&str> = cx.definitions_called().map(|tool| &*tool.name).collect();
    // A client tool without a name may be the one that is called.
    let is_nameless = |tool: &ToolDef<'_>| {
        tool.executor == Executor::Client && tool.name.as_ref().is_none_or(|name| name.instead.is_some())
    };
    // So may one behind the end of a text that is cut off in the tools.
    let last = cx.transcript.messages.last().map(|message| message.place.span.start);
    let is_cut = cx.ends_inside(cx.transcript.place)
        && tools.declared().last().is_some_and(|tool| Some(tool.place.span.start) > last);
    if tools.hides_some || tools.declared().any(is_nameless) || is_cut {
        return;
    }
    namespaces(cx, out);
    let declared = tools.declared().filter_map(|tool| tool.name.as_ref());
    let changed = tools.changes.iter().filter_map(|change| change.tool.as_ref());
    known.extend(declared.chain(&tools.references).chain(changed).map(|name| &*name.text));
    let mut found = 0;
    for part in &cx.transcript.parts {
        let Body::Call(call) = &part.body else { continue };
        // A name that is not a string is reported by another rule.
        // In rows, a call in a notation of its own may be of what a program has built in.
        let is_of_client = call.executor == Executor::Client && cx.transcript.format.is_some();
        let is_custom = call.kind == ToolKind::Custom && is_of_client;
        let is_named = call.is_of_function() || is_custom;
        let name = call.name.as_ref().filter(|name| is_named && name.instead.is_none());
        let Some(name) = name else { continue };
        // One finding per tool, however often it is called.
        if !known.insert(&name.text) {
            continue;
        }
        // A name that is empty, malformed or cut off is reported by other rules.
        let pattern = cx.target().names.pattern.as_ref();
        let is_malformed =
            name.text.is_empty() || pattern.is_some_and(|pattern| !pattern.is_match(&name.text));
        if !is_malformed && !cx.is_cut_off_in(name.place) {
            found += 1;
            let meant = if found <= MOST_COMPARED { tools::meant(cx, &name.text) } else { None };
            out.report(part.place, format!("tool `{}` is called but not declared", shorten(&name.text)))
                .about_call(call)
                .caption("called here")
                .help(match meant {
                    Some(meant) => format!("did you mean `{}`?", shorten(meant)),
                    None => {
                        "declare the tool, or rename it in the history to match its definition".to_owned()
                    }
                });
        }
    }
}

/// Calls of declared tools in a namespace that is not.
fn namespaces(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut known = HashSet::default();
    for name in &cx.transcript.details.unknown_namespaces {
        // One finding per namespace.
        if known.insert(&*name.text) {
            out.report(name.place, "no tool is declared in this namespace".to_owned())
                .caption("this namespace")
                .help("write the namespace that the tool is declared in");
        }
    }
}
