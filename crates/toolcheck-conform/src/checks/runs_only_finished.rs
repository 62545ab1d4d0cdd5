use super::{Check, Seen};

pub(super) static CHECK: Check = Check {
    id: "runs-only-finished",
    summary: "No tool runs with arguments that the model never finished.",
    judge,
};

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["ran-unfinished-arguments"]).or_else(|| seen.flattened())
}
