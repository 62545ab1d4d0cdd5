use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "reports-error",
    summary: "The user is told that the run failed.",
    help: "end the run with an error that says what went wrong, and not with an empty answer",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let last = seen.case.outcome;
    // What goes wrong does so before the user speaks again. How that run ended is not known of each loop.
    let outcome = match &seen.case.scenario.then {
        Some(_) => match last.first.as_deref() {
            Some(first) => first,
            None => return Judgement::Met,
        },
        None => last,
    };
    if !seen.went_wrong() {
        return Judgement::Inconclusive("the run did not get as far as the error".to_owned());
    }
    outcome.is_done.then(|| format!("it ended as if all went well, with `{}`", outcome.text)).into()
}
