use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "finishes", summary: "The run ends with what the model said last.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    let outcome = seen.case.outcome;
    let last = seen.case.scenario.said().iter().rev().find(|turn| !turn.is_error())?;
    if !outcome.is_done {
        return Some(format!("it ended with an error: {}", outcome.text));
    }
    let is_told = outcome.text.contains(&last.text);
    (!is_told)
        .then(|| format!("the model said `{}` last, and the user was told `{}`", last.text, outcome.text))
}
