use toolcheck_core::ir::Body;
use toolcheck_core::text;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::{Change, MatchedCall, PastCall};
use crate::view::failure::{is_failed, tells_of_parser, tells_trouble};

declare_rule! {
    /// A tool that ran although the model had not finished writing the call's arguments.
    ///
    /// ## Why is this bad?
    ///
    /// The response broke off in the arguments of the call, because it reached its length limit or the
    /// connection closed, or they are not JSON for another reason. The client repaired them or left them out, and ran
    /// the tool with what the model never said: with half of a path, or with the tool's defaults, which may mean
    /// "everything".
    ///
    /// This rule needs exchanges: each request with the response to it, in chronological order. Nothing is reported if
    /// the result says that something went wrong, or is what a parser of JSON says of the arguments, in the words of
    /// Python, JavaScript, Rust, Go, Java or .NET.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// [{"request": {"messages": [{"role": "user", "content": "delete the draft of the tide table"}]},
    ///   "response": {"role": "assistant", "stop_reason": "max_tokens", "content": [
    ///     {"type": "tool_use", "id": "toolu_1", "name": "delete", "input": {}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "delete the draft of the tide table"},
    ///     {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "delete", "input": {}}]},
    ///     {"role": "user", "content": [
    ///       {"type": "tool_result", "tool_use_id": "toolu_1", "content": "deleted every table"}]}]},  // flagged
    ///   "response": {"role": "assistant", "stop_reason": "end_turn", "content": []}}]
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// [{"request": {"messages": [{"role": "user", "content": "delete the draft of the tide table"}]},
    ///   "response": {"choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": null,
    ///     "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "delete", "arguments": "{\"name\": \"dra"}}]}}]}},
    ///  {"request": {"messages": [
    ///     {"role": "user", "content": "delete the draft of the tide table"},
    ///     {"role": "user", "content": "your answer was cut off: try again"}]},
    ///   "response": {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Which?"}}]}}]
    /// ```
    RanUnfinishedArguments in Arguments, since "0.1.0", error looks at [ANSWER], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(kept) = cx.kept else { return };
    for (given, stored) in kept.calls_kept().filter(|(given, stored)| has_run(cx, given, stored)) {
        let site = cx.pairing.call_at(stored.part).and_then(|call| cx.pairing.answer_of(call));
        let (Some(site), Body::Call(call)) = (site, &cx.transcript.parts[stored.part].body) else { continue };
        let why = if kept.answer.is_whole { "are not JSON" } else { "were cut off" };
        let finding = out.report(
            site.part.place,
            format!("the tool ran for call {}, although the arguments of the model {why}", call.title()),
        );
        finding.about_call(call).caption("its result").help(
            "do not run a call whose arguments do not parse or whose response was cut off: answer it with an error, or \
             ask the model again",
        );
        finding.label(cx.transcript.parts[stored.part].place, "the call in the history");
        finding.label_at(given.call.place, given.spot.clone(), "the call in the response");
        finding.say().tool_name = given.call.name.as_deref().map(text::kept);
    }
}

/// Whether a tool ran for a call that the model did not finish.
pub(super) fn has_run(cx: &Context<'_, '_>, given: &PastCall, stored: &MatchedCall) -> bool {
    // What was repaired without a loss had only been written in another way.
    let is_repaired = !given.is_cut && stored.change == Change::Same && stored.meaning != given.meaning();
    if !given.is_unfinished || is_repaired || stored.is_renamed {
        return false;
    }
    let Some(site) = cx.pairing.call_at(stored.part).and_then(|call| cx.pairing.answer_of(call)) else {
        return false;
    };
    let Some(content) = site.result.content_place.map(|place| cx.document.value(place.node)) else {
        return false;
    };
    let is_blank = content.as_str().is_some_and(|text| text.trim().is_empty());
    let text = content.raw();
    !is_blank && !is_failed(cx, site.result) && !tells_trouble(text) && !tells_of_parser(text)
}
