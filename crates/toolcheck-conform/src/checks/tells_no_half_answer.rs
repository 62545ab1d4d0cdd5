use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "tells-no-half-answer",
    summary: "An unfinished answer is not shown as the answer of the model.",
    help: "check that the stream has ended with its last event before its text is used; otherwise send the request again or report an error",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let outcome = seen.case.outcome;
    if !seen.went_wrong() {
        return Judgement::Inconclusive("no response broke off".to_owned());
    }
    let whole = |turn: &&toolcheck_serve::Turn| !turn.is_error() && !turn.text.is_empty();
    let is_whole =
        seen.case.scenario.said().iter().filter(whole).any(|turn| outcome.text.contains(&turn.text));
    (outcome.is_done && !is_whole)
        .then(|| format!("it ended as if all went well, with `{}`", outcome.text))
        .into()
}
