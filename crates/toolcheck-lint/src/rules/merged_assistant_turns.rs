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
    // A result that is lost leaves no border between the turns of some formats, and is reported by itself.
    let is_answered =
        |part: usize| cx.pairing.call_at(part).is_none_or(|site| cx.pairing.answer_of(site).is_some());
    let merged = cx.course.into_iter().flat_map(|course| &course.merged);
    for (first, second) in merged.filter(|(first, _)| is_answered(*first)) {
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
