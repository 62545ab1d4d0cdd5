use toolcheck_core::ir::{Call, Part};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MergedAssistantTurns in Order, since "0.1.0", warning looks at [EXCHANGE], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let call = |part: &usize| -> Option<(&Part<'_>, &Call<'_>)> {
        let part = cx.transcript.parts.get(*part)?;
        Some((part, part.call()?))
    };
    for (first, second) in cx.course.into_iter().flat_map(|course| &course.merged) {
        let (Some((first, of_first)), Some((second, of_second))) = (call(first), call(second)) else {
            continue;
        };
        let message = format!(
            "the model called {} after it had seen the result of {}, but the history has both calls in one turn",
            of_second.title(),
            of_first.title()
        );
        out.report(second.place, message)
            .about_call(of_second)
            .caption("called in a later response")
            .label(first.place, "called before")
            .help("keep each response as a message of its own, with its results directly after it");
    }
}
