use toolcheck_core::pairing::CallSite;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;
use crate::view::failure::{is_failed, stands_for_none};

declare_rule! {
    RepeatedFailingCall in Agents, since "0.1.0", warning looks at [RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let arguments = |call: &CallSite<'_, '_>| arguments::hash(&call.call.arguments, cx.document);
    let mut first: Option<&CallSite<'_, '_>> = None;
    let mut count = 0;
    for call in &cx.pairing.calls {
        let failed = cx.pairing.answer_of(call).filter(|site| is_failed(cx, site.result));
        if failed.is_none_or(|site| stands_for_none(cx, site.result)) {
            (first, count) = (None, 0);
            continue;
        }
        let is_same = first.is_some_and(|first| {
            let names = [first, call].map(|call| call.call.name.as_ref().map(|name| &*name.text));
            names[0] == names[1] && arguments(first) == arguments(call)
        });
        if !is_same {
            (first, count) = (Some(call), 0);
        }
        count += 1;
        // One run of failures is one problem, reported at the call that makes it too long.
        if let Some(first) = first.filter(|_| count == cx.settings.failures_in_a_row) {
            out.report(call.part.place, format!("the same call failed {count} times in a row"))
                .about_call(call.call)
                .caption("fails again")
                .label(first.part.place, "failed here first")
                .help("stop the loop, or return an error that tells the model what to do instead");
        }
    }
}
