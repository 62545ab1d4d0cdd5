use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "does-not-loop", summary: "The same failing call is not repeated without end.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["endless-loop"])
}
