use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check =
    Check { id: "keeps-order", summary: "Each result belongs to its own call.", judge };

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&["swapped-results"])
}
