use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "runs-only-finished",
    summary: "No tool runs with arguments that the model never finished.",
    help: "run a tool only if its arguments are complete, valid JSON; otherwise give the model an error as the result of the call",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&[RuleId::RanUnfinishedArguments])
}
