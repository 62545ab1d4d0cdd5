use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A refused request that is sent again unchanged and refused again.
    ///
    /// ## Why is this bad?
    ///
    /// The API refused the request because of what it contains, so it refuses it each time. The retries only delay the
    /// error that somebody has to see, and count against the rate limit.
    ///
    /// This rule needs exchanges with their `status`, in chronological order. It is about 400, 413 and 422, which are
    /// about the body; other errors, such as 429, 500 or 529, may be temporary, and so may authorization errors.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"error": {"message": "no"}}, "status": 400},
    ///  {"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},  // flagged
    ///   "response": {"error": {"message": "no"}}, "status": 400}]
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// [{"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"error": {"message": "later"}}, "status": 529},
    ///  {"request": {"messages": [{"role": "user", "content": "when is the tide?"}]},
    ///   "response": {"error": {"message": "later"}}, "status": 529}]
    /// ```
    RetriedRefusal in Agents, since "0.1.0", warning looks at [EXCHANGE], check
}

/// The statuses that say that the body is wrong.
const OF_BODY: [u16; 3] = [400, 413, 422];

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(resent) = cx.course.and_then(|course| course.resent.as_ref()) else { return };
    let is_refused_again = resent.status_now.is_some_and(|status| OF_BODY.contains(&status));
    // All retries of a request are one problem.
    if !OF_BODY.contains(&resent.status) || !is_refused_again || resent.count > 1 {
        return;
    }
    out.report(
        cx.transcript.place,
        format!("a request that was refused with {} is sent again unchanged", resent.status),
    )
    .caption("the same request again")
    .label_at(resent.place, resent.spot.clone(), "refused here")
    .help("do not retry a refusal of the body: show the error, or fix the request");
}
