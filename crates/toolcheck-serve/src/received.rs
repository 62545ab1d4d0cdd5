//! A response as it came.

use serde_json::Value as Json;
use toolcheck_core::response::values_in;

/// A response as it came from a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The status.
    pub status: u16,
    /// The type of the content; empty if it is not said.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Received {
    /// The body as a value: JSON, the list of the events of a stream, or a text.
    pub fn value(&self) -> Json {
        value(&self.content_type, &self.body)
    }
}

pub(crate) fn value(content_type: &str, body: &[u8]) -> Json {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let text = || String::from_utf8_lossy(body);
    let is_stream = matches!(kind, "text/event-stream" | "application/x-ndjson");
    if kind == "application/vnd.amazon.eventstream" {
        let events = toolcheck_open::event_stream(body).and_then(|list| serde_json::from_str(&list).ok());
        return events.unwrap_or_else(|| Json::from("a stream of frames that is damaged"));
    }
    if !is_stream && let Ok(value) = serde_json::from_slice(body) {
        return value;
    }
    let text = text();
    if !is_stream {
        return Json::from(text);
    }
    events_in(&text).collect()
}

pub(crate) fn events_in(text: &str) -> impl Iterator<Item = Json> {
    values_in(text).into_iter().filter_map(|lines| {
        let lines: Vec<&str> = lines.into_iter().map(|line| &text[line]).collect();
        serde_json::from_str(&lines.join("\n")).ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcheck_core::conversation::Assistant;
    use toolcheck_core::formats;
    use toolcheck_core::reply::{Pieces, Reply};

    use super::*;

    #[test]
    fn the_streams_of_every_format_are_lists_of_events() {
        for format in formats::ALL {
            let reply = Reply::new(Assistant::new("Low at six."));
            let events = format.write_stream(&reply, Pieces::of(4));
            let bytes = format.framing.frames(&events).concat();
            let found = value(format.framing.content_type(), &bytes);
            assert_eq!(found.as_array().map(Vec::len), Some(events.len()), "{}", format.id);
        }
    }

    #[test]
    fn what_is_no_stream_is_json_or_text() {
        assert_eq!(value("application/json; charset=utf-8", b"{\"a\": 1}"), json!({"a": 1}));
        assert_eq!(value("", b"[1]"), json!([1]));
        assert_eq!(value("text/html", b"<p>"), json!("<p>"));
        assert_eq!(value("text/event-stream", b"nonsense"), json!([]));
        assert!(value("application/vnd.amazon.eventstream", b"nonsense").is_string());
    }
}
