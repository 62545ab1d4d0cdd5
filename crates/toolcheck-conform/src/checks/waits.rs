use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "waits", summary: "The next attempt comes after the time that the server asked for.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["ignored-retry-after"])
}
