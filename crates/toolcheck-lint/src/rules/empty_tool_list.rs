use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    EmptyToolList in Tools, since "0.1.0", silent (silent in dataset) on wire looks at [TOOLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let (Some(tools), Some(place)) = (&cx.transcript.request.tools.list, cx.transcript.request.tools.place)
    else {
        return;
    };
    // If the target needs the definitions of the tools that are called, their absence is the problem to report.
    let is_missed = || {
        cx.transcript.counts().0 > 0 && cx.entry(&super::missing_tool_definitions::RULE, None).is_refused()
    };
    // Tools that are not known are reported as that.
    let has_others = || cx.shape_faults().has_unknown_element(cx.document.value(place.node));
    if tools.is_empty() && !has_others() && !is_missed() {
        out.report(place, "the list of tools is empty")
            .caption("empty")
            .help("omit the key if there are no tools");
    }
}
