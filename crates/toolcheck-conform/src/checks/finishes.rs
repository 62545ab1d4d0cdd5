use serde_json::{Map, Value as Json};
use toolcheck_core::ir::Executor;
use toolcheck_core::response::ChoiceCall;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "finishes",
    summary: "The run ends with the last answer of the model.",
    help: "give the model the error of a tool as a result instead of ending the run, and return the text of the turn that has no calls",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let outcome = seen.case.outcome;
    let Some(last) = seen.case.scenario.said().iter().rev().find(|turn| !turn.is_error()) else {
        return Judgement::Met;
    };
    if !outcome.is_done {
        let lines = outcome.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let error = lines.collect::<Vec<_>>().join(" | ");
        return Judgement::Broken(format!("it ended with an error: {error}"));
    }
    if outcome.text.contains(&last.text) || tells_last(seen) {
        return Judgement::Met;
    }
    let told = match outcome.text.trim() {
        "" => "the user was told nothing".to_owned(),
        text => format!("the user was told `{text}`"),
    };
    Judgement::Broken(format!("{}, and {told}", ending(seen)))
}

/// Whether the user was told what the model said last, where that is not the end of the script.
fn tells_last(seen: &Seen<'_>) -> bool {
    let number = seen.case.run.exchanges.len().saturating_sub(1);
    let last = seen.choice(number).filter(|choice| choice.is_whole && seen.calls(choice).next().is_none());
    let tool = seen.case.scenario.final_tool.as_deref();
    let is_end = |call: &&ChoiceCall| tool.is_some() && call.name.as_deref() == tool;
    let calls = last.into_iter().flat_map(|choice| choice.calls.iter().filter(is_end));
    let said = calls.filter_map(|call| serde_json::from_str::<Map<String, Json>>(&call.arguments).ok());
    let said: Vec<Json> = said.flat_map(Map::into_values).collect();
    let texts = last.map(|choice| &*choice.text).into_iter().chain(said.iter().filter_map(Json::as_str));
    let mut texts = texts.map(str::trim).filter(|text| !text.is_empty());
    texts.any(|text| seen.case.outcome.text.contains(text))
}

/// What came last. The script may not have been reached: only what was answered counts.
fn ending(seen: &Seen<'_>) -> String {
    let exchanges = &seen.case.run.exchanges;
    let number = exchanges.len().saturating_sub(1);
    if let Some(last) = exchanges.last().filter(|last| last.status >= 400) {
        return format!("the last request was answered with {}", last.status);
    }
    let Some(choice) = seen.choice(number) else {
        return "nothing can be read in the last response".to_owned();
    };
    if !choice.is_whole {
        return "the last response broke off".to_owned();
    }
    let calls: Vec<_> = seen.calls(choice).collect();
    match &calls[..] {
        [call] => {
            return format!(
                "the run ended with the call of `{}` unanswered",
                call.name.as_deref().unwrap_or_default()
            );
        }
        [_, ..] => return format!("the run ended with {} calls unanswered", calls.len()),
        [] => {}
    }
    let text = choice.text.trim();
    let named = choice.calls.iter().find_map(|call| Some((call.executor, call.name.as_deref()?)));
    match named {
        Some((Executor::Client, name)) => format!("the model ended the run with `{name}`"),
        Some((_, name)) if text.is_empty() => {
            format!("the last response has only the call of `{name}`, which the provider ran")
        }
        _ if text.is_empty() => "the last answer of the model is empty".to_owned(),
        _ => format!("the last answer of the model is `{text}`"),
    }
}
