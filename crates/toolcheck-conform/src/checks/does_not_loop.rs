use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "does-not-loop",
    summary: "The run ends by itself, whatever the model repeats.",
    help: "limit the number of turns, and end the run with an error when the limit is reached",
    judge,
};

/// The most requests of a run that counts as one that ends.
const MOST: usize = 30;

fn judge(seen: &Seen<'_>) -> Judgement {
    let requests = seen.case.run.exchanges.len() + seen.case.run.not_kept;
    (requests > MOST).then(|| format!("{requests} requests were sent")).into()
}
