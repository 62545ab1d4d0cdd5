//! Cassettes of VCR.py, and of VCR and betamax, which have the same parts.

use toolcheck_json::Value;

use super::{Container, head_has, is_json, json_starts, outer_keys};
use crate::cassette::open_cassette;
use crate::needs::Needs;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "vcr", name: "VCR cassette", needs: Needs::Yaml, sniff, read };

/// The lists of interactions, by their keys.
const LISTS: [&str; 2] = ["interactions", "http_interactions"];

fn sniff(bytes: &[u8]) -> bool {
    if is_json(bytes) {
        let has_list = |root: Value<'_, '_>| root.get_any(&LISTS).is_some_and(Value::is_array);
        return json_starts(bytes, "interactions\"", has_list);
    }
    outer_keys(bytes).any(|key| LISTS.iter().any(|list| list.as_bytes() == key))
        && (head_has(bytes, b"request:") || head_has(bytes, b"interactions: []"))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    open_cassette(&CONTAINER, &LISTS, bytes, limits)
}
