use foldhash::HashSet;
use serde_json::Value as Json;
use toolcheck_core::Level;
use toolcheck_core::pairing::ResultSite;
use toolcheck_core::text;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::{Change, MatchedCall, PastCall};

declare_rule! {
    SwappedResults in Pairing, since "0.1.0", error looks at [ANSWER], check
}

/// The most calls of a turn whose results are compared with each other.
const MOST_CALLS: usize = 16;
/// The most bytes of a result that are searched.
const MOST_BYTES: usize = 16_384;
/// The most texts of a call that are searched for.
const MOST_TEXTS: usize = 16;
/// The most bytes of such a text.
const LONGEST_TEXT: usize = 256;
/// The least number of letters of an argument that is searched for.
const LEAST_LETTERS: usize = 3;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept.filter(|kept| !kept.is_later) else { return };
    let calls: Vec<(&PastCall, &MatchedCall)> = kept.calls_kept().collect();
    if calls.len() < 2 {
        return;
    }
    if has_moved_arguments(cx) {
        let Some((given, stored)) = calls.iter().find(|(_, stored)| stored.change != Change::Same) else {
            return;
        };
        let finding = out.report(
            cx.transcript.parts[stored.part].place,
            "the calls of the response have each other's arguments in the history, so their results are swapped",
        );
        finding.caption("has the arguments of another call").help("bind each result to the id of its call");
        finding.label_at(given.call.place, given.spot.clone(), "the call in the response");
        finding.tool_call_id = given.call.id.as_deref().map(text::kept);
        finding.say().tool_name = given.call.name.as_deref().map(text::kept);
    } else if calls.len() <= MOST_CALLS {
        report_by_contents(cx, out, &calls);
    }
}

/// Whether calls of the response have the arguments of other calls of their tools in the history.
pub(crate) fn has_moved_arguments(cx: &Context<'_, '_>) -> bool {
    let Some(kept) = cx.kept.filter(|kept| kept.answer.is_whole) else { return false };
    let changed = || kept.calls_kept().filter(|(_, stored)| stored.change == Change::Other);
    let mut given: Vec<_> = changed().map(|(given, _)| (&given.call.name, given.meaning())).collect();
    let mut stored: Vec<_> = changed().map(|(given, stored)| (&given.call.name, stored.meaning)).collect();
    given.sort_unstable();
    stored.sort_unstable();
    given.len() > 1 && given == stored
}

/// A call with its result, and what only this call asked for.
struct Answered<'c, 's> {
    given: &'c PastCall,
    site: &'c ResultSite<'c, 's>,
    result: &'c [u8],
    asked: Vec<String>,
}

fn report_by_contents(cx: &Context<'_, '_>, out: &mut Sink<'_>, calls: &[(&PastCall, &MatchedCall)]) {
    let mut answered: Vec<Answered<'_, '_>> = Vec::new();
    for (given, stored) in calls {
        let site = cx.pairing.call_at(stored.part).and_then(|call| cx.pairing.answer_of(call));
        let Some(site) = site else { continue };
        let Some(place) = site.result.content_place else { continue };
        let raw = cx.document.value(place.node).raw();
        let result = &raw[..raw.len().min(MOST_BYTES)];
        let asked = texts_in(&cx.transcript.parts[stored.part].body, cx);
        answered.push(Answered { given, site, result, asked });
    }
    let mut seen = HashSet::default();
    let asked = answered.iter().flat_map(|one| &one.asked);
    let shared: HashSet<String> = asked.filter(|text| !seen.insert((*text).clone())).cloned().collect();
    answered.iter_mut().for_each(|one| one.asked.retain(|text| !shared.contains(text)));
    let names = |one: &Answered<'_, '_>, other: &Answered<'_, '_>| {
        // A result that is nothing but the name may be a name that was asked for: the next port after Oban is Mull.
        let is_more = |text: &String| one.result.len() > text.len() + 8;
        other.asked.iter().any(|text| is_more(text) && contains(one.result, text))
    };
    let pairs =
        (0..answered.len()).flat_map(|first| (first + 1..answered.len()).map(move |second| (first, second)));
    for (first, second) in pairs {
        let (one, other) = (&answered[first], &answered[second]);
        let is_same_tool = one.given.call.name == other.given.call.name;
        let is_own = names(one, one) || names(other, other);
        if is_same_tool && !is_own && names(one, other) && names(other, one) {
            let finding = out.report(
                one.site.part.place,
                format!(
                    "the result of tool call {} matches the arguments of another call",
                    one.site.result.title()
                ),
            );
            finding.about_result(one.site.result).caption("fits the other call").at_most(Level::Warning);
            finding
                .label(other.site.part.place, "fits this call")
                .help("bind each result to the id of its call, not to the order in which the tools end");
            return;
        }
    }
}

fn contains(result: &[u8], text: &str) -> bool {
    memchr::memmem::find(result, text.as_bytes()).is_some()
}

/// The texts among the arguments of a call.
fn texts_in(body: &toolcheck_core::ir::Body<'_>, cx: &Context<'_, '_>) -> Vec<String> {
    let toolcheck_core::ir::Body::Call(call) = body else { return Vec::new() };
    let text = call.arguments.json(cx.document);
    let Ok(Json::Object(members)) = serde_json::from_slice(&text[..]) else { return Vec::new() };
    let texts = members.into_iter().filter_map(|(_, value)| match value {
        Json::String(text) if text.len() <= LONGEST_TEXT && text.chars().count() >= LEAST_LETTERS => {
            Some(text)
        }
        _ => None,
    });
    let unique: HashSet<String> = texts.take(MOST_TEXTS).collect();
    unique.into_iter().collect()
}
