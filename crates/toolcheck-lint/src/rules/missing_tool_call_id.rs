use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::formats;
use toolcheck_core::ir::{ToolKind, ToolResult};
use toolcheck_core::pairing::{CallSite, ResultSite};
use toolcheck_core::readers::SourceKind;
use toolcheck_core::targets::Verdict;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MissingToolCallId in Ids, since "0.1.0", silent on wire looks at [CALLS, RESULTS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // Chat templates pair by position, so that an example none of whose results has an id is written so on purpose.
    // Calls may have one all the same, as in Nemotron-Agentic-v1.
    let has_ids = cx.pairing.results.iter().any(|site| site.result.call_id.is_some());
    let are_unnamed = !cx.pairing.results.is_empty() && !has_ids;
    if cx.is_training_example() && cx.named_target.is_none() && are_unnamed {
        return;
    }
    let help = "give the call an id, and its result the same id";
    // What nobody sends may be without ids, and is written so on purpose unless its other calls and results have them. What a
    // framework keeps has them always.
    let is_refused = || cx.entry(&RULE, Some("call")).is_refused();
    let is_sent = cx.policy.is_none() || cx.is_sent_next(&RULE) && is_refused();
    let is_kept = || cx.policy.is_some_and(|policy| std::ptr::eq(policy, SourceKind::History.policy()));
    if !is_sent && !is_kept() && !has_pair_with_ids(cx) {
        return;
    }
    let result_has_id = |call: &CallSite<'_, '_>| {
        cx.pairing.answer_of(call).is_some_and(|site| site.result.call_id.is_some())
    };
    for call in cx.pairing.calls.iter().filter(|call| call.call.id.is_none() && needs_id(call.call.kind)) {
        // An example that has lost the only result of such a call lacks that.
        let is_lost = cx.is_training_example()
            && cx.named_target.is_none()
            && cx.pairing.results.is_empty()
            && !(call.turn + 1 == cx.pairing.turns.len() && cx.pairing.reaches_end_of_turn(call));
        if !is_sent && !result_has_id(call) || is_lost {
            continue;
        }
        let name = call
            .call
            .name
            .as_ref()
            .map(|name| format!(" to `{}`", toolcheck_core::text::shorten(&name.text)));
        let message = format!("a tool call{} has no id", name.unwrap_or_default());
        let finding = out.report(call.part.place, message);
        finding.about_call(call.call).caption("no id").case("call").help(help).at(cx, call);
        if let Some(result) = cx.pairing.answer_of(call) {
            finding.value("id", result.result.call_id.as_ref().map_or("None", |id| &*id.text));
            finding.label(result.part.place, "its result, by position");
        }
    }
    // How many calls of the last turn no result names.
    let mut unnamed: Option<(usize, usize)> = None;
    for site in cx
        .pairing
        .results
        .iter()
        .filter(|site| site.result.call_id.is_none() && site.result.kind.is_none_or(needs_id))
    {
        let call = site.paired_with.call().map(|number| &cx.pairing.calls[number]);
        let is_bare = |call: &CallSite<'_, '_>| call.call.id.is_none();
        if call.map_or(!is_sent, is_bare) || cx.answers_text_call(site) {
            continue;
        }
        let finding = out.report(site.part.place, "a tool result has no call id");
        finding.about_result(site.result).caption("no id").case("result").help(help).at(cx, site);
        if let Some(call) = call {
            finding.label(call.part.place, "the call it would answer, by position");
            if unnamed.is_none_or(|(turn, _)| turn != call.turn) {
                unnamed = Some((call.turn, unnamed_calls(cx, call.turn)));
            }
            finding.fix(with_id_of(cx, site, call, unnamed == Some((call.turn, 1))));
        }
    }
}

/// Whether a call and its result both have an id.
fn has_pair_with_ids(cx: &Context<'_, '_>) -> bool {
    let has_id = |call: usize| cx.pairing.calls[call].call.id.is_some();
    let mut named = cx.pairing.results.iter().filter(|site| site.result.call_id.is_some());
    named.any(|site| site.paired_with.call().is_some_and(has_id))
}

/// Some kinds are paired in other ways: by position, or by the item that they come with.
fn needs_id(kind: ToolKind) -> bool {
    !matches!(kind, ToolKind::LegacyFunction | ToolKind::ToolSearch)
}

/// Whether the target refuses a result of a request because it has no id, whatever it answers.
pub(super) fn is_refused(cx: &Context<'_, '_>, result: &ToolResult<'_>) -> bool {
    cx.is_request()
        && result.call_id.is_none()
        && result.kind.is_none_or(needs_id)
        && cx.entry(&RULE, Some("result")).is_refused()
}

/// Whether the API binds a result without an id by the name of its tool, also to no call at all.
pub(super) fn is_bound_by_name(cx: &Context<'_, '_>, result: &ToolResult<'_>) -> bool {
    result.call_id.is_none()
        && result.name.is_some()
        && matches!(cx.entry(&RULE, Some("result")), Verdict::Tolerated(_))
}

/// A result with the id of the call that it answers by its position, if it is the first one.
fn with_id_of(
    cx: &Context<'_, '_>,
    site: &ResultSite<'_, '_>,
    call: &CallSite<'_, '_>,
    is_only: bool,
) -> Option<Fix> {
    let fix_style = formats::find(cx.transcript.format?.id)?.fix_style;
    let key = fix_style.result_id?;
    let id = cx.document.value(call.call.id.as_ref()?.place.node).as_str()?;
    let object = fix_style.own(cx.document.value(site.part.place.node));
    if !cx.pairing.is_first_answer(site) || object.has_key(key) {
        return None;
    }
    let id = serde_json::to_string(&id).ok()?;
    let change = [Change::Add(object.id(), key.to_owned(), id)];
    Some(match is_only {
        true => Fix::safe(change),
        false => Fix::guess("the result may belong to another call of its turn", change),
    })
}

/// How many calls of a turn no result names by its id.
fn unnamed_calls(cx: &Context<'_, '_>, turn: usize) -> usize {
    let answer = |call: &CallSite<'_, '_>| cx.pairing.answer_of(call);
    let is_unnamed = |call: &&CallSite<'_, '_>| answer(call).is_none_or(|site| site.result.call_id.is_none());
    cx.pairing.calls_of_turn(turn).iter().filter(is_unnamed).count()
}
