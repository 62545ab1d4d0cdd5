use crate::rule::{Context, Sink, declare_rule};
use crate::view::id_list;

declare_rule! {
    /// Tool results of one turn that are spread over several messages.
    ///
    /// ## Why is this bad?
    ///
    /// In formats that put all results of a turn into one message, strict providers look only at the first message
    /// and reject the request because of the results missing there. Lenient ones merge the messages, and the model
    /// learns from its own history not to make parallel calls.
    ///
    /// ## Fails
    ///
    /// ```json bedrock-converse
    /// {"toolConfig": {"tools": [{"toolSpec": {"name": "search", "inputSchema": {"json": {"type": "object"}}}}]},
    ///  "messages": [
    ///   {"role": "user", "content": [{"text": "find Adam"}]},
    ///   {"role": "assistant", "content": [
    ///     {"toolUse": {"toolUseId": "a", "name": "search", "input": {}}},
    ///     {"toolUse": {"toolUseId": "b", "name": "search", "input": {}}}
    ///   ]},
    ///   {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "none"}]}}]},
    ///   {"role": "user", "content": [
    ///     {"toolResult": {"toolUseId": "b", "content": [{"text": "none"}]}}  // flagged
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json bedrock-converse
    /// {"toolConfig": {"tools": [{"toolSpec": {"name": "search", "inputSchema": {"json": {"type": "object"}}}}]},
    ///  "messages": [
    ///   {"role": "user", "content": [{"text": "find Adam"}]},
    ///   {"role": "assistant", "content": [
    ///     {"toolUse": {"toolUseId": "a", "name": "search", "input": {}}},
    ///     {"toolUse": {"toolUseId": "b", "name": "search", "input": {}}}
    ///   ]},
    ///   {"role": "user", "content": [
    ///     {"toolResult": {"toolUseId": "a", "content": [{"text": "none"}]}},
    ///     {"toolResult": {"toolUseId": "b", "content": [{"text": "none"}]}}
    ///   ]}
    /// ]}
    /// ```
    SplitToolResults in Order, since "0.1.0", warning looks at [RESULTS], check,
    fix [
        safe: "The results are put into the first message of their turn.",
        otherwise: "the results are not in messages of a known form",
    ],
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
