//! HTTP messages as they are sent.

use std::ops::Range;

use toolcheck_json::origins::Mapped;

#[derive(Debug)]
pub(crate) struct Message<'s> {
    pub(crate) start: &'s str,
    headers: Vec<(&'s str, &'s str)>,
    /// The body, without the frames of a chunked one.
    pub(crate) body: Mapped,
}

impl<'s> Message<'s> {
    /// Reads a message in the bytes `range` of a file; `None` if it is none.
    pub(crate) fn read(source: &'s [u8], range: Range<usize>) -> Option<Self> {
        let bytes = source.get(range.clone())?;
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let mut at = 0;
        let mut next = || {
            let line = lines.next()?;
            at += line.len();
            std::str::from_utf8(line).ok().map(|line| (line.trim_end(), at))
        };
        let (start, _) = next()?;
        if !start.contains("HTTP/") {
            return None;
        }
        let mut headers = Vec::new();
        let mut end = bytes.len();
        while let Some((line, after)) = next() {
            if line.is_empty() {
                end = after;
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim(), value.trim()));
            }
        }
        let body = Mapped::same(&bytes[end..], range.start + end);
        let mut message = Self { start, headers, body };
        if message.header("transfer-encoding").is_some_and(|name| name.contains("chunked"))
            && let Some(body) = joined(&bytes[end..], range.start + end)
        {
            message.body = body;
        }
        Some(message)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&'s str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.start.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()
    }
}

/// The chunks of a chunked body; `None` if it is not in chunks, as where the recorder joined them.
fn joined(bytes: &[u8], start: usize) -> Option<Mapped> {
    let mut mapped = Mapped::default();
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let Some(length) = memchr::memchr(b'\n', rest) else {
            // A body may be cut off.
            return (!mapped.text().is_empty()).then_some(mapped);
        };
        let head = std::str::from_utf8(&rest[..length]).ok()?;
        let size = usize::from_str_radix(head.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(mapped);
        }
        let from = at + length + 1;
        let to = from.saturating_add(size).min(bytes.len());
        mapped.push_same(&bytes[from..to], start + from);
        at = to;
        at += bytes[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).take(2).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined_and_keep_their_places() {
        let text = b"..HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n2;x=y\r\n\":\r\n2\r\n1}\r\n0\r\n\r\n";
        let message = Message::read(text, 2..text.len()).expect("it is a message");
        assert_eq!(message.status(), Some(400));
        assert_eq!(message.body.text(), b"{\"a\":1}");
        let place = message.body.source_of(5..6).expect("it has a place");
        assert_eq!(&text[place], b"1");
    }

    #[test]
    fn a_body_that_says_chunked_but_is_not_stays_as_it_is() {
        let text = b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n{\"a\": 1}";
        let message = Message::read(text, 0..text.len()).expect("it is a message");
        assert_eq!(message.body.text(), b"{\"a\": 1}");
        assert!(Message::read(b"{}", 0..2).is_none());
    }
}
