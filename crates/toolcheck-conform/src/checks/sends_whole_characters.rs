use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "sends-whole-characters",
    summary: "No request holds half a character.",
    help: "cut texts between characters, not between bytes or UTF-16 code units",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let sent = seen.case.run.exchanges.iter().find(|exchange| exchange.request.has_half_characters());
    sent.map(|sent| format!("a request to {} has half a character", sent.path)).into()
}
