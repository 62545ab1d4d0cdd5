use toolcheck_core::ir::{Body, Executor, Part, Role};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::id_list;

declare_rule! {
    MixedContent in Order, since "0.1.0", silent on wire looks at [CALLS, RESULTS, SERVER_CALLS, SERVER_RESULTS], check,
    values CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        let has_tools = parts.iter().any(|part| matches!(part.body, Body::Call(_) | Body::Result(_)));
        let is_other = |body: &Body<'_>| match body {
            Body::Text(text) => !text.string.is_empty(),
            Body::Media => true,
            _ => false,
        };
        // What the provider has run is answered before the text.
        let is_of_client =
            |part: &Part<'_>| matches!(&part.body, Body::Call(call) if call.executor == Executor::Client);
        let Some(other) = parts.iter().find(|part| is_other(&part.body)).filter(|_| has_tools) else {
            continue;
        };
        let is_of_model = message.role == Role::Assistant;
        let first_call = parts.iter().position(is_of_client).filter(|_| is_of_model);
        let after_call = first_call.and_then(|first| parts[first..].iter().find(|part| is_other(&part.body)));
        let (case, what) = if is_of_model {
            ("text-beside-calls", "a message contains text beside its tool calls")
        } else {
            ("content-beside-results", "a message contains other content beside its tool results")
        };
        let first_result = parts.iter().position(|part| matches!(part.body, Body::Result(_)));
        let is_after_result = first_result
            .is_some_and(|first| !is_of_model && parts[first..].iter().any(|part| is_other(&part.body)));
        let first_call = first_call.map(|first| parts[first].place);
        let finding = match after_call.zip(first_call) {
            Some((text, call)) => out
                .report(text.place, "a message contains text after its tool calls")
                .caption("after a call")
                .label(call, "the call before it")
                .help("put the text before the calls"),
            None => out
                .report(message.place, what)
                .caption("this message")
                .label(other.place, "not a call or result")
                .help("remove the text, or move it to a separate message"),
        };
        let calls = parts.iter().filter_map(|part| part.call()?.id.as_ref());
        finding
            .case(case)
            .case_if(after_call.is_some(), "text-behind-calls")
            .case_if(is_after_result, "content-behind-results")
            .value("ids", id_list(calls));
        if cx.pairing.knows_index(number) {
            let index = message.index + u32::from(after_call.is_some());
            finding.value("index", index).value("member", index + 1);
        }
    }
}
