use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "tries-again", summary: "After a passing error, the same request is sent again.", judge };

/// The statuses of errors that pass.
const PASSING: [u16; 4] = [429, 500, 503, 529];

fn judge(seen: &Seen<'_>) -> Option<String> {
    let exchanges = &seen.case.run.exchanges;
    let at = exchanges.iter().position(|exchange| PASSING.contains(&exchange.status));
    let Some(at) = at else { return Some("no request met the error".to_owned()) };
    let failed = &exchanges[at];
    let again = exchanges[at + 1..].iter().find(|later| later.path == failed.path);
    match again {
        None => Some(format!("nothing was sent after the {}", failed.status)),
        Some(again) if again.request != failed.request => {
            Some(format!("another request was sent after the {}", failed.status))
        }
        Some(_) => None,
    }
}
