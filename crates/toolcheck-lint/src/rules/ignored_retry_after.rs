use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A request that is sent again earlier than the API asked for.
    ///
    /// ## Why is this bad?
    ///
    /// The API said in `retry-after` how long to wait. A client that comes back earlier gets the same answer, uses up
    /// its attempts and may be blocked for longer.
    ///
    /// This rule needs exchanges with the times and headers of a recording, in chronological order: `time`, in seconds
    /// or as a date of RFC 3339, and `headers`, those of the response.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]}, "time": "2026-11-21T10:00:00.0Z",
    ///   "response": {"error": {"message": "later"}}, "status": 429,
    ///   "headers": {"retry-after": "20"}},
    ///  {"request": {"messages": [{"role": "user", "content": "when is the tide?"}]}, "time": "2026-11-21T10:00:02.0Z",  // flagged
    ///   "response": {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "At noon."}}]}, "status": 200}]
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]}, "time": "2026-11-21T10:00:00.0Z",
    ///   "response": {"error": {"message": "later"}}, "status": 429,
    ///   "headers": {"retry-after": "20"}},
    ///  {"request": {"messages": [{"role": "user", "content": "when is the tide?"}]}, "time": "2026-11-21T10:00:21.0Z",
    ///   "response": {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "At noon."}}]}, "status": 200}]
    /// ```
    IgnoredRetryAfter in Agents, since "0.1.0", warning looks at [EXCHANGE], check
}

/// How many seconds too early is not worth a finding: many times are written in whole seconds.
const ROUNDED: f64 = 1.0;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(resent) = cx.course.and_then(|course| course.resent.as_ref()) else { return };
    let Some((asked, waited)) = resent.retry_after.zip(resent.waited) else { return };
    if waited < 0.0 || waited + ROUNDED >= asked {
        return;
    }
    out.report(
        cx.transcript.place,
        format!(
            "sent again after {waited:.1} s, although the answer with {} asked for {asked:.1} s",
            resent.status
        ),
    )
    .caption("the same request again")
    .label_at(resent.place, resent.spot.clone(), "sent here first")
    .help("wait as long as `retry-after` asks before the next attempt");
}
