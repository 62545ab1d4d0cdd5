use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "never-says-default",
    summary: "No tool runs with a default in place of unfinished arguments.",
    help: "do not fill in arguments that are missing: give the model an error as the result of the call",
    judge,
};

/// What the standard tool `optional` answers if it was called without its argument. The default itself is in its schema.
const SENTINEL: &str = "got DEFAULT";

fn judge(seen: &Seen<'_>) -> Judgement {
    let ran = |exchange: &&toolcheck_serve::Exchange| exchange.request.to_string().contains(SENTINEL);
    let exchange = seen.case.run.exchanges.iter().find(ran);
    exchange.map(|exchange| format!("a result in a request to {} has `{SENTINEL}`", exchange.path)).into()
}
