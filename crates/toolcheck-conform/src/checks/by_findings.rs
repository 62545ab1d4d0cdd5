//! Checks that only look for findings of rules.

use toolcheck_core::RuleId;

use super::Check;

pub(super) static KEEPS_ARGUMENTS: Check = Check {
    id: "keeps-arguments",
    summary: "The history has the arguments that the model wrote.",
    help: "keep the arguments of a call in the history as the model wrote them, even if they are not JSON",
    judge: |seen| seen.structure(&[RuleId::AlteredArguments]),
};

pub(super) static KEEPS_REASONING: Check = Check {
    id: "keeps-reasoning",
    summary: "Reasoning is sent back unchanged.",
    help: "send the reasoning of a turn back unchanged, together with its calls",
    judge: |seen| seen.structure(&[RuleId::DroppedReasoning, RuleId::AlteredReasoning]),
};

pub(super) static KEEPS_TURN: Check = Check {
    id: "keeps-turn",
    summary: "A turn of the model stays one turn, with all of its content.",
    help: "append each turn of the model as one turn, with its text and all of its calls",
    judge: |seen| seen.structure(&[RuleId::SplitAssistantTurn, RuleId::DroppedToolCall, RuleId::DroppedText]),
};

pub(super) static RUNS_ONLY_FINISHED: Check = Check {
    id: "runs-only-finished",
    summary: "No tool runs with arguments that the model never finished.",
    help: "run a tool only if its arguments are complete, valid JSON; otherwise give the model an error as the result of the call",
    judge: |seen| seen.structure(&[RuleId::RanUnfinishedArguments]),
};
