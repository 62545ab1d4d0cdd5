use std::cell::LazyCell;

use foldhash::HashSet;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Named, Place, ToolKind};
use toolcheck_core::pairing::{CallSite, PairedWith, ResultSite};
use toolcheck_core::text::{self, shorten};

use super::orphan_tool_result;
use crate::finding::Draft;
use crate::rule::{Context, Sink, declare_rule};
use crate::server_state::PendingCall;
use crate::view::{MOST_IDS, id_list};

declare_rule! {
    UnansweredToolCall in Pairing, since "0.1.0", error (error in dataset) looks at [CALLS, KEPT], check,
    values NEXT_MESSAGE, CALL_ID, CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    let said_last = LazyCell::new(|| said_last(cx));
    // The ids that the provider's error names: the same for all calls of a turn.
    let mut of_turn = (usize::MAX, String::new());
    // The first call that is not reported with one before it.
    let mut next = 0;
    for call in &pairing.calls {
        let mislabelled = mislabelled_result(cx, call);
        let is_answered =
            pairing.answer_of(call).is_some() && mislabelled.is_none() || pairing.has_stand_in(call);
        // A call whose id its turn has already used is reported as that, whatever its result.
        let is_duplicate = cx.target().needs_unique_ids() && pairing.first_of_same_id(call).is_some();
        let is_open = || is_pending(cx, call) && said_last.is_none_or(|said| said < call.part_number);
        // Its result may be missing at the end of a text that is cut off.
        let is_cut = || {
            let next = cx.transcript.messages.get(pairing.turns[call.turn].messages.end);
            next.is_some_and(|next| cx.ends_inside(next.place))
        };
        if call.number < next || is_answered || is_duplicate || call.call.unpaired.is_some() || is_cut() {
            continue;
        }
        let siblings = pairing.results_of_turn(call.turn + 1);
        let alone = cx.transcript.gaps.last().and_then(|gap| cx.behind_gap(gap, siblings));
        if alone.is_none() && is_open() {
            continue;
        }
        if of_turn.0 != call.turn {
            let calls = pairing.calls_of_turn(call.turn).iter();
            let is_missing = |call: &CallSite<'_, '_>| {
                pairing.answer_of(call).is_none() || mislabelled_result(cx, call).is_some()
            };
            let missing = calls.filter(|call| is_missing(call));
            of_turn = (call.turn, id_list(missing.filter_map(|call| call.call.id.as_ref())));
        }
        let after = pairing.turns[call.turn].messages.end;
        let id = call.call.id.as_ref().map(|id| &*id.text);
        let asked = if alone.is_some() { &orphan_tool_result::RULE } else { &RULE };
        let mut message = format!("tool call {} has no result", call.call.title());
        let others = mislabelled.map_or(&[][..], |role| with_same_role(cx, call, role));
        if !others.is_empty() {
            next = call.number + 1 + others.len();
            message = format!("tool call {} and {} others have no result", call.call.title(), others.len());
        }
        let finding = out.report_as(asked, call.part.place, message);
        finding.about_call(call.call).caption("called here, never answered");
        if let Some((alone, _)) = alone {
            finding.label(alone.part.place, what_is_answered(cx, call, siblings));
            orphan_tool_result::say_sent_alone(cx, finding, alone, "the record of its result");
            continue;
        }
        finding
            .help("add one result per call right after the calls; a tool that failed or was cancelled needs one too")
            .value("ids", &of_turn.1)
            .value("id", id.unwrap_or("?"))
            .value("kind", call.call.kind.name());
        if let Some(next) = cx.transcript.messages.get(after) {
            finding.at(cx, (after, next));
        } else if pairing.knows_index(after.saturating_sub(1)) {
            finding.value("index", call.message.index + 1).value("member", call.message.index + 2);
        }
        let kind = match call.call.kind {
            ToolKind::Function | ToolKind::Custom | ToolKind::Computer => None,
            ToolKind::LegacyFunction => Some("legacy"),
            _ => Some("other-kind"),
        };
        let is_at_end = after == cx.transcript.messages.len() && pairing.reaches_end_of_turn(call);
        finding
            .add_cases(kind)
            .case_if(siblings.len() >= pairing.calls_of_turn(call.turn).len(), "counted")
            .case_if(call.message_number == 0, "first-message")
            .case_if(siblings.is_empty(), "no-results")
            .case_if(is_at_end, "at-end")
            .case_if(id.is_none(), "no-id");
        say_where(cx, finding, call, mislabelled.map(|role| (role, others)));
    }
    check_kept(cx, out);
}

