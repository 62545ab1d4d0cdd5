use toolcheck_core::Level;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "is-valid",
    summary: "No request has an error, and none was made between two.",
    help: "record the run with `--record DIRECTORY`: `toolcheck lint DIRECTORY` shows what is wrong with the requests",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let error = seen.report.findings.iter().find(|finding| finding.level == Level::Error);
    error.map(|error| format!("{}: {}", error.rule, error.message)).into()
}
