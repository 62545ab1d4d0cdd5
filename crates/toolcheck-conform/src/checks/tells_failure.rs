use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "tells-failure", summary: "The model is told that its tool failed.", judge };

/// What the standard tool `fail` fails with.
const SENTINEL: &str = "TOOL FAILED";

fn judge(seen: &Seen<'_>) -> Option<String> {
    let last = seen.case.run.exchanges.last()?;
    let is_told = last.request.to_string().contains(SENTINEL);
    (!is_told).then(|| format!("no result has `{SENTINEL}`"))
}
