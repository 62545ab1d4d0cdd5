use toolcheck_core::formats;
use toolcheck_core::ir::{Role, ToolKind};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::id_list;

declare_rule! {
    SplitAssistantTurn in Order, since "0.1.0", warning looks at [RESULTS], check,
    values NEXT_MESSAGE, CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    for (number, turn) in pairing.turns.iter().enumerate() {
        if turn.role != Role::Assistant || turn.messages.len() < 2 {
            continue;
        }
        let calls = pairing.calls_of_turn(number);
        // Calls whose results follow the turn belong together; a call without a result is reported by another rule. One
        // message cannot have two calls in the older form: Qwen-Agent keeps parallel ones in a message each
        // (`examples/function_calling_in_parallel.py`).
        let is_answered = |call: &&toolcheck_core::pairing::CallSite<'_, '_>| {
            call.call.kind != ToolKind::LegacyFunction
                && pairing.answer_of(call).is_some_and(|site| site.turn == number + 1)
        };
        let mut holders: Vec<usize> =
            calls.iter().filter(is_answered).map(|call| call.message_number).collect();
        holders.dedup();
        // Without ids, it is unclear which call has no result.
        let is_clear =
            |call: &toolcheck_core::pairing::CallSite<'_, '_>| call.call.id.is_some() || is_answered(&call);
        // A data set in a form of its own may have a turn for each call; one with lists of calls has them in one list.
        let is_own = cx.transcript.format.is_none_or(|format| formats::find(format.id).is_none());
        let messages = &cx.transcript.messages;
        let lists_calls = |at: &usize| messages[*at].lists_calls(cx.document);
        if holders.len() < 2 || !calls.iter().all(is_clear) || is_own && !holders.iter().all(lists_calls) {
            continue;
        }
        let last = holders[holders.len() - 1];
        let ids =
            calls.iter().filter(|call| call.message_number != last).filter_map(|call| call.call.id.as_ref());
        let first = turn.messages.start;
        let finding = out.report(
            messages[first].place,
            format!(
                "one assistant turn is split into {} messages, {} of them with calls",
                turn.messages.len(),
                holders.len()
            ),
        );
        finding
            .caption("the turn starts here")
            .help("write one assistant message for the turn, with its text and all of its calls")
            .value("ids", id_list(ids));
        if let Some(next) = messages.get(first + 1) {
            finding.at(cx, (first + 1, next));
        }
        for holder in holders.into_iter().filter(|holder| *holder != first) {
            finding.label(messages[holder].place, "continues here, in a separate message");
        }
    }
}
