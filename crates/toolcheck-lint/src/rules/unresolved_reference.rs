use crate::rule::{Context, Sink, declare_rule};
use crate::server_state::Missing;
use toolcheck_core::text::shorten;

declare_rule! {
    /// A reference to something that the server doesn't have, or can no longer continue from.
    ///
    /// ## Why is this bad?
    ///
    /// Items that were not stored, have expired or belong to another account can't be referenced: the request is refused. Send
    /// the items themselves, with their encrypted reasoning, or store the responses.
    ///
    /// A single request does not show what the server has. This rule needs exchanges: each request with the response to it,
    /// in chronological order. `toolcheck serve` reports every reference to something that it has not answered before.
    ///
    /// ## Fails
    ///
    /// ```json openai-responses
    /// [{"request": {"model": "m", "store": false, "input": "find Adam"},
    ///   "response": {"id": "resp_1", "object": "response", "status": "completed", "output": [
    ///     {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
    ///       {"type": "output_text", "text": "Which one?", "annotations": []}]}]}},
    ///  {"request": {"model": "m", "previous_response_id": "resp_1", "input": "the first"}}]  // flagged
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// [{"request": {"model": "m", "input": "find Adam"},
    ///   "response": {"id": "resp_1", "object": "response", "status": "completed", "output": [
    ///     {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
    ///       {"type": "output_text", "text": "Which one?", "annotations": []}]}]}},
    ///  {"request": {"model": "m", "previous_response_id": "resp_1", "input": "the first"}}]
    /// ```
    UnresolvedReference in Ids, since "0.1.0", error looks at [KEPT], check,
    cases [
        "response": "the id of a response, and not of an item",
        "continued": "another request has already continued from the response, and only one may",
    ],
    values [
        "id": "the id of the item",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (what, place, id) in cx.continued.into_iter().flat_map(|before| &before.missing) {
        let id_shown = shorten(id);
        let message = match what {
            Missing::Response => format!("the server does not have the response `{id_shown}`"),
            Missing::Item => format!("the server does not have the item `{id_shown}`"),
            Missing::Continued => {
                format!("another request has already continued from the response `{id_shown}`")
            }
        };
        let help = match what {
            Missing::Continued => "continue from the last response, or send the conversation itself",
            _ => "send the conversation itself, or have the server store what later requests refer to",
        };
        out.report(*place, message)
            .caption("the request continues from this")
            .help(help)
            .case_if(*what == Missing::Response, "response")
            .case_if(*what == Missing::Continued, "continued")
            .value("id", id);
    }
}
