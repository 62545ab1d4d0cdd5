use std::cell::LazyCell;

use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::missing_reasoning;

declare_rule! {
    MisplacedReasoning in Reasoning, since "0.1.0", silent (silent in dataset) on wire looks at [REASONING], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.messages.iter().rposition(|message| message.role == Role::Assistant);
    let beginning = LazyCell::new(|| missing_reasoning::must_begin(cx));
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        let is_reasoning = |body: &Body<'_>| matches!(body, Body::Reasoning(_));
        let Some(first) = parts.iter().find(|part| is_reasoning(&part.body)) else { continue };
        let ends = parts.last().filter(|part| is_reasoning(&part.body));
        let begins = parts.first().is_some_and(|part| is_reasoning(&part.body));
        let (part, case, what) = if message.role == Role::User {
            (first, "user", "a message of the user has reasoning")
        } else if message.role != Role::Assistant {
            continue;
        } else if cx.transcript.request.reasoning == Some(false) && Some(number) == last {
            (first, "disabled", "reasoning is sent back, but the request turns reasoning off")
        } else if let Some(part) = ends {
            (part, "last", "an assistant message ends with reasoning")
        } else if begins {
            continue;
        } else if matches!(parts[0].body, Body::Text(_)) && *beginning == Some(number) {
            (&parts[0], "turn", "reasoning does not come first in the model's current turn")
        } else {
            (first, "not-first", "reasoning does not come first in its message")
        };
        // What holds for messages of the model says nothing of others.
        if case == "user" && !cx.entry(&RULE, Some(case)).is_harmful() {
            continue;
        }
        let finding = out.report(part.place, what);
        finding
            .caption(if case == "turn" { "the reasoning should come before this" } else { "reasoning" })
            .help("send assistant messages back unchanged")
            .case(case)
            .case_if(case == "turn", "not-first")
            .at(cx, (number, message, part));
    }
}
