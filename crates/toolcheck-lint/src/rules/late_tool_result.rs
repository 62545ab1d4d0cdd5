use std::cell::OnceCell;
use std::collections::VecDeque;

use foldhash::HashMap;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Named, Role};
use toolcheck_core::pairing::{ResultSite, Turn};

use crate::rule::{Context, Sink, declare_rule};
use crate::rules::{misplaced_message, unknown_role};
use crate::view::id_list;

declare_rule! {
    LateToolResult in Order, since "0.1.0", error (error in dataset) looks at [RESULTS], check,
    values NEXT_MESSAGE, CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    let (mut last, roles, crossed) = (None, OnceCell::new(), OnceCell::new());
    for site in &pairing.results {
        let (Some(call), true) = (site.paired_with.call(), pairing.is_first_answer(site)) else { continue };
        let call = &pairing.calls[call];
        if site.turn == call.turn || pairing.is_in_place(call, site) {
            continue;
        }
        if site.turn > call.turn {
            let roles = roles.get_or_init(|| roles_before(cx));
            let between = |role: usize| roles[site.turn][role] - roles[call.turn + 1][role];
            let own = pairing.turns[site.turn].role;
            if is_parted_by_refused_messages(cx, own, site.turn - call.turn - 1, between) {
                continue;
            }
        }
        if let Some(other) = crossed.get_or_init(|| crossed_results(cx)).get(&site.number) {
            exchanged_ids(cx, site, &pairing.results[*other], out);
            continue;
        }
        // Whatever comes in between is one problem, however many results follow it.
        if last == Some((call.turn, site.turn)) {
            continue;
        }
        last = Some((call.turn, site.turn));
        let is_early = site.turn < call.turn;
        let title = call.call.title();
        let message = if is_early {
            format!("the result of tool call {title} comes before the call")
        } else {
            format!("the result of tool call {title} does not directly follow the call")
        };
        let late = pairing.results_of_turn(site.turn).iter().filter(|other| {
            other.paired_with.call().is_some_and(|number| pairing.calls[number].turn == call.turn)
        });
        let ids = late.filter_map(|other| other.result.call_id.as_ref());
        let after = call.message_number + 1;
        let finding = out.report(site.part.place, message);
        finding
            .about_call(call.call)
            .caption("the result")
            .label(call.part.place, "the call")
            .help("move the results directly after the message with the calls, before anything else")
            .value("id", Named::text_or_unknown(ids.clone().next()))
            .value("ids", id_list(ids));
        let first_of_turn = pairing.turns[site.turn].messages.start;
        let before = first_of_turn.checked_sub(1).map(|number| &cx.transcript.messages[number]);
        if let Some(before) = before.filter(|before| before.role != Role::Assistant) {
            finding.case("after-other-role");
            finding.value_of("previous-role", before.role_name.as_ref().map(|role| &role.text));
        }
        let between = pairing.turns.get(call.turn + 1..site.turn);
        let is_unseen = |turns: &[Turn]| turns.iter().all(|turn| turn.role != Role::Assistant);
        finding.case_if(between.is_some_and(is_unseen) && pairing.reaches_end_of_turn(call), "unseen");
        if let Some(between) = cx.transcript.messages.get(after) {
            finding.at(cx, (after, between));
            if !is_early && after != site.message_number {
                finding.label(between.place, "this comes between");
            }
        }
    }
}

/// The results that stand in the place of another, by their numbers: one comes before its call, in place of one that
/// comes behind it.
fn crossed_results(cx: &Context<'_, '_>) -> HashMap<usize, usize> {
    let pairing = cx.pairing;
    let mut waiting: HashMap<(usize, usize), VecDeque<usize>> = HashMap::default();
    let mut crossed = HashMap::default();
    for site in pairing.results.iter().filter(|site| site.result.call_id.is_some()) {
        let (Some(call), true) = (site.paired_with.call(), pairing.is_first_answer(site)) else { continue };
        let place = pairing.calls[call].turn + 1;
        if site.turn == place {
            continue;
        }
        match waiting.get_mut(&(place, site.turn)).and_then(VecDeque::pop_front) {
            Some(other) => crossed.extend([(other, site.number), (site.number, other)]),
            None => waiting.entry((site.turn, place)).or_default().push_back(site.number),
        }
    }
    crossed
}

/// Two results, each in the place of the other: the first of them is the one that comes before its call.
fn exchanged_ids(
    cx: &Context<'_, '_>,
    first: &ResultSite<'_, '_>,
    second: &ResultSite<'_, '_>,
    out: &mut Sink<'_>,
) {
    let call_of = |site: &ResultSite<'_, '_>| site.paired_with.call().map(|number| &cx.pairing.calls[number]);
    let (Some(call), Some(other)) = (call_of(second), call_of(first)) else { return };
    let (Some(own_id), Some(other_id)) = (&first.result.call_id, &second.result.call_id) else { return };
    if first.number > second.number {
        return;
    }
    let message = format!(
        "the results of tool calls {} and {} have each other's id",
        call.call.title(),
        other.call.title()
    );
    let raw = |id: &Named<'_>| String::from_utf8_lossy(cx.document.value(id.place.node).raw()).into_owned();
    let exchange =
        [Change::Write(own_id.place.node, raw(other_id)), Change::Write(other_id.place.node, raw(own_id))];
    let finding = out.report(first.part.place, message);
    finding
        .about_call(call.call)
        .caption("the one result")
        .label(second.part.place, "the other result")
        .help("give each result the id of the call before it")
        .fix(Fix::lossy(
            "which calls the results name, since it is assumed that each answers the call before it",
            exchange,
        ))
        .value("id", &own_id.text)
        .value("ids", id_list([other_id].into_iter()));
    if let Some(after) = cx.transcript.messages.get(call.message_number + 1) {
        finding.at(cx, (call.message_number + 1, after));
    }
}

const COUNTED: [Role; 3] = [Role::System, Role::Unknown, Role::Tool];

/// How many turns before each have the roles of [`COUNTED`].
fn roles_before(cx: &Context<'_, '_>) -> Vec<[usize; COUNTED.len()]> {
    let turns = &cx.pairing.turns;
    let mut count = [0; COUNTED.len()];
    let mut counts = Vec::with_capacity(turns.len() + 1);
    counts.push(count);
    for turn in turns {
        if let Some(role) = COUNTED.iter().position(|role| *role == turn.role) {
            count[role] += 1;
        }
        counts.push(count);
    }
    counts
}

/// Whether what parts a call from its result has a finding of its own: all turns between them, of which so many are there and
/// so many have each role of [`COUNTED`], are messages of the system, or results among which one has a role that the target
/// does not know, such as the result itself, whose role is `own`.
fn is_parted_by_refused_messages(
    cx: &Context<'_, '_>,
    own: Role,
    turns: usize,
    with_role: impl Fn(usize) -> usize,
) -> bool {
    let [system, unknown, tool] = [0, 1, 2].map(with_role);
    let refuses = |rule, case| cx.entry(rule, case).is_refused();
    system > 0
        && system == turns
        && (refuses(&misplaced_message::RULE, Some(misplaced_message::BEFORE_RESULTS))
            || refuses(&unknown_role::RULE, Some(unknown_role::SYSTEM)))
        || (unknown > 0 || own == Role::Unknown) && unknown + tool == turns && unknown_role::is_reported(cx)
}
