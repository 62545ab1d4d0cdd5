use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "tells-failure",
    summary: "The model is told that its tool failed.",
    help: "give the model the error of the tool as the result of the call, marked as an error where the API has a field for it",
    judge,
};

/// What the standard tool `fail` fails with, and what loops say in its place.
const WORDS: [&str; 4] = ["tool failed", "error", "failed", "exception"];
/// The keys under which requests have their history.
const HISTORIES: [&str; 3] = ["messages", "input", "contents"];

fn judge(seen: &Seen<'_>) -> Judgement {
    let Some(request) = seen.case.run.exchanges.last().map(|exchange| &exchange.request) else {
        return Judgement::Inconclusive("no request was sent".to_owned());
    };
    let history =
        HISTORIES.iter().filter_map(|key| request.get(key)).map(|history| history.to_string().to_lowercase());
    let is_told = history.into_iter().any(|text| WORDS.iter().any(|word| text.contains(word)));
    (!is_told).then(|| "no result reports a failure".to_owned()).into()
}
