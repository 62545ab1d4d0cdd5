use crate::rule::{Context, Sink, declare_rule};
use crate::view::id_list;

declare_rule! {
    SplitToolResults in Order, since "0.1.0", warning looks at [RESULTS], check,
    values MESSAGE, CALL_IDS
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.transcript.batches_results {
        return;
    }
    let pairing = cx.pairing;
    for (number, turn) in pairing.turns.iter().enumerate() {
        if turn.messages.len() < 2 {
            continue;
        }
        let in_place = |site: &&toolcheck_core::pairing::ResultSite<'_, '_>| {
            pairing.is_first_answer(site)
                && site.paired_with.call().is_some_and(|call| pairing.calls[call].turn + 1 == number)
        };
        let mut results = pairing.results_of_turn(number).iter().filter(in_place);
        let Some(first) = results.next() else { continue };
        let elsewhere: Vec<_> = results.filter(|site| site.message_number != first.message_number).collect();
        let Some(second) = elsewhere.first() else { continue };
        let ids = elsewhere.iter().filter_map(|site| site.result.call_id.as_ref());
        out.report(
            second.part.place,
            format!(
                "tool result {} is not in the same message as the others of its turn",
                second.result.title()
            ),
        )
        .about_result(second.result)
        .caption("in a second message")
        .label(first.part.place, "the first result of the turn")
        .help("put all results of a turn in one message")
        .at(cx, (first.message_number, first.message))
        .value("ids", id_list(ids));
    }
}
