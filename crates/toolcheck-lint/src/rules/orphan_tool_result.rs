use toolcheck_core::Level;
use toolcheck_core::ir::{Named, Role, ToolKind};
use toolcheck_core::pairing::{CallSite, PairedWith, ResultSite};

use super::missing_tool_call_id;
use crate::finding::Draft;
use crate::rule::{Context, Sink, declare_rule};
use crate::server_state::RemoteHistory;

declare_rule! {
    OrphanToolResult in Pairing, since "0.1.0", error (error in dataset) looks at [RESULTS], check,
    values PART, CALL_ID
}

/// How many calls of a turn are searched for one with the id of a result.
const SIBLINGS_LOOKED_AT: usize = 64;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // The call may be in what the server keeps.
    let is_known = |before: &RemoteHistory| before.knows_calls_of(&cx.pairing.results);
    if cx.transcript.request.continues_remote_state && !cx.continued.is_some_and(is_known) {
        return;
    }
    check_behind_gaps(cx, out);
    for site in cx.pairing.results.iter().filter(|site| site.paired_with == PairedWith::NoCall) {
        let id = site.result.call_id.as_ref();
        let instead = cx.pairing.stands_for(site);
        // A call with the id of another is reported as that.
        let is_duplicate = |call: &CallSite<'_, '_>| cx.pairing.first_of_same_id(call).is_some();
        if cx.target().needs_unique_ids() && instead.is_some_and(is_duplicate) {
            continue;
        }
        if site.result.unpaired.is_some()
            || missing_tool_call_id::is_refused(cx, site.result)
            || missing_tool_call_id::is_bound_by_name(cx, site.result)
            || cx.answers_text_call(site)
            || cx.pairing.may_answer_stored(site)
        {
            continue;
        }
        if id.is_some_and(|id| cx.continued.is_some_and(|before| before.has_call(&id.text))) {
            continue;
        }
        let before = site.turn.checked_sub(1);
        let has_calls = before.is_some_and(|turn| !cx.pairing.calls_of_turn(turn).is_empty());
        let is_of_other = instead.is_some_and(|call| has_id_of_sibling(cx, site, call));
        let what = if is_of_other { "has the id of another call" } else { "has no matching call" };
        let message = format!("tool result {} {what}", site.result.title());
        let finding = out.report(site.part.place, message);
        finding
            .about_result(site.result)
            .caption(if is_of_other { "the id of another call" } else { "no earlier call matches" })
            .help("remove the result, or restore the call it answers, with the same id")
            .at(cx, site)
            .value("id", Named::text_or_unknown(site.result.call_id.as_ref()))
            .value("kind", site.result.kind.unwrap_or_default().name());
        // A log that has no calls at all may have left them out.
        if id.is_none() && cx.policy.is_some() && cx.pairing.calls.is_empty() && !cx.is_training_example() {
            finding.at_most(Level::Warning);
        }
        if cx.transcript.details.refers_to_stored_calls() {
            finding.doubt("the call may be a stored item that the request refers to, but some report that only calls in the request itself count");
        }
        let is_alone = cx.transcript.messages.len() == 1;
        let is_after_assistant = before.is_some_and(|turn| cx.pairing.turns[turn].role == Role::Assistant);
        finding
            .add_cases(case_of(site.result.kind))
            .case_if(is_of_other, "sibling-id")
            .case_if(is_alone, "alone")
            .case_if(!is_alone && site.message_number == 0, "first-message")
            .case_if(instead.is_some(), "changed-id")
            .case_if(has_calls, "unknown-id")
            .case_if(!has_calls && is_after_assistant, "after-text");
        if let Some(role) = before.and_then(|turn| {
            let message = &cx.transcript.messages[cx.pairing.turns[turn].messages.start];
            message.role_name.as_ref()
        }) {
            finding.value("previous-role", &role.text);
        }
        if let Some(call) = instead {
            let what = match &call.call.id {
                Some(id) if id.instead.is_some() => "the id of this call is not a string",
                Some(id) if id.text.is_empty() => "the id of this call is empty",
                _ => "this call has no result",
            };
            finding.label(call.part.place, what).help(
                "use the same id on both sides: code that rewrites ids must change the call and its result",
            );
        }
    }
}

/// Checks the first results behind records that are lost, whose calls the agent does not find.
fn check_behind_gaps(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.first_sent();
    // The last turn that was looked at, and whether it has lost a result.
    let mut of_turn: Option<(usize, bool)> = None;
    let gaps = &cx.transcript.gaps;
    for (number, gap) in gaps.iter().enumerate() {
        let Some((site, call)) = cx.behind_gap(gap, &cx.pairing.results) else { continue };
        if gaps.get(number + 1).is_some_and(|next| next.message <= site.message_number) {
            continue;
        }
        // The result that was lost is reported as that.
        if of_turn.is_none_or(|(turn, _)| turn != call.turn) {
            let is_lost = |call: &CallSite<'_, '_>| {
                let is_settled = call.call.unpaired.is_some() || cx.pairing.has_stand_in(call);
                cx.pairing.answer_of(call).is_none() && !is_settled
            };
            of_turn = Some((call.turn, cx.pairing.calls_of_turn(call.turn).iter().any(is_lost)));
        }
        // So is one that comes too late.
        if site.turn != call.turn + 1 || of_turn.is_some_and(|(_, has_lost)| has_lost) {
            continue;
        }
        let finding =
            out.report(site.part.place, format!("tool result {} has no matching call", site.result.title()));
        finding.about_result(site.result).caption("sent without its call");
        if gap.message == last {
            say_sent_alone(cx, finding, site, "the record before this");
        }
        finding.label(call.part.place, "not sent: a record after it is lost");
    }
}

/// Says of a finding what the target answers to a result that is sent without its call, as `what` is lost.
pub(super) fn say_sent_alone(
    cx: &Context<'_, '_>,
    finding: &mut Draft,
    site: &ResultSite<'_, '_>,
    what: &str,
) {
    let agent = cx.next_request().map_or("the agent", |next| &next.name);
    let title = site.result.title();
    finding
        .help(format!(
            "{what} is lost, so {agent} does not read the call: the result {title} is sent without it"
        ))
        .case("first-message")
        .at(cx, site)
        .value("id", Named::text_or_unknown(site.result.call_id.as_ref()))
        .value("kind", site.result.kind.unwrap_or_default().name());
}

/// Whether a result has the id of another call of the turn of the one that it answers.
fn has_id_of_sibling(cx: &Context<'_, '_>, site: &ResultSite<'_, '_>, call: &CallSite<'_, '_>) -> bool {
    let mut siblings = cx.pairing.calls_of_turn(call.turn).iter().take(SIBLINGS_LOOKED_AT);
    site.result
        .call_id
        .as_ref()
        .is_some_and(|id| siblings.any(|other| other.call.id.as_ref().is_some_and(|own| own.text == id.text)))
}

/// The case of a result of this kind, if APIs answer it in words of its own.
fn case_of(kind: Option<ToolKind>) -> Option<&'static str> {
    match kind {
        None | Some(ToolKind::Function | ToolKind::Custom | ToolKind::Computer) => None,
        Some(ToolKind::LegacyFunction) => Some("legacy"),
        Some(ToolKind::Approval) => Some("approval"),
        Some(ToolKind::Shell) => Some("shell"),
        Some(_) => Some("other-kind"),
    }
}
