use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "is-not-refused",
    summary: "The API refuses none of the requests.",
    help: "record the run with `--record DIRECTORY`: `toolcheck lint DIRECTORY` shows what is wrong with the requests",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let say = |refused: &toolcheck_serve::Refused| {
        format!("refused with {}: {} at {}: {}", refused.status, refused.rule, refused.place, refused.message)
    };
    seen.case.run.refused().next().map(say).into()
}
