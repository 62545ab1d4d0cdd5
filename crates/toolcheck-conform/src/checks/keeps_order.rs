use serde_json::Value as Json;
use toolcheck_core::conversation::{Assistant, Call, Conversation, Turn};
use toolcheck_core::{RuleId, formats};

use super::{Check, Seen, outputs};

pub(super) static CHECK: Check = Check {
    id: "keeps-order",
    summary: "Each result belongs to its own call.",
    help: "give each result the id of its own call, or its place where calls have no ids, whichever tool ends first",
    judge: |seen| seen.structure(&[RuleId::SwappedResults]).or_else(|| misplaced(seen).into()),
};

/// A result that repeats what another call asked for, and not what its own call did. Unlike the linter, the harness knows
/// what its tools return.
fn misplaced(seen: &Seen<'_>) -> Option<String> {
    let calls = seen.case.scenario.said().iter().flat_map(|turn| &turn.calls);
    let texts: Vec<&str> = calls.filter_map(|call| call.arguments.as_ref()?.get("text")?.as_str()).collect();
    (0..seen.said.len()).find_map(|number| {
        let conversation = conversation(seen, number)?;
        let calls: Vec<&Call> = conversation.turns.iter().flat_map(Turn::calls).collect();
        outputs(&conversation).find_map(|output| {
            let call = calls.iter().find(|call| call.id == output.call_id)?;
            let asked = Json::Object(call.arguments.clone()).to_string();
            let own = texts.iter().filter(|text| has_words(&asked, text)).max_by_key(|text| text.len())?;
            let is_of_other = |text: &&str| has_words(&output.text, &format!("got {text}"));
            let is_misplaced = !output.text.contains(own) && texts.iter().any(is_of_other);
            is_misplaced.then(|| format!("a call of `{}` has the result of another call", call.name))
        })
    })
}

/// The history of a request, in which each result has the id of its call. Where the server keeps the history, the calls are
/// those that the model made last.
pub(super) fn conversation(seen: &Seen<'_>, number: usize) -> Option<Conversation> {
    let exchange = &seen.case.run.exchanges[number];
    let mut said = Conversation::read(&exchange.request, formats::find(exchange.format)?)?;
    let mut earlier = (0..number).rev().filter_map(|number| seen.choice(number));
    if let Some(choice) = earlier.find(|choice| exchange.goes_on && !choice.calls.is_empty()) {
        let calls = choice.calls.iter().map(|call| {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
            Call::new(
                call.id.as_deref().unwrap_or_default(),
                call.name.as_deref().unwrap_or_default(),
                arguments,
            )
        });
        said.turns.insert(0, Turn::Assistant(Assistant::new("").with_calls(calls.collect())));
    }
    Some(said.numbered())
}

/// Whether a text has these words as whole words.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}
