use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "keeps-turn", summary: "What the model said in one turn stays in one turn, whole.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    seen.finding_of(&["split-assistant-turn", "dropped-tool-call", "dropped-text"])
        .or_else(|| seen.flattened())
}
