use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Content, Executor, Part, Role};

use super::empty_content::{is_content, is_empty_but_for_role};
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    TrailingAssistant in Order, since "0.1.0", silent, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some((message, parts)) = cx.transcript.messages_with_parts().last() else { return };
    if message.role != Role::Assistant || message.is_prefix || !cx.is_request() {
        return;
    }
    // Calls without results and results in a message of the model are reported by other rules, and a call to a server
    // tool is resumed like this.
    let is_other_fault = |part: &Part<'_>| match &part.body {
        Body::Call(_) => true,
        Body::Result(result) => result.executor == Executor::Client,
        _ => false,
    };
    if parts.iter().any(is_other_fault) {
        return;
    }
    let finding = out.report(message.place, "the request ends with an assistant message");
    let says_nothing = message.content != Content::Filled && !parts.iter().any(is_content);
    if says_nothing && is_empty_but_for_role(cx, message) && cx.transcript.messages.len() > 1 {
        finding.fix(Fix::safe([Change::Remove(message.place.node)]));
    }
    finding
        .caption("the last message")
        .case_if(message.content == Content::EmptyList, "empty-list")
        .case_if(cx.transcript.messages.len() == 1, "alone")
        .help("end with a user message, or with the results of the calls")
        .at(cx, (cx.transcript.messages.len() - 1, message));
}
