use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "respects-refusal", summary: "A refused request is not sent again unchanged.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["retried-refusal"])
}
