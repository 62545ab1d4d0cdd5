use toolcheck_serve::Exchange;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "shortens",
    summary: "After a refusal because of its length, a shorter request is sent.",
    help: "shorten the history before it is sent again, and remove calls only together with their results",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let exchanges = &seen.case.run.exchanges;
    // Only a script refuses a request without a fault.
    let is_refused = |exchange: &Exchange| exchange.status >= 400 && exchange.refused.is_none();
    let Some(at) = exchanges.iter().position(is_refused) else {
        return Judgement::Inconclusive("no request met the refusal".to_owned());
    };
    let length = |exchange: &Exchange| exchange.request.to_string().len();
    match exchanges.get(at + 1) {
        None => Judgement::Broken("nothing was sent after the refusal".to_owned()),
        Some(next) if length(next) >= length(&exchanges[at]) => {
            Judgement::Broken("the request after the refusal is not shorter".to_owned())
        }
        Some(_) => Judgement::Met,
    }
}
