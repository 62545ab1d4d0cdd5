use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
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
            "sent again after {waited:.1} s, but the response with {} asked to wait {asked:.1} s",
            resent.status
        ),
    )
    .caption("the same request again")
    .label_at(resent.place, resent.spot.clone(), "sent here first")
    .help("wait as long as `retry-after` asks before the next attempt");
}