/// Says where the result of a call should be, or which role it and those of others have in place of its own.
fn say_where(
    cx: &Context<'_, '_>,
    finding: &mut Draft,
    call: &CallSite<'_, '_>,
    mislabelled: Option<(&Named<'_>, &[CallSite<'_, '_>])>,
) {
    let siblings = cx.pairing.results_of_turn(call.turn + 1);
    let after = cx.pairing.turns[call.turn].messages.end;
    if let Some((role, others)) = mislabelled {
        let others: Vec<_> = others.iter().filter_map(|call| mislabelled_result(cx, call)).collect();
        let roles = std::iter::once(&role).chain(&others);
        let write = |role: &&Named<'_>| Change::Write(role.place.node, "\"tool\"".to_owned());
        finding
            .label(role.place, format!("its result has the role `{}`", shorten(&role.text)))
            .help("use the role `tool` for the result")
            .fix(Fix::safe(roles.map(write)));
        others.iter().for_each(|other| finding.and_here(other.place));
    } else if let Some(sibling) = siblings.first() {
        finding.label(sibling.part.place, what_is_answered(cx, call, siblings));
    } else if let Some(next) = cx.transcript.messages.get(after) {
        finding.label(next.place, "its result should come before this");
    }
}

/// The role of the result of a call, if that is somebody else's.
fn mislabelled_result<'c, 's>(cx: &Context<'c, 's>, call: &CallSite<'_, '_>) -> Option<&'c Named<'s>> {
    let message = cx.pairing.answer_of(call)?.message;
    message.role_name.as_ref().filter(|_| message.is_mislabelled_result())
}

/// No more results are given their role by one fix.
const MOST_AT_ONCE: usize = 64;

/// The next calls of the turn whose results have the same role of somebody else: that is one mistake.
fn with_same_role<'c, 's>(
    cx: &Context<'c, 's>,
    call: &CallSite<'_, '_>,
    role: &Named<'_>,
) -> &'c [CallSite<'c, 's>] {
    let calls = &cx.pairing.calls[call.number + 1..];
    let is_same = |other: &&CallSite<'_, '_>| {
        other.turn == call.turn
            && other.call.unpaired.is_none()
            && mislabelled_result(cx, other).is_some_and(|own| own.text == role.text)
    };
    &calls[..calls.iter().take(MOST_AT_ONCE - 1).take_while(is_same).count()]
}

/// What the first of the results after a turn is to a call that has none.
fn what_is_answered(
    cx: &Context<'_, '_>,
    call: &CallSite<'_, '_>,
    results: &[ResultSite<'_, '_>],
) -> &'static str {
    let answered =
        |result: &ResultSite<'_, '_>| result.paired_with.call().map(|call| &cx.pairing.calls[call]);
    match results.first().and_then(answered) {
        None => "the results begin here",
        Some(other) if other.message_number > call.message_number => "a later call is answered here",
        _ if results.get(1).and_then(answered).is_some() => "other calls are answered here",
        Some(_) => "another call is answered here",
    }
}

