use toolcheck_core::ir::{Body, Named, Role};
use toolcheck_core::pairing::ResultSite;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MisplacedToolResult in Order, since "0.1.0", silent looks at [RESULTS], check,
    values PART, CALL_ID, CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut reported = None;
    let mut searched = (usize::MAX, 0);
    let mut last = None;
    for site in &cx.pairing.results {
        let last = last.replace((site.turn, site.message_number));
        let id = Named::text_or_unknown(site.result.call_id.as_ref());
        if site.message.role == Role::Assistant {
            // The role of a message is one mistake, whatever it holds.
            if last.is_none_or(|(_, message)| message != site.message_number) {
                in_answer(cx, site, out);
            }
            continue;
        }
        // One turn with several results after text is one problem.
        if !cx.transcript.batches_results || reported == Some(site.turn) {
            continue;
        }
        let Some(call) = site.paired_with.call().map(|number| &cx.pairing.calls[number]) else { continue };
        if !cx.pairing.is_in_place(call, site) {
            continue;
        }
        // The parts of the turn between the previous result and this one.
        if searched.0 != site.turn {
            let first = cx.pairing.turns[site.turn].messages.start;
            searched = (site.turn, cx.transcript.messages[first].parts.start as usize);
        }
        let mut parts = cx.transcript.parts[searched.1..site.part_number].iter();
        searched.1 = site.part_number;
        let other = parts.find(|part| matches!(part.body, Body::Text(_) | Body::Media));
        let Some(other) = other else { continue };
        // Results in several messages, with others between them, are one problem.
        let is_between = last.is_some_and(|(turn, message)| {
            let is_before = other.place.span.end <= site.message.place.span.start;
            turn == site.turn && message != site.message_number && is_before
        });
        if is_between {
            continue;
        }
        reported = Some(site.turn);
        out.report(site.part.place, format!("tool result {} comes after other content", site.result.title()))
            .about_result(site.result)
            .caption("the result")
            .label(other.place, "this comes before it")
            .case("after-other-content")
            .help("put tool results first in their message, and everything else after them")
            .at(cx, site)
            .value("ids", id);
    }
}

/// Reports the results of a message of the model, of which this is the first.
fn in_answer(cx: &Context<'_, '_>, site: &ResultSite<'_, '_>, out: &mut Sink<'_>) {
    let own = cx.pairing.results[site.number..].iter();
    let own = own.take_while(|other| other.message_number == site.message_number);
    let others = own.clone().count() - 1;
    let message = match others {
        0 => format!("tool result {} is in an assistant message", site.result.title()),
        _ => format!("{} tool results are in an assistant message", others + 1),
    };
    let finding = out.report(site.part.place, message);
    finding
        .about_result(site.result)
        .caption("not allowed in an assistant message")
        .case("assistant-message")
        .help(match others {
            0 => "move the result to the user message that follows",
            _ => "move the results to the user message that follows",
        })
        .at(cx, site)
        .value("id", Named::text_or_unknown(site.result.call_id.as_ref()));
    for other in own.skip(1) {
        finding.and_here(other.part.place);
    }
}
