use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    FirstMessageRole in Order, since "0.1.0", silent, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let messages = cx.transcript.messages_with_parts().enumerate();
    let Some((number, (message, parts))) =
        messages.into_iter().find(|(_, (message, _))| message.role != Role::System)
    else {
        return;
    };
    // An item of a kind that is not known may be anyone's.
    let is_unread = parts
        .first()
        .is_some_and(|part| matches!(part.body, Body::Opaque) && part.place.node == message.place.node);
    // What the server keeps comes before it.
    if message.role != Role::Assistant || is_unread || cx.transcript.request.continues_remote_state {
        return;
    }
    let finding = out.report(message.place, "the conversation starts with a message from the model");
    finding
        .caption("the first message")
        .help("start with a user message, and truncate histories at turn boundaries")
        .at(cx, (number, message))
        .case_if(cx.transcript.messages.len() == 1, "alone")
        .case_if(parts.iter().any(|part| matches!(part.body, Body::Call(_))), "call")
        .case_if(!cx.transcript.messages.iter().any(|message| message.role == Role::User), "no-user");
    let calls = cx.pairing.calls.iter().take_while(|call| call.message_number == number);
    if let Some(call) = calls.into_iter().find(|call| cx.pairing.answer_of(call).is_some()) {
        finding.case("call-answered").value("id", call.call.id.as_ref().map_or("None", |id| &*id.text));
    }
}
