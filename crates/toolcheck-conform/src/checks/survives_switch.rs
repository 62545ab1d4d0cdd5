use serde_json::Value as Json;
use toolcheck_core::conversation::{Conversation, Turn};
use toolcheck_core::diff::{Kind, Level, Side, diff};
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;

use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "survives-switch", summary: "Another API gets the conversation as it was.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    let exchanges = &seen.case.run.exchanges;
    let Some(first) = exchanges.first() else { return Some("no request came".to_owned()) };
    let Some(at) = exchanges.iter().position(|exchange| exchange.format != first.format) else {
        return Some(format!("all requests are in {}", first.format));
    };
    let after = &exchanges[at].request;
    let turns = seen.case.scenario.said();
    let count = exchanges[..at].iter().filter(|exchange| exchange.status == 200).count();
    let said = turns.iter().take(count).find(|turn| !after.to_string().contains(&turn.text));
    if let Some(turn) = said {
        return Some(format!("`{}` is lost", turn.text));
    }
    let texts = [&exchanges[at - 1], &exchanges[at]].map(|exchange| exchange.request.to_string());
    let [before, after] = [0, 1].map(|side| Document::read(texts[side].as_bytes()));
    let formats = [exchanges[at - 1].format, exchanges[at].format].map(formats::find);
    let [Some(from), Some(to)] = formats else { return None };
    let (Some(before_read), Some(after_read)) = (from.read(before.root()), to.read(after.root())) else {
        return Some("the history cannot be read".to_owned());
    };
    let diff = diff(&Side::new(&before_read, &before), &Side::new(&after_read, &after));
    // Some formats have a text in an object of its own, which says the same.
    let results = [(at - 1, from), (at, to)].map(|(at, format)| results(&exchanges[at].request, format));
    let are_same = results[1].starts_with(&results[0]);
    let lost = diff.changes.iter().find(|change| {
        let is_said = change.kind == Kind::ResultChanged && are_same;
        change.level == Level::Loss && !change.inexpressible && !is_said
    })?;
    Some(format!("{}: {}", lost.kind.id(), lost.about))
}

/// The texts of the results in a request.
fn results(request: &Json, format: &Format) -> Vec<String> {
    let turns = Conversation::read(request, format).unwrap_or_default().turns;
    let outputs = turns.into_iter().filter_map(|turn| match turn {
        Turn::Results(outputs) => Some(outputs),
        _ => None,
    });
    outputs.flatten().map(|output| output.text).collect()
}
