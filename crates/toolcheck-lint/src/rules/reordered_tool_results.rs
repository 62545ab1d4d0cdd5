use std::cell::OnceCell;

use foldhash::HashSet;
use toolcheck_core::pairing::{CallSite, Pairing, ResultSite};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    ReorderedToolResults in Order, since "0.1.0", silent looks at [RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    let declared: OnceCell<HashSet<&str>> = OnceCell::new();
    let mut reported = None;
    let mut last: Option<usize> = None;
    for site in pairing.results.iter().filter(|site| pairing.is_first_answer(site)) {
        let Some(call) = site.paired_with.call() else { continue };
        let call = &pairing.calls[call];
        let before = last.replace(call.number).map(|number| &pairing.calls[number]);
        let Some(before) = before.filter(|before| before.turn == call.turn && before.number > call.number)
        else {
            continue;
        };
        // One that is late is reported as that.
        if !pairing.is_in_place(call, site) {
            continue;
        }
        // A turn in the wrong order is one problem.
        if reported.replace(call.turn) == Some(call.turn) {
            continue;
        }
        // Without ids, one wrong name or one call too few moves all results after it.
        let names = || {
            let names = cx.transcript.request.tools.declared().filter_map(|tool| tool.name.as_ref());
            declared.get_or_init(|| names.map(|name| &*name.text).collect())
        };
        if site.result.call_id.is_none() && !all_match(pairing, names(), call, site) {
            continue;
        }
        out.report(
            site.part.place,
            format!("tool result {} comes after the result of a later call", site.result.title()),
        )
        .about_call(call.call)
        .caption("this result")
        .label(call.part.place, "its call")
        .label(before.part.place, "called later, answered earlier")
        .help("put the results in the order of their calls");
    }
}

/// Whether all calls of a turn are to tools that are declared, as far as any are, and all results after it answer one.
fn all_match(
    pairing: &Pairing<'_, '_>,
    names: &HashSet<&str>,
    call: &CallSite<'_, '_>,
    site: &ResultSite<'_, '_>,
) -> bool {
    let is_known = |call: &CallSite<'_, '_>| {
        call.call.name.as_ref().is_some_and(|name| names.is_empty() || names.contains(&*name.text))
    };
    pairing.calls_of_turn(call.turn).iter().all(is_known)
        && pairing.results_of_turn(site.turn).iter().all(|site| site.paired_with.call().is_some())
}
