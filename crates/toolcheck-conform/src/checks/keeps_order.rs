use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "keeps-order", summary: "Each result belongs to its own call.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["swapped-results"])
}
