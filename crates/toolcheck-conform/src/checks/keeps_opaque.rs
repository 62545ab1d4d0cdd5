use serde_json::Value as Json;
use toolcheck_serve::Opaque;

use super::{Check, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-opaque",
    summary: "What only the provider can read is sent back as it was, in its place.",
    judge,
};

fn judge(seen: &Seen<'_>) -> Option<String> {
    let exchanges = &seen.case.run.exchanges;
    for (number, exchange) in exchanges.iter().enumerate() {
        let Some(next) = exchanges.get(number + 1) else { continue };
        let is_lost = |opaque: &&Opaque| !holds(&next.request, opaque);
        if let Some(lost) = exchange.opaque.iter().find(is_lost) {
            let beside =
                lost.beside.as_ref().map_or_else(String::new, |beside| format!(" beside `{beside}`"));
            return Some(format!("`{}` is not sent back{beside}", lost.text));
        }
    }
    None
}

/// Whether an object in a request has the text, with what stands beside it.
fn holds(value: &Json, opaque: &Opaque) -> bool {
    match value {
        Json::Array(elements) => elements.iter().any(|element| holds(element, opaque)),
        Json::Object(members) => {
            let is_it = members.values().any(|member| member.as_str() == Some(&*opaque.text));
            let beside = |beside: &String| value.to_string().contains(beside);
            is_it && opaque.beside.as_ref().is_none_or(beside)
                || members.values().any(|member| holds(member, opaque))
        }
        _ => false,
    }
}
