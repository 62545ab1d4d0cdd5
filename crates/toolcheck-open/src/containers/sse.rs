//! Streams of events that were recorded by themselves: as server-sent events, as an event stream of AWS, or only their
//! data, one per line.

use toolcheck_core::{response, unsupported};
use toolcheck_json::origins::{Mapped, Notation};
use toolcheck_json::{Document, Layout, Records};

use super::{Container, HEAD, first_line, lines};
use crate::exchanges::Maker;
use crate::needs::Needs;
use crate::{Limits, Opened, event_stream};

pub(super) static CONTAINER: Container =
    Container { id: "sse", name: "event stream", needs: Needs::Nothing, sniff, read };

const LINES: usize = 400;

fn sniff(bytes: &[u8]) -> bool {
    if event_stream::is_stream(bytes) {
        return true;
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let Some(first) = first_line(head) else { return false };
    if first.starts_with(b"{") {
        // The first line of a document that is indented is no event.
        return first.trim_ascii_end().ends_with(b"}") && is_chunks(bytes, head);
    }
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let is_field = fields.iter().any(|field| first.starts_with(field));
    let is_data = |line: &[u8]| {
        let data = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii);
        data.is_some_and(|data| matches!(data.first(), Some(b'{' | b'[')))
    };
    is_field && lines(head).take(LINES).any(is_data)
}

/// Whether a text is the data of events, one per line: together they are a response, and none is one by itself.
fn is_chunks(bytes: &[u8], head: &[u8]) -> bool {
    // The last line of the head may be cut.
    let end = if head.len() < bytes.len() { memchr::memrchr(b'\n', head).unwrap_or(0) } else { head.len() };
    if lines(&head[..end]).filter(|line| !line.trim_ascii().is_empty()).nth(1).is_none() {
        return false;
    }
    let records = Records::new(&head[..end]);
    if records.layout() != Layout::Lines {
        return false;
    }
    let mut list = String::from("[");
    let (mut events, mut others) = (0, 0);
    for record in records.take(LINES) {
        let document = Document::read(record.bytes);
        let (Ok(text), true) = (std::str::from_utf8(record.bytes), document.root().is_object()) else {
            return false;
        };
        match unsupported::is_of_stream(document.root()) {
            true => events += 1,
            false => others += 1,
        }
        // Some events have nothing that tells them from other objects.
        if others > events {
            return false;
        }
        // A line that is cut would take in the next ones.
        if document.faults().is_empty() {
            list.push_str(if list.len() > 1 { "," } else { "" });
            list.push_str(text);
        }
    }
    list.push(']');
    response::read_any(Document::read(list.as_bytes()).root()).is_some()
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut maker = Maker::new(bytes.len(), limits);
    maker.add_response("response".to_owned(), &Mapped::same(bytes, 0));
    let opened = maker.finish(&CONTAINER, None);
    let notation = (opened.exchanges > 0).then(|| broken(bytes)).flatten();
    Some(Opened { notation, ..opened })
}

/// What is said of events that are no whole JSON: nothing in them was read.
fn broken(bytes: &[u8]) -> Option<Notation> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (first, count) = response::broken_in(text)?;
    let (what, advice) = if text[first.end..].trim_ascii().is_empty() {
        ("the stream is cut off within its last event".to_owned(), "the events before it were checked")
    } else if count == 1 {
        ("an event of the stream is not valid JSON".to_owned(), "the other events were checked")
    } else {
        (format!("{count} events of the stream are not valid JSON"), "the other events were checked")
    };
    Some(Notation { what, at: first.start, caption: "here", advice })
}
