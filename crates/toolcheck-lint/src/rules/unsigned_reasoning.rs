use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Executor, Named, Role, Signature};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    UnsignedReasoning in Reasoning, since "0.1.0", silent (silent in dataset) on wire looks at [REASONING, CALLS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, message, part) in cx.transcript.sites() {
        let Body::Reasoning(reasoning) = &part.body else { continue };
        let cases: &[&'static str] = match reasoning.signature {
            Signature::Missing => &["missing"],
            Signature::Empty => &["empty"],
            Signature::Null => &["null", "empty"],
            Signature::Present => continue,
        };
        if reasoning.is_redacted {
            continue;
        }
        let finding = out.report(part.place, "reasoning has no signature");
        let value = cx.document.value(part.place.node);
        let lost = format!("the reasoning, {} bytes", value.raw().len());
        finding.fix(Fix::lossy(lost, [Change::Remove(part.place.node)]));
        finding
            .caption("unsigned")
            .help("send reasoning back unchanged, or remove it")
            .add_cases(cases.iter().copied())
            .at(cx, (number, message, part));
    }
    // In most formats no call has a signature: a finding for each would cost too much.
    if cx.entry(&RULE, Some("call")).is_harmful() {
        unsigned_calls(cx, out);
    }
}

/// The first call of each step of the current turn has the signature; the other calls and earlier turns don't need one.
fn unsigned_calls(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let messages = &cx.transcript.messages;
    let is_result = |number: usize| {
        let parts = cx.transcript.parts_of(&messages[number]);
        parts.iter().any(|part| matches!(part.body, Body::Result(_)))
    };
    let speaks = |number: &usize| messages[*number].role == Role::User && !is_result(*number);
    let current = (0..messages.len()).rev().find(speaks).unwrap_or(0);
    for (number, message) in messages.iter().enumerate().skip(current) {
        // The calls of a split turn belong to the call before them; the split is reported by another rule.
        if number > 0 && messages[number - 1].role == Role::Assistant && message.role == Role::Assistant {
            continue;
        }
        let calls = cx.transcript.parts_of(message).iter().filter_map(|part| Some((part, part.call()?)));
        let first = calls.into_iter().find(|(_, call)| call.executor == Executor::Client);
        let Some((part, call)) = first.filter(|(_, call)| call.signature != Signature::Present) else {
            continue;
        };
        let name = Named::text_or_unknown(call.name.as_ref());
        out.report(
            part.place,
            format!("the call to `{}` has no reasoning signature", toolcheck_core::text::shorten(name)),
        )
        .about_call(call)
        .caption("unsigned")
        .help("send calls back with the signature they came with")
        .case("call")
        .at(cx, (number, message, part))
        .value("name", name);
    }
}
