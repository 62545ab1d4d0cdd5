use foldhash::HashMap;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Named, ToolKind};
use toolcheck_core::pairing::{PairedWith, ResultSite};

use super::unknown_role;
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MismatchedResultKind in Pairing, since "0.1.0", warning looks at [RESULTS], check,
    values PART, CALL_ID, CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // The first result that is not reported with one before it.
    let mut next = 0;
    for site in &cx.pairing.results {
        let Some(call) = cx.pairing.mismatched_call(site) else { continue };
        let (called, answered) = (call.call.kind, site.result.kind.unwrap_or_default());
        let is_legacy = answered == ToolKind::LegacyFunction;
        // A role that the target does not know is reported by another rule.
        if is_legacy && unknown_role::is_unknown(cx, site.message) || site.number < next {
            continue;
        }
        let others = if is_legacy { with_same_role(cx, site) } else { &[] };
        next = site.number + 1 + others.len();
        let title = call.call.title();
        let role = site.message.role_text();
        let message = if is_legacy {
            let (results, have) = match others.len() {
                0 => (format!("the result of tool call {title}"), "has"),
                more => (format!("the results of tool call {title} and {more} others"), "have"),
            };
            format!("{results} {have} the role `{role}`, which only answers legacy function calls")
        } else {
            of_wrong_kind(&title, called, answered)
        };
        let finding = out.report(site.part.place, message);
        finding
            .about_call(call.call)
            .caption("the result")
            .label(call.part.place, "the call")
            .at(cx, site)
            .value("id", Named::text_or_unknown(call.call.id.as_ref()))
            .value("ids", Named::text_or_unknown(call.call.id.as_ref()))
            .value("kind", called.name());
        if is_legacy {
            finding.help("use the role `tool`, with the id of the call");
            let sites = std::iter::once(site).chain(others);
            let roles = sites.filter(|site| site.result.call_id.is_some());
            let roles = roles.filter_map(|site| site.message.role_name.as_ref());
            let changes: Vec<_> =
                roles.map(|role| Change::Write(role.place.node, "\"tool\"".to_owned())).collect();
            finding.fix(Some(Fix::safe(changes)).filter(|fix| !fix.changes.is_empty()));
            others.iter().for_each(|other| finding.and_here(other.part.place));
            finding.case("legacy").case_if(site.result.name.is_none(), "legacy-without-name");
        } else {
            finding.help(RIGHT_KIND);
        }
    }
    check_kept(cx, out);
}

const RIGHT_KIND: &str = "use the kind of result that belongs to this kind of call";

fn of_wrong_kind(title: &str, called: ToolKind, answered: ToolKind) -> String {
    let (called, answered) = (called.name(), answered.name());
    format!("the result of tool call {title} is of the wrong kind: expected {called}, found {answered}")
}

/// Checks the results of calls before the request, which the server keeps.
fn check_kept(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(before) = cx.continued.filter(|before| !before.owed.is_empty()) else { return };
    let owed: HashMap<&str, ToolKind> = before.owed.iter().map(|call| (&*call.id, call.kind)).collect();
    for site in cx.pairing.results.iter().filter(|site| site.paired_with == PairedWith::NoCall) {
        let id = site.result.call_id.as_ref();
        let Some(called) = id.and_then(|id| owed.get(&*id.text)) else { continue };
        if called.is_answered_by(site.result.kind) {
            continue;
        }
        let answered = site.result.kind.unwrap_or_default();
        out.report(site.part.place, of_wrong_kind(&site.result.title(), *called, answered))
            .about_result(site.result)
            .caption("the result")
            .help(RIGHT_KIND)
            .at(cx, site)
            .value("id", Named::text_or_unknown(id))
            .value("ids", Named::text_or_unknown(id))
            .value("kind", called.name());
    }
}

/// No more results are given their role by one fix.
const MOST_AT_ONCE: usize = 64;

/// The next results of the turn with the same mistake, if one fix changes the role of all.
fn with_same_role<'c, 's>(cx: &Context<'c, 's>, site: &ResultSite<'_, '_>) -> &'c [ResultSite<'c, 's>] {
    let others = &cx.pairing.results[site.number + 1..];
    let is_same = |other: &&ResultSite<'_, '_>| {
        let has = |site: &ResultSite<'_, '_>| (site.result.call_id.is_some(), site.result.name.is_some());
        other.turn == site.turn
            && other.result.kind == site.result.kind
            && has(other) == has(site)
            && cx.pairing.mismatched_call(other).is_some()
    };
    &others[..others.iter().take(MOST_AT_ONCE - 1).take_while(is_same).count()]
}
