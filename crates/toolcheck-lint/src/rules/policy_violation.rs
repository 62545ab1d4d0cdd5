use toolcheck_core::text::shorten;
use toolcheck_json::Value;
use toolcheck_schema::{Fuel, Verdict};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;

declare_rule! {
    PolicyViolation in Arguments, since "0.1.0", error on call looks at [CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut buffers = arguments::Buffers::default();
    let length = cx.document.value(cx.transcript.place.node).raw().len();
    for policy in &cx.settings.policies {
        let mut fuel = Fuel::of_record(length);
        let mut is_unchecked_reported = false;
        for (part, call) in arguments::of_functions(cx, |tool| policy.tools.contains(tool)) {
            let check = |arguments: Value<'_, '_>| policy.schema.check(arguments, &mut fuel);
            let what = match arguments::with_object(cx, &call.arguments, &mut buffers, check) {
                None | Some(Verdict::Allowed) => continue,
                Some(Verdict::Violated) => match &policy.message {
                    Some(message) => format!("policy `{}`: {message}", shorten(&policy.id)),
                    None => format!("policy `{}` does not allow this call", shorten(&policy.id)),
                },
                // What is not checked is not clean. Once is enough: there may be many such calls.
                Some(Verdict::TooSlow | Verdict::TooLarge | Verdict::TooLong | Verdict::Unknown) => {
                    if !std::mem::replace(&mut is_unchecked_reported, true) {
                        let what = format!("checking policy `{}` takes too long", shorten(&policy.id));
                        out.report(part.place, format!("{what}, so this call is not checked"))
                            .about_call(call)
                            .at_most(policy.level)
                            .caption("this call is not checked")
                            .help("make the schema of the policy simpler");
                    }
                    continue;
                }
            };
            let place = arguments::place_of_violation(cx, call, &policy.schema);
            out.report(place.unwrap_or(part.place), what)
                .about_call(call)
                .at_most(policy.level)
                .caption("this violates the policy")
                .label(part.place, "in this call");
        }
    }
}
