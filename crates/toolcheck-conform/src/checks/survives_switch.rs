use toolcheck_core::diff::{Level, Side, diff};
use toolcheck_core::formats;
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
    let said = turns.iter().take(turns.len() - 1).find(|turn| !after.to_string().contains(&turn.text));
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
    let lost = diff.changes.iter().find(|change| change.level == Level::Loss && !change.inexpressible)?;
    Some(format!("{}: {}", lost.kind.id(), lost.about))
}
