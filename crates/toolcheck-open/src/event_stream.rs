//! Event streams of AWS (`application/vnd.amazon.eventstream`): frames with headers, a payload and checksums.
//!
//! ```text
//! length of the frame | length of the headers | CRC of these two | headers | payload | CRC of all before
//! ```
//!
//! The lengths and checksums are numbers of 32 bits, the most significant byte first. A header has a name after its
//! length of one byte, a type, and a value; texts are values of type 7, after their length of two bytes.

use crc32fast::hash as crc;
use toolcheck_json::{Document, from_base64};

use crate::written::quoted;

/// The bytes before the headers.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

/// Whether bytes start with a frame: its checksum is that of its lengths.
pub(crate) fn is_stream(bytes: &[u8]) -> bool {
    lengths(bytes).is_some()
}

/// The events of a stream as a list of JSON: each an object with the event's type as its key, as the SDKs return them,
/// or what the model streamed itself, if the payload only wraps that. A stream may be cut off; `None` if it is damaged.
pub(crate) fn json(bytes: &[u8]) -> Option<String> {
    let mut list = String::from("[");
    let mut rest = bytes;
    while let Some((length, headers)) = lengths(rest) {
        let Some(frame) = rest.get(..length) else { break };
        let (body, checksum) = frame.split_at(length - CHECKSUM);
        if crc(body) != number(checksum) {
            return None;
        }
        let (headers, payload) = body[PRELUDE..].split_at(headers);
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(&event(headers, payload)?);
        rest = &rest[length..];
    }
    if rest.len() >= PRELUDE && lengths(rest).is_none() {
        return None;
    }
    list.push(']');
    Some(list)
}

/// The length of the frame that bytes start with, and that of its headers.
fn lengths(bytes: &[u8]) -> Option<(usize, usize)> {
    let prelude = bytes.get(..PRELUDE)?;
    let (length, headers) = (number(&prelude[..4]) as usize, number(&prelude[4..8]) as usize);
    let is_whole = crc(&prelude[..8]) == number(&prelude[8..]);
    (is_whole && length.checked_sub(PRELUDE + CHECKSUM)? >= headers).then_some((length, headers))
}

/// An event as JSON; `None` if its payload is something else.
fn event(headers: &[u8], payload: &[u8]) -> Option<String> {
    let name = [":event-type", ":exception-type"].iter().find_map(|name| header(headers, name));
    let payload = if payload.is_empty() { b"{}" } else { payload };
    let document = Document::read(payload);
    let root = document.root();
    if !root.is_object() || !document.faults().is_empty() {
        return None;
    }
    if name == Some("chunk")
        && let Some(inner) = root.get_str("bytes").and_then(|text| from_base64(text.as_bytes()))
        && Document::read(&inner).faults().is_empty()
    {
        return String::from_utf8(inner).ok();
    }
    let payload = std::str::from_utf8(payload).ok()?;
    Some(match name {
        Some(name) => format!("{{{}: {payload}}}", quoted(name)),
        None => payload.to_owned(),
    })
}

fn header<'b>(mut headers: &'b [u8], wanted: &str) -> Option<&'b str> {
    loop {
        let (length, rest) = headers.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (kind, rest) = rest.split_first()?;
        let (value, rest) = match kind {
            // True and false have no value.
            0 | 1 => (None, rest),
            2 => (None, rest.get(1..)?),
            3 => (None, rest.get(2..)?),
            4 => (None, rest.get(4..)?),
            5 | 8 => (None, rest.get(8..)?),
            9 => (None, rest.get(16..)?),
            // Bytes and texts.
            6 | 7 => {
                let (length, rest) = rest.split_at_checked(2)?;
                let (value, rest) =
                    rest.split_at_checked(usize::from(length[0]) << 8 | usize::from(length[1]))?;
                (Some(value), rest)
            }
            _ => return None,
        };
        if name == wanted.as_bytes() {
            return std::str::from_utf8(value?).ok();
        }
        headers = rest;
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut inner = Vec::new();
        for (name, value) in headers {
            inner.push(name.len() as u8);
            inner.extend(name.as_bytes());
            inner.push(7);
            inner.extend((value.len() as u16).to_be_bytes());
            inner.extend(value.as_bytes());
        }
        let mut frame = ((PRELUDE + inner.len() + payload.len() + CHECKSUM) as u32).to_be_bytes().to_vec();
        frame.extend((inner.len() as u32).to_be_bytes());
        frame.extend(crc(&frame).to_be_bytes());
        frame.extend(inner);
        frame.extend(payload.as_bytes());
        frame.extend(crc(&frame).to_be_bytes());
        frame
    }

    fn stream() -> Vec<u8> {
        let kind = (":message-type", "event");
        [
            frame(&[(":event-type", "messageStart"), kind], r#"{"role": "assistant"}"#),
            frame(&[kind, (":event-type", "chunk")], r#"{"bytes": "eyJhIjogMX0=", "p": "abc"}"#),
            frame(&[(":exception-type", "throttlingException")], r#"{"message": "Slow down."}"#),
            frame(&[(":event-type", "initial-response")], ""),
        ]
        .concat()
    }

    #[test]
    fn the_checksum_is_the_usual_one() {}

    #[test]
    fn each_frame_is_an_event() {
        assert!(is_stream(&stream()));
        assert_eq!(
            json(&stream()).as_deref(),
            Some(
                r#"[{"messageStart": {"role": "assistant"}},{"a": 1},{"throttlingException": {"message": "Slow down."}},{"initial-response": {}}]"#
            )
        );
    }

    #[test]
    fn a_stream_that_is_cut_off_has_its_first_events_and_a_damaged_one_none() {
        let stream = stream();
        let first = r#"[{"messageStart": {"role": "assistant"}}]"#;
        let length =
            frame(&[(":event-type", "messageStart"), (":message-type", "event")], r#"{"role": "assistant"}"#);
        for end in [length.len(), length.len() + 3, length.len() + 20] {
            assert_eq!(json(&stream[..end]).as_deref(), Some(first), "{end}");
        }
        for at in [0, 5, 9, 20, length.len() - 1] {
            let mut damaged = stream.clone();
            damaged[at] ^= 1;
            assert!(!is_stream(&damaged) || json(&damaged).is_none(), "{at}");
        }
        let not_json = frame(&[(":event-type", "a")], "text");
        assert!(is_stream(&not_json));
        assert_eq!(json(&not_json), None);
    }

    #[test]
    fn headers_of_any_type_are_skipped() {
        let mut headers = Vec::new();
        for (kind, value) in [
            (0, &[][..]),
            (1, &[]),
            (2, &[0]),
            (3, &[0; 2]),
            (4, &[0; 4]),
            (5, &[0; 8]),
            (6, &[0, 1, 9]),
            (8, &[0; 8]),
            (9, &[0; 16]),
            (7, b"\0\x03abc"),
        ] {
            headers.extend([1, b'a' + kind, kind]);
            headers.extend(value);
        }
        assert_eq!(header(&headers, "h"), Some("abc"));
        assert_eq!(header(&headers, "a"), None);
        for end in 0..headers.len() {
            assert_eq!(header(&headers[..end], "h"), None);
        }
        assert_eq!(header(&[1, b'x', 77], "h"), None);
    }
}
