use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    EmptyToolCalls in Content, since "0.1.0", silent (silent in dataset) on wire, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        let Some(place) = message.empty_calls else { continue };
        out.report(place, "the message has an empty list of tool calls")
            .caption("empty")
            .help("omit the key if there are no calls")
            .at(cx, (number, message));
    }
}
