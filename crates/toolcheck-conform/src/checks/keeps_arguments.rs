use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check =
    Check { id: "keeps-arguments", summary: "The history has the arguments that the model wrote.", judge };

fn judge(seen: &Seen<'_>) -> Judgement {
    seen.structure(&["altered-arguments"])
}
