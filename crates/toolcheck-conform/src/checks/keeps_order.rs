use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-order",
    summary: "Each result belongs to its own call.",
    help: "give each result the id of its own call, whichever tool ends first",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&[RuleId::SwappedResults])
}
