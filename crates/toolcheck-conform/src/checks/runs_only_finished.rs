use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "runs-only-finished",
    summary: "No tool runs with arguments that the model never finished.",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&["ran-unfinished-arguments"])
}
