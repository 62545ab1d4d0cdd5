use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
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
