use toolcheck_core::RuleId;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-turn",
    summary: "A turn of the model stays one turn, with all of its content.",
    help: "append each turn of the model as one turn, with its text and all of its calls",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&[RuleId::SplitAssistantTurn, RuleId::DroppedToolCall, RuleId::DroppedText])
}
