use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "waits",
    summary: "The next attempt comes after the time that the server asked for.",
    help: "wait as long as the header `retry-after` asks before sending the request again",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    if seen.case.run.exchanges.iter().all(|exchange| exchange.retry_after.is_none()) {
        return Judgement::Inconclusive("the server did not ask to wait".to_owned());
    }
    seen.finding_of(&[RuleId::IgnoredRetryAfter])
}
