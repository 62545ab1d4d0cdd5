use std::cell::OnceCell;

use foldhash::HashSet;
use toolcheck_core::ir::ToolDef;

use super::invalid_tool_name;
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    ToolNameMismatch in Pairing, since "0.1.0", warning looks at [RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let (tools, names) = (&cx.transcript.request.tools, &cx.target().names);
    let declared: OnceCell<HashSet<&str>> = OnceCell::new();
    for site in cx.pairing.results.iter().filter(|site| cx.pairing.is_first_answer(site)) {
        let Some(call) = site.paired_with.call().map(|number| &cx.pairing.calls[number]) else { continue };
        let (Some(labelled), Some(called)) = (&site.result.name, &call.call.name) else { continue };
        // A name that is empty or not a string is reported by other rules.
        let is_text = labelled.instead.is_none() && called.instead.is_none();
        if labelled.text == called.text || labelled.text.is_empty() || !is_text {
            continue;
        }
        // The name of the call is the mistake, and is reported as that.
        if names.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&called.text)) {
            continue;
        }
        let is_reported = !called.text.is_empty() && !tools.hides_some
            || called.text.is_empty() && invalid_tool_name::reports_empty(cx);
        let in_text = || cx.definitions().map(|tool| &*tool.name);
        let declared =
            || declared.get_or_init(|| tools.declared().filter_map(name_of).chain(in_text()).collect());
        if is_reported && declared().contains(&*labelled.text) && !declared().contains(&*called.text) {
            continue;
        }
        let (labelled, called) =
            (toolcheck_core::text::shorten(&labelled.text), toolcheck_core::text::shorten(&called.text));
        out.report(
            site.part.place,
            format!("the result is labelled `{labelled}`, but the call was to `{called}`"),
        )
        .about_call(call.call)
        .caption("the result")
        .label(call.part.place, "the call")
        .help("use the name of the tool that was called");
    }
}

fn name_of<'t>(tool: &'t ToolDef<'_>) -> Option<&'t str> {
    tool.name.as_ref().map(|name| &*name.text)
}
