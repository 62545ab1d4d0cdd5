use toolcheck_core::Level;

use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "is-valid", summary: "No request has an error, and none was made between two.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    let error = seen.report.findings.iter().find(|finding| finding.level == Level::Error)?;
    Some(format!("{}: {}", error.rule, error.message))
}
