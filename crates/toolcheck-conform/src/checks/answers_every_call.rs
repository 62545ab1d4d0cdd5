use toolcheck_core::conversation::{Conversation, Turn};
use toolcheck_core::{Level, RuleId, formats};
use toolcheck_lint::Finding;
use toolcheck_serve::Exchange;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "answers-every-call",
    summary: "Each call has exactly one result, right after it.",
    help: "run every call of a turn, even if another one fails, and add one result per call right after the turn, with the id of the call",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let rules = [
        RuleId::UnansweredToolCall,
        RuleId::LateToolResult,
        RuleId::OrphanToolResult,
        RuleId::DuplicateToolResult,
    ];
    // Of calls that are only in another order or in several turns, it warns.
    let is_dropped =
        |finding: &Finding| finding.rule == RuleId::DroppedToolCall && finding.level == Level::Error;
    seen.structure(&rules)
        .or_else(|| seen.first_finding(is_dropped))
        // Of what is lost altogether the linter can't say whether it had to be kept.
        .or_else(|| lost(seen).into())
        .or_else(|| seen.finding_of(&[RuleId::AbandonedCall]))
}

/// The first turn of the model with calls of which no later request has any.
fn lost(seen: &Seen<'_>) -> Option<String> {
    let exchanges = &seen.case.run.exchanges;
    let later: Vec<(String, Option<usize>)> =
        exchanges.iter().map(|exchange| (exchange.request.to_string(), count(exchange))).collect();
    for number in 0..exchanges.len() {
        let Some(choice) = seen.choice(number).filter(|choice| choice.is_whole) else { continue };
        let calls: Vec<_> = seen.calls(choice).collect();
        let ids = || calls.iter().filter_map(|call| call.id.as_deref()).filter(|id| !id.is_empty());
        // A loop may give them other ids.
        let has_more =
            |count: &Option<usize>| count.is_none_or(|count| later[number].1.is_none_or(|own| count > own));
        let keeps =
            |(text, count): &(String, Option<usize>)| ids().any(|id| text.contains(id)) || has_more(count);
        let is_last = number + 1 == exchanges.len();
        // An error that ends the run is told by others.
        let has_failed = is_last && !seen.case.outcome.is_done;
        if calls.is_empty() || has_failed || later[number + 1..].iter().any(keeps) {
            continue;
        }
        let what = match &calls[..] {
            [call] => format!("the call of `{}`", call.name.as_deref().unwrap_or_default()),
            several => format!("{} calls", several.len()),
        };
        return Some(match is_last {
            true => format!("the run ended with {what} unanswered"),
            false => format!("the run went on without {what}: no later request has any of the turn"),
        });
    }
    None
}

/// How many calls the history of a request has, if it can be read.
pub(super) fn count(exchange: &Exchange) -> Option<usize> {
    let said = Conversation::read(&exchange.request, formats::find(exchange.format)?)?;
    Some(said.turns.iter().map(|turn: &Turn| turn.calls().len()).sum())
}
