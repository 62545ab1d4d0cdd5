use serde_json::{Map, Value as Json};
use toolcheck_core::conversation::Conversation;
use toolcheck_core::diff::{Kind, Level, Side, diff};
use toolcheck_core::ir::{Place, Role};
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;
use toolcheck_serve::Exchange;

use super::{Check, Judgement, Seen, outputs};

pub(super) static CHECK: Check = Check {
    id: "survives-switch",
    summary: "Another API gets the conversation as it was.",
    help: "translate the whole history for the other API: calls, results, their ids and texts",
    judge,
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let exchanges = &seen.case.run.exchanges;
    let first = exchanges.first().map_or("one format", |first| first.format);
    let Some(at) = exchanges.iter().position(|exchange| exchange.format != first) else {
        return Judgement::Inconclusive(format!("all requests are in {first}"));
    };
    let after = &exchanges[at].request;
    let sent = after.to_string();
    let said = seen.said[..at].iter().flatten().map(|choice| choice.text.trim());
    let is_lost = |text: &&str| {
        let quoted = Json::from(*text).to_string();
        !sent.contains(&quoted[1..quoted.len() - 1])
    };
    if let Some(text) = said.filter(|text| !text.is_empty()).find(is_lost) {
        return Judgement::Broken(format!("`{text}` is lost"));
    }
    lost(&exchanges[at - 1], &exchanges[at]).into()
}

/// What the first request of another format has lost of the last one before.
fn lost(before: &Exchange, after: &Exchange) -> Option<String> {
    let (from, to) = (formats::find(before.format)?, formats::find(after.format)?);
    let texts = [before, after].map(|exchange| exchange.request.to_string());
    let documents = [0, 1].map(|side| Document::read(texts[side].as_bytes()));
    let (Some(before_read), Some(after_read)) =
        (from.read(documents[0].root()), to.read(documents[1].root()))
    else {
        return Some("the history cannot be read".to_owned());
    };
    let diff = diff(&Side::new(&before_read, &documents[0]), &Side::new(&after_read, &documents[1]));
    // Some clients write a text in an object of its own in some formats, which says the same.
    let holds = |object: &str, text: &str| {
        let members: Map<String, Json> = serde_json::from_str(object).unwrap_or_default();
        members.values().any(|value| value == text)
    };
    let says = |(one, other): (&String, &String)| one == other || holds(one, other) || holds(other, one);
    let (written, rewritten) = (results(&before.request, from), results(&after.request, to));
    let are_same = written.len() <= rewritten.len() && written.iter().zip(&rewritten).all(says);
    // What an application tells the model of one API need not hold for another.
    let is_of_system = |place: Place| {
        let messages = before_read.messages.iter().filter(|message| message.role == Role::System);
        let mut own = messages.map(|message| message.place).chain(before_read.request.instructions);
        own.any(|own| own.span.start <= place.span.start && place.span.end <= own.span.end)
    };
    let lost = diff.changes.iter().find(|change| {
        let is_said = change.kind == Kind::ResultChanged && are_same;
        let is_meant = !change.before.is_some_and(is_of_system);
        change.level == Level::Loss && !change.inexpressible && !is_said && is_meant
    })?;
    Some(format!("{}: {}", lost.kind.id(), lost.about))
}

fn results(request: &Json, format: &Format) -> Vec<String> {
    let said = Conversation::read(request, format).unwrap_or_default();
    outputs(&said).map(|output| output.text.clone()).collect()
}
