use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "answers-every-call", summary: "Each call has exactly one result, right after it.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&[
        "unanswered-tool-call",
        "late-tool-result",
        "orphan-tool-result",
        "duplicate-tool-result",
        "dropped-tool-call",
        "abandoned-call",
    ])
    .or_else(|| seen.flattened())
}
