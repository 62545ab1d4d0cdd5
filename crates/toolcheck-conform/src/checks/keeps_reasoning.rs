use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-reasoning",
    summary: "Reasoning is sent back unchanged.",
    help: "send the reasoning of a turn back unchanged, together with its calls",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&[RuleId::DroppedReasoning, RuleId::AlteredReasoning])
}
