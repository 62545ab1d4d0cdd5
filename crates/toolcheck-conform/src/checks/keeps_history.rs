use super::answers_every_call::count;
use super::{Check, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-history",
    summary: "A short conversation is sent whole.",
    help: "send all earlier turns again, and leave some out only when the conversation is near the limit of the model",
    judge: |seen| seen.flattened().or_else(|| forgotten(seen).into()),
};

/// A request without calls of earlier turns, where the server does not keep them.
fn forgotten(seen: &Seen<'_>) -> Option<String> {
    let exchanges = seen.case.run.exchanges.iter().enumerate();
    let mut made = 0;
    exchanges.into_iter().find_map(|(number, exchange)| {
        let due = made;
        made += seen.choice(number).map_or(0, |choice| seen.calls(choice).count());
        let sent = count(exchange).filter(|sent| !exchange.goes_on && *sent > 0 && *sent < due)?;
        Some(format!("request {} has {sent} of the {due} calls of earlier turns", number + 1))
    })
}
