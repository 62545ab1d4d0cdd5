//! Mappings of WireMock: which request gets which answer. Recorded ones have the whole body that the request must equal.

use toolcheck_json::Value;

use super::{Container, entries, json_starts, request_log};
use crate::exchanges::{Encoded, Maker, Recorded};
use crate::needs::Needs;
use crate::reason::Reason;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "wiremock", name: "WireMock mapping", needs: Needs::Nothing, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    json_starts(bytes, "\"bodyPatterns\"", |root| {
        let list = mappings(root);
        list.elements().chain([list]).any(|mapping| patterns(mapping).is_some())
    })
}

/// The mappings of a file: one, or several in a list.
fn mappings<'d, 's>(root: Value<'d, 's>) -> Value<'d, 's> {
    root.get("mappings").unwrap_or(root)
}

fn patterns<'d, 's>(mapping: Value<'d, 's>) -> Option<Value<'d, 's>> {
    mapping.get("request")?.get("bodyPatterns").filter(|patterns| patterns.is_array())
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    entries::each(bytes, &mut maker, mappings, |maker, at, mapping| {
        // Another pattern says only what the body has somewhere.
        let equal = patterns(mapping).into_iter().flat_map(Value::elements);
        let mut bodies = (0..).zip(equal).filter_map(|(number, one)| Some((number, one.get("equalToJson")?)));
        let Some((number, body)) = bodies.next() else { return maker.leave_out(Reason::NoBody) };
        let said = mapping.get("response");
        let places = ["jsonBody", "body"];
        let answer = places.iter().find_map(|key| Some((*key, said?.get(key)?)));
        let urls = ["url", "urlPath", "urlPattern", "urlPathPattern"];
        let url = mapping.get("request").and_then(|request| request.get_any(&urls)?.as_str());
        let text = |value: Value<'_, '_>| request_log::text(bytes, at.start, value);
        maker.add(Recorded {
            request_label: at.label(&format!("request.bodyPatterns[{number}].equalToJson")),
            request: Box::new(move |_| text(body)),
            url: url.unwrap_or_default().into_owned(),
            response_label: at.label(&format!("response.{}", answer.map_or("jsonBody", |(key, _)| key))),
            response: answer.map(|(_, body)| -> Encoded<'_> { Box::new(move |_| text(body)) }),
            status: said.and_then(|said| u16::try_from(said.get("status")?.as_u64()?).ok()),
        });
    });
    Some(maker.finish(&CONTAINER, None))
}
