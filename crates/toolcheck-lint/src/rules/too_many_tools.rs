use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    TooManyTools in Tools, since "0.1.0", silent looks at [TOOLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(tools) = &cx.transcript.request.tools.list else { return };
    if let Some(max) = cx.target().tools.max_strict {
        let mut strict = tools.iter().filter(|tool| tool.strict.is_some());
        let count = strict.clone().count();
        if let Some(first_over) = strict.nth(max) {
            out.report(
                first_over.place,
                format!("the request declares {count} strict tools, but the limit is {max}"),
            )
            .caption("one strict tool too many")
            .help("make a tool strict only if a wrong argument would do harm")
            .case("strict")
            .value("max", max)
            .value("count", count);
        }
    }
    let Some(max) = cx.target().tools.max else { return };
    let Some(first_over) = tools.get(max) else { return };
    out.report(
        first_over.place,
        format!("the request declares {} tools, but the limit is {max}", tools.len()),
    )
    .caption("one tool too many")
    .help("send only the tools that the task needs")
    .value("max", max)
    .value("length", tools.len());
}
