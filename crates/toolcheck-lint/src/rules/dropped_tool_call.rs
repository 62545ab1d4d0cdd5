use toolcheck_core::Level;
use toolcheck_core::ir::Place;
use toolcheck_core::text::{self, shorten};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::{HistoryMatch, MatchedCall, PastCall};

declare_rule! {
    DroppedToolCall in Pairing, since "0.1.0", error looks at [ANSWER], check
}

/// The most dropped calls that a message names.
const NAMED: usize = 5;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // What was cut off need not be kept.
    let Some(kept) = cx.kept.filter(|kept| kept.answer.is_whole) else { return };
    let calls = &kept.answer.calls;
    if calls.is_empty() {
        return;
    }
    if kept.count() < calls.len() {
        report_dropped(cx, out, kept);
        return;
    }
    if kept.is_later {
        return;
    }
    let stored: Vec<MatchedCall> = kept.calls.iter().copied().flatten().collect();
    let (Some(first), Some(given)) = (stored.first(), calls.first()) else { return };
    let total = calls.len();
    let place_of = |call: &MatchedCall| cx.transcript.parts[call.part].place;
    let turns = stored.iter().map(|call| call.turn);
    let label = |finding: &mut crate::finding::Draft, given: &PastCall, message: &'static str| {
        finding.label_at(given.call.place, given.spot.clone(), message);
        finding.tool_call_id = given.call.id.as_deref().map(text::kept);
        finding.say().tool_name = given.call.name.as_deref().map(text::kept);
        finding.at_most(Level::Warning);
    };
    if let Some(later) = stored.iter().find(|call| call.turn != first.turn) {
        let count = turns.max().unwrap_or_default() - first.turn + 1;
        let finding = out.report(
            cx.transcript.messages[first.message].place,
            format!(
                "the {total} calls that the model made at once are spread over {count} turns of the history"
            ),
        );
        finding.caption("the first of these turns").label(place_of(later), "the next one").help(
            "keep the calls of one response in one turn, followed by all their results: a model that sees its calls \
             split up stops making several at once",
        );
        label(finding, given, "called here, together with the others");
    } else if let Some((given, renamed)) =
        calls.iter().zip(&stored).find(|(_, kept)| kept.is_renamed && is_answered(cx, kept))
    {
        let count = stored.iter().filter(|call| call.is_renamed).count();
        let finding = out.report(
            place_of(renamed),
            format!("{count} of {total} calls have a different id in the history than in the response"),
        );
        finding.caption("its id in the history").help(
            "keep the ids of the response; if an API does not accept them, map them where you call that API",
        );
        label(finding, given, "its id in the response");
    } else if let Some(pair) = stored.windows(2).position(|pair| pair[0].part > pair[1].part) {
        let finding = out.report(
            place_of(&stored[pair + 1]),
            format!("the {total} calls of the response are in a different order in the history"),
        );
        finding
            .caption("placed before a call that the model made earlier")
            .label(place_of(&stored[pair]), "the model made this call first")
            .help("keep the order of the response: results that are paired by order go to the wrong call");
        label(finding, &calls[pair + 1], "called here");
    }
}

fn report_dropped(cx: &Context<'_, '_>, out: &mut Sink<'_>, kept: &HistoryMatch<'_>) {
    let calls = kept.answer.calls.iter().zip(&kept.calls);
    let (held, dropped): (Vec<_>, Vec<_>) = calls.partition(|(_, kept)| kept.is_some());
    let [held, dropped] =
        [held, dropped].map(|calls| calls.into_iter().map(|(call, _)| call).collect::<Vec<&PastCall>>());
    let total = kept.answer.calls.len();
    let name = |call: &PastCall| match (&call.call.name, &call.call.id) {
        (Some(name), Some(id)) => format!("`{}` ({})", shorten(name), shorten(id)),
        (Some(name), None) => format!("`{}`", shorten(name)),
        (None, Some(id)) => format!("`{}`", shorten(id)),
        (None, None) => "a call without a name".to_owned(),
    };
    let list = |calls: &[&PastCall]| {
        let mut names: Vec<String> = calls.iter().take(NAMED).map(|call| name(call)).collect();
        if calls.len() > NAMED {
            names.push(format!("{} more", calls.len() - NAMED));
        }
        names.join(", ")
    };
    let which = match kept.calls.as_slice() {
        [Some(_), rest @ ..] if rest.iter().all(Option::is_none) => "only the first",
        [rest @ .., Some(_)] if rest.iter().all(Option::is_none) => "only the last",
        _ => "",
    };
    let called = if total == 1 { "a tool".to_owned() } else { format!("{total} tools") };
    let keeps = match (held.len(), which) {
        (0, _) if total == 1 => "does not contain the call".to_owned(),
        (0, _) => "contains none of the calls".to_owned(),
        (_, "") => format!("contains {} of the calls: {}", held.len(), list(&held)),
        (_, which) => format!("contains {which}: {}", list(&held)),
    };
    let finding = out.report(
        place_of_turn(cx, kept),
        format!("the model called {called}, but the history {keeps}; dropped: {}", list(&dropped)),
    );
    finding.caption("this turn in the history").help(
        "keep every call of a response in one turn, run them all, and send all results; for a tool that is not run, \
         send an error as its result",
    );
    if kept.is_later {
        finding.at_most(Level::Warning);
    }
    for call in &dropped {
        finding.label_at(call.call.place, call.spot.clone(), "called here, but dropped");
    }
    finding.tool_call_id = dropped.first().and_then(|call| call.call.id.as_deref().map(text::kept));
    finding.say().tool_name = dropped.first().and_then(|call| call.call.name.as_deref().map(text::kept));
}

/// The message with the calls that were kept, or the one in the place of the response.
fn place_of_turn(cx: &Context<'_, '_>, kept: &HistoryMatch<'_>) -> Place {
    let held = kept.calls.iter().flatten().map(|call| call.message).min();
    let message = cx.transcript.messages.get(held.unwrap_or(kept.first_new));
    message.map_or(cx.transcript.place, |message| message.place)
}

/// Whether a result answers the call under its id in the history.
fn is_answered(cx: &Context<'_, '_>, call: &MatchedCall) -> bool {
    cx.pairing.call_at(call.part).is_some_and(|site| cx.pairing.answer_of(site).is_some())
}
