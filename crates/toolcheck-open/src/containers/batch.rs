//! What batches of requests have in common.

use toolcheck_json::origins::{Mapped, Opened};
use toolcheck_json::{Document, Value};

use super::{Container, HEAD, entries, first_line};
use crate::Limits;
use crate::exchanges::Maker;
use crate::reason::Reason;

pub(super) enum Part<'d, 's> {
    Request(&'static str, Value<'d, 's>),
    Response(&'static str, Value<'d, 's>),
    /// A request that is not a conversation.
    Other,
}

/// Whether the first entry of a file has an id, and passes a test.
pub(super) fn first(bytes: &[u8], test: impl Fn(Value<'_, '_>) -> bool) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    // Most files have no such key, and need not be read.
    if memchr::memmem::find(head, b"\"custom_id\"").is_none() {
        return false;
    }
    // A long entry may be cut; what is there says enough.
    let line = first_line(head).unwrap_or_default();
    [line, head].into_iter().any(|text| {
        let document = Document::read(text);
        let root = document.root();
        let entry = root.get("requests").unwrap_or(root);
        let entry = entry.elements().next().unwrap_or(entry);
        entry.has("custom_id") && test(entry)
    })
}

pub(super) fn read(
    container: &Container,
    bytes: &[u8],
    limits: Limits,
    part: impl for<'d, 's> Fn(Value<'d, 's>) -> Option<Part<'d, 's>>,
) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    entries::each(
        bytes,
        &mut maker,
        |root| root.get("requests").unwrap_or(root),
        |maker, at, entry| {
            let mapped =
                |value: Value<'_, '_>| Mapped::same(value.raw(), at.start + value.span().start as usize);
            match part(entry) {
                Some(Part::Request(inner, body)) => maker.add_record(at.label(inner), &mapped(body)),
                Some(Part::Response(inner, body)) => maker.add_response(at.label(inner), &mapped(body)),
                Some(Part::Other) => maker.leave_out(Reason::NotForLlm),
                None => maker.leave_out(Reason::NoAnswer),
            }
        },
    );
    Some(maker.finish(container, None))
}
