use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MisplacedPrefix in Order, since "0.1.0", silent on wire, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.messages.len().saturating_sub(1);
    for (number, message) in cx.transcript.messages.iter().enumerate().take(last) {
        if message.is_prefix {
            out.report(message.place, "a message marked as a prefix is not the last message")
                .caption("marked as a prefix")
                .help("remove the key once the model has continued the message")
                .at(cx, (number, message));
        }
    }
}
