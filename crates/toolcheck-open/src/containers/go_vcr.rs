//! Cassettes of go-vcr.

use super::{Container, head_has, is_json, json_starts, outer_keys};
use crate::cassette::{Layout, open_cassette};
use crate::needs::Needs;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "go-vcr", name: "go-vcr cassette", needs: Needs::Yaml, sniff, read };

/// Keys that only a cassette of go-vcr has.
const OWN: [&[u8]; 5] = [b"proto_major:", b"rwmutex:", b"content_length:", b"\n    url: ", b"\n    form: {}"];

fn sniff(bytes: &[u8]) -> bool {
    if is_json(bytes) {
        return head_has(bytes, b"\"proto_major\"")
            && json_starts(bytes, "\"interactions\"", |root| root.has_list("interactions"));
    }
    // The version comes first: Go writes the fields of a structure in their order.
    let mut keys = outer_keys(bytes).filter(|key| matches!(*key, b"version" | b"interactions"));
    keys.next() == Some(b"version")
        && keys.next() == Some(b"interactions")
        && (head_has(bytes, b"version: 2\n") || OWN.iter().any(|key| head_has(bytes, key)))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    open_cassette(&CONTAINER, Layout::Interactions(&["interactions"]), bytes, limits)
}
