use toolcheck_core::ir::Body;
use toolcheck_core::text;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::{Change, MatchedCall, PastCall};
use crate::view::failure::{is_failed, tells_of_parser, tells_trouble};

declare_rule! {
    RanUnfinishedArguments in Arguments, since "0.1.0", error looks at [ANSWER], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|kept| !kept.is_later) else { return };
    for (given, stored) in kept.calls_kept().filter(|(given, stored)| has_run(cx, given, stored)) {
        let site = cx.pairing.call_at(stored.part).and_then(|call| cx.pairing.answer_of(call));
        let (Some(site), Body::Call(call)) = (site, &cx.transcript.parts[stored.part].body) else { continue };
        let why = if kept.answer.is_whole { "are not JSON" } else { "were cut off" };
        let finding = out.report(
            site.part.place,
            format!(
                "the tool ran for tool call {}, although its arguments {why} in the response",
                call.title()
            ),
        );
        finding.about_call(call).caption("its result").help(
            "do not run a call whose arguments do not parse or whose response was cut off: answer it with an error, or \
             ask the model again",
        );
        finding.label(cx.transcript.parts[stored.part].place, "the call in the history");
        finding.label_at(given.call.place, given.spot.clone(), "the call in the response");
        finding.say().tool_name = given.call.name.as_deref().map(text::kept);
    }
}

/// Whether a tool ran for a call that the model did not finish.
pub(super) fn has_run(cx: &Context<'_, '_>, given: &PastCall, stored: &MatchedCall) -> bool {
    // What was repaired without a loss had only been written in another way.
    let is_repaired = !given.is_cut && stored.change == Change::Same && stored.meaning != given.meaning();
    if !given.is_unfinished || is_repaired || stored.is_renamed {
        return false;
    }
    let Some(site) = cx.pairing.call_at(stored.part).and_then(|call| cx.pairing.answer_of(call)) else {
        return false;
    };
    let Some(content) = site.result.content_place.map(|place| cx.document.value(place.node)) else {
        return false;
    };
    let is_blank = content.as_str().is_some_and(|text| text.trim().is_empty());
    let text = content.raw();
    !is_blank && !is_failed(cx, site.result) && !tells_trouble(text) && !tells_of_parser(text)
}
