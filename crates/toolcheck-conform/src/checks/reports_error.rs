use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "reports-error", summary: "The user is told that it went wrong.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    let last = seen.case.outcome;
    // What goes wrong does so before the user speaks again. How that run ended is not known of each loop.
    let outcome = match &seen.case.scenario.then {
        Some(_) => last.first.as_deref()?,
        None => last,
    };
    outcome.is_done.then(|| format!("it ended as if all went well, with `{}`", outcome.text))
}
