use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "reports-error", summary: "The user is told that it went wrong.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    let outcome = seen.case.outcome;
    outcome.is_done.then(|| format!("it ended as if all went well, with `{}`", outcome.text))
}
