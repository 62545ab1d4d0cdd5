//! Recordings of httprr: HTTP messages as they were sent, each pair after a line with their lengths.

use super::Container;
use crate::exchanges::{Encoded, Maker, Recorded};
use crate::http::Message;
use crate::needs::Needs;
use crate::{Limits, Opened, decode};

pub(super) static CONTAINER: Container =
    Container { id: "httprr", name: "httprr recording", needs: Needs::Nothing, sniff, read };

const START: &[u8] = b"httprr trace v1\n";

fn sniff(bytes: &[u8]) -> bool {
    bytes.starts_with(START) || bytes.starts_with(b"httprr trace v1\r\n")
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    let mut at = memchr::memchr(b'\n', bytes)? + 1;
    let mut number = 0;
    while at < bytes.len() {
        let Some((from, request, response)) = lengths(bytes, at) else {
            return Some(maker.finish(&CONTAINER, Some(at)));
        };
        let middle = from.saturating_add(request);
        let end = middle.saturating_add(response);
        if end > bytes.len() {
            return Some(maker.finish(&CONTAINER, Some(at)));
        }
        add(bytes, (from, middle, end), number, &mut maker);
        number += 1;
        at = end;
    }
    Some(maker.finish(&CONTAINER, None))
}

/// The end of the line with the lengths, and the lengths.
fn lengths(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let end = at + memchr::memchr(b'\n', &bytes[at..])?;
    let line = std::str::from_utf8(&bytes[at..end]).ok()?;
    let (request, response) = line.trim().split_once(' ')?;
    Some((end + 1, request.parse().ok()?, response.parse().ok()?))
}

fn add(bytes: &[u8], (from, middle, end): (usize, usize, usize), number: usize, maker: &mut Maker) {
    let Some(request) = Message::read(bytes, from..middle) else { return };
    let response = Message::read(bytes, middle..end);
    maker.add(Recorded {
        request_label: format!("[{number}].request"),
        url: request.start.split(' ').nth(1).unwrap_or_default().to_owned(),
        request: body(request),
        response_label: format!("[{number}].response"),
        status: response.as_ref().and_then(Message::status),
        response: response.map(body),
    });
}

fn body(message: Message<'_>) -> Encoded<'_> {
    Box::new(|budget| {
        let encoding = message.header("content-encoding");
        decode::decompressed(message.body, encoding, budget)
    })
}
