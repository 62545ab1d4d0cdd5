use serde_json::Value as Json;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "shows-image",
    summary: "An image that a tool returns is shown to the model as an image.",
    help: "put the image into the result as an image block, not as text",
    judge,
};

/// The keys under which formats have the data of an image, or a URL with it.
const KEYS: [&str; 6] = ["data", "bytes", "url", "image_url", "image", "images"];
/// How a PNG image begins in base64.
const PNG: &str = "iVBORw0KGgo";
/// What may stand before it where a URL is asked for.
const URL: &str = "data:image/png;base64,";

fn judge(seen: &Seen<'_>) -> Judgement {
    let is_shown = seen.case.run.exchanges.iter().any(|exchange| has_image(&exchange.request, false));
    (!is_shown).then(|| "no request has the image".to_owned()).into()
}

/// Whether there is an image; in a text, it would be one for nobody.
fn has_image(value: &Json, is_place: bool) -> bool {
    match value {
        Json::String(text) => is_place && text.strip_prefix(URL).unwrap_or(text).starts_with(PNG),
        Json::Array(elements) => elements.iter().any(|element| has_image(element, is_place)),
        Json::Object(members) => {
            members.iter().any(|(key, member)| has_image(member, KEYS.contains(&&**key)))
        }
        _ => false,
    }
}
