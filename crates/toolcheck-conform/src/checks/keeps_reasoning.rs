use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "keeps-reasoning", summary: "Reasoning is sent back unchanged.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["dropped-reasoning", "altered-reasoning"])
}
