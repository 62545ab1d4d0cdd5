use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "tries-again",
    summary: "After a transient error, the same request is sent again.",
    help: "after a 429 or a 5xx, send the same request again after a delay",
    judge,
};

/// The statuses of errors that pass.
const PASSING: [u16; 4] = [429, 500, 503, 529];

fn judge(seen: &Seen<'_>) -> Judgement {
    let exchanges = &seen.case.run.exchanges;
    let at = exchanges.iter().position(|exchange| PASSING.contains(&exchange.status));
    let Some(at) = at else { return Judgement::Inconclusive("no request met the error".to_owned()) };
    let failed = &exchanges[at];
    let again = exchanges[at + 1..].iter().find(|later| later.path == failed.path);
    match again {
        None => Judgement::Broken(format!("nothing was sent after the {}", failed.status)),
        Some(again) if again.request != failed.request => {
            Judgement::Broken(format!("another request was sent after the {}", failed.status))
        }
        Some(_) => Judgement::Met,
    }
}
