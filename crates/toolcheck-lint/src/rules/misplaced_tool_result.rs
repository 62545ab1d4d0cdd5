use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A tool result in the wrong place of its message, or in a message of the wrong role.
    ///
    /// ## Why is this bad?
    ///
    /// Results belong to the side that answers the model, before anything else that it says. A result in the model's own
    /// message is refused; a result behind a text is refused by some versions of an API and accepted by others.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [
    ///     {"type": "tool_use", "id": "a", "name": "search", "input": {}},
    ///     {"type": "tool_result", "tool_use_id": "a", "content": "none"}  // flagged
    ///   ]},
    ///   {"role": "user", "content": "go on"}
    /// ]}
    /// ```
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
    ///   {"role": "user", "content": [
    ///     {"type": "text", "text": "Here it is:"},
    ///     {"type": "tool_result", "tool_use_id": "a", "content": "none"}  // flagged
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
    ///   {"role": "user", "content": [
    ///     {"type": "tool_result", "tool_use_id": "a", "content": "none"},
    ///     {"type": "text", "text": "Look again."}
    ///   ]}
    /// ]}
    /// ```
    "misplaced-tool-result" in Order, since "0.1.0", silent, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut reported = None;
    let mut looked_at = (usize::MAX, 0);
    for site in &cx.pairing.results {
        let id = site.result.call_id.as_ref().map_or("?", |id| &*id.text);
        if site.message.role == Role::Assistant {
            out.report(
                site.part.place,
                format!("the tool result {} stands in the model's own message", site.result.title()),
            )
            .about_result(site.result)
            .caption("a result among the calls")
            .case("assistant-message")
            .help("put the result into the next message of the other side")
            .at(cx, site.message_number, site.message, Some(site.part))
            .value("id", id);
            continue;
        }
        // One turn with several results behind a text is one fault.
        if !cx.transcript.batches_results || reported == Some(site.turn) {
            continue;
        }
        let Some(call) = site.answers.call().map(|number| &cx.pairing.calls[number]) else { continue };
        if !cx.pairing.is_in_place(call, site) {
            continue;
        }
        // What stands in the turn before this result and behind the last one that was looked at.
        if looked_at.0 != site.turn {
            let first = cx.pairing.turns[site.turn].messages.start;
            looked_at = (site.turn, cx.transcript.messages[first].parts.start as usize);
        }
        let parts = &cx.transcript.parts[looked_at.1..site.message.parts.end as usize];
        let length = parts.iter().position(|part| part.place == site.part.place).unwrap_or(parts.len());
        looked_at.1 += length;
        let other = parts[..length].iter().find(|part| matches!(part.body, Body::Text(_) | Body::Media));
        let Some(other) = other else { continue };
        reported = Some(site.turn);
        out.report(
            site.part.place,
            format!("the tool result {} stands behind other content", site.result.title()),
        )
        .about_result(site.result)
        .caption("the result")
        .label(other.place, "this comes first")
        .case("after-other-content")
        .help("put the results first in their message, and everything else behind them")
        .at(cx, site.message_number, site.message, Some(site.part))
        .value("ids", id);
    }
}
