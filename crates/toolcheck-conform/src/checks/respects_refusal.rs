use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "respects-refusal",
    summary: "A refused request is not sent again unchanged.",
    help: "after a 400, change the request or end the run: the same request is refused again",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    // Only a script refuses a request without a fault.
    let is_refused =
        |exchange: &toolcheck_serve::Exchange| exchange.status >= 400 && exchange.refused.is_none();
    if !seen.case.run.exchanges.iter().any(is_refused) {
        return Judgement::Inconclusive("no request met the refusal".to_owned());
    }
    seen.finding_of(&[RuleId::RetriedRefusal])
}
