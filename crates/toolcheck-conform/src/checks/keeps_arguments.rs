use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-arguments",
    summary: "The history has the arguments that the model wrote.",
    help: "keep the arguments of a call in the history as the model wrote them, even if they are not JSON",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&[RuleId::AlteredArguments])
}
