//! Mappings of WireMock, in JSON or YAML: which request gets which answer. Recorded ones have the whole body that the request
//! must equal.

use toolcheck_json::Value;

use super::{Container, head_has, is_json, json_starts, outer_keys};
use crate::exchanges::{Encoded, Maker, Recorded};
use crate::needs::Needs;
use crate::reason::Reason;
use crate::tree::{Id, Tree};
use crate::{Limits, Opened, written};

pub(super) static CONTAINER: Container =
    Container { id: "wiremock", name: "WireMock mapping", needs: Needs::Yaml, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    if !is_json(bytes) {
        let is_own = |key: &[u8]| matches!(key, b"request" | b"mappings");
        return head_has(bytes, b"bodyPatterns:") && outer_keys(bytes).any(is_own);
    }
    let has_patterns = |mapping: Value<'_, '_>| {
        let patterns = mapping.get_in(&["request", "bodyPatterns"]);
        patterns.is_some_and(Value::is_array)
    };
    json_starts(bytes, "\"bodyPatterns\"", |root| {
        let list = root.get("mappings").unwrap_or(root);
        list.elements().chain([list]).any(has_patterns)
    })
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let tree = &Tree::read(bytes)?;
    let mut maker = Maker::new(bytes.len(), limits);
    for (number, root) in tree.roots.iter().enumerate() {
        let list = tree.get(*root, "mappings");
        let mappings = list.map_or(std::slice::from_ref(root), |list| tree.items(list));
        for (inner, mapping) in mappings.iter().enumerate() {
            let label = match list {
                Some(_) => format!("mappings[{inner}]."),
                None if tree.roots.len() > 1 => format!("[{number}]."),
                None => String::new(),
            };
            add(tree, *mapping, &label, &mut maker);
        }
    }
    Some(maker.finish(&CONTAINER, tree.broken_at))
}

fn add(tree: &Tree<'_>, mapping: Id, label: &str, maker: &mut Maker) {
    if tree.is_exhausted() {
        return maker.leave_out(Reason::TooLarge);
    }
    let patterns = tree.at(mapping, &["request", "bodyPatterns"]).map_or(&[][..], |list| tree.items(list));
    // Another pattern says only what the body has somewhere.
    let mut bodies = patterns.iter().map(|pattern| tree.get(*pattern, "equalToJson")).enumerate();
    let Some((number, body)) = bodies.find_map(|(number, body)| Some((number, body?))) else {
        return maker.leave_out(Reason::NoBody);
    };
    let answers = ["jsonBody", "body"].into_iter();
    let answer = answers.filter_map(|key| Some((key, tree.at(mapping, &["response", key])?))).next();
    let urls = ["url", "urlPath", "urlPattern", "urlPathPattern"];
    let url = urls.iter().find_map(|key| tree.str(tree.at(mapping, &["request", key])?));
    maker.add(Recorded {
        request_label: format!("{label}request.bodyPatterns[{number}].equalToJson"),
        request: Box::new(move |budget| written::body(tree, body, budget)),
        url: url.unwrap_or_default().to_owned(),
        response_label: format!("{label}response.{}", answer.map_or("jsonBody", |(key, _)| key)),
        response: answer
            .map(|(_, body)| -> Encoded<'_> { Box::new(move |budget| written::body(tree, body, budget)) }),
        status: tree.at(mapping, &["response", "status"]).and_then(|status| tree.number(status)),
    });
}