/// Checks the calls before the request, which the server keeps.
fn check_kept(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(before) = cx.continued else { return };
    let ids = cx.pairing.results.iter().filter_map(|site| site.result.call_id.as_ref());
    let answered: HashSet<&str> = ids.map(|id| &*id.text).collect();
    let is_owed = |call: &&PendingCall| !answered.contains(&*call.id);
    // A result under another id is reported as that.
    let orphans = cx.pairing.results.iter().filter(|site| site.paired_with == PairedWith::NoCall);
    let orphans = orphans.filter(|site| {
        let is_kept = site.result.call_id.as_ref().is_some_and(|id| before.has_call(&id.text));
        !is_kept && site.result.unpaired.is_none()
    });
    let orphans = orphans.count();
    if let Some(place) = before.place {
        // No more than are told of: many requests may go on from one response with many calls.
        let owed: Vec<_> = before.owed.iter().filter(is_owed).take(MOST_IDS + 1).collect();
        if owed.len() > orphans {
            report_kept(&owed, place, out);
        }
    }
    for (call, place) in before.referred.iter().filter(|(call, _)| is_owed(&call)) {
        report_kept(&[call], *place, out);
    }
}

/// Reports calls without a result that are before the request at one place of it.
fn report_kept(owed: &[&PendingCall], place: Place, out: &mut Sink<'_>) {
    let Some(first) = owed.first() else { return };
    let name = first.tool.as_deref().map_or_else(String::new, |tool| format!(" to `{}`", shorten(tool)));
    let id = shorten(&first.id);
    let message = match owed.len() - 1 {
        0 => format!("tool call `{id}`{name} has no result"),
        MOST_IDS => format!("tool call `{id}`{name} and at least {MOST_IDS} others have no result"),
        1 => format!("tool call `{id}`{name} and `{}` have no result", shorten(&owed[1].id)),
        others => format!("tool call `{id}`{name} and {others} others have no result"),
    };
    let finding = out.report(place, message);
    let ids: Vec<&str> = owed.iter().take(MOST_IDS).map(|call| &*call.id).collect();
    finding
        .caption("called before this, never answered")
        .help("add one result per call to the request that continues from that response; a tool that failed or was cancelled needs one too")
        .value("ids", ids.join(", "))
        .value("id", &first.id)
        .value("kind", first.kind.name())
        .case("kept");
    finding.tool_call_id = Some(text::kept(&first.id));
    finding.say().tool_name = first.tool.as_deref().map(text::kept);
}

/// The number of the last text of an example, if it is an item of its own in the last message: what is called before it is
/// not what the model should learn last.
fn said_last(cx: &Context<'_, '_>) -> Option<usize> {
    let last = cx.transcript.messages.last().filter(|_| cx.is_training_example())?;
    let parts = last.parts.start as usize..last.parts.end as usize;
    let number = parts.rev().find(|number| matches!(cx.transcript.parts[*number].body, Body::Text(_)))?;
    let first = cx.document.value(last.place.node).span();
    let is_item = !first.contains(cx.transcript.parts[number].place.span);
    is_item.then_some(number)
}

/// Whether a call may still be running: at the end of a transcript that is not a request and not over. A row may end with what
/// the model learns to call, and not between the results of its calls.
fn is_pending(cx: &Context<'_, '_>, call: &CallSite<'_, '_>) -> bool {
    let last = cx.pairing.turns.len() - 1;
    let is_row = cx.is_training_example() && !cx.transcript.details.is_of_span;
    let is_being_answered = call.turn + 1 == last
        && !cx.pairing.results_of_turn(last).is_empty()
        && !(is_row && cx.pairing.answer_of(call).is_none());
    let is_at_end = call.turn == last && cx.pairing.reaches_end_of_turn(call);
    // A model that has given another answer since was asked without the result.
    let answers = &cx.transcript.details.answers;
    let next = answers.get(answers.partition_point(|answer| *answer <= call.part_number));
    let end = cx.transcript.messages[cx.pairing.turns[call.turn].messages.end - 1].parts.end as usize;
    !cx.is_request()
        && (is_at_end || is_being_answered)
        && !cx.is_over()
        && next.is_none_or(|answer| *answer >= end)
}
