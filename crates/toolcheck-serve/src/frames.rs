//! The events of a stream, as they are sent and recorded.

use serde_json::Value as Json;
use toolcheck_core::reply::{Event, Framing};

pub(crate) fn record(framing: Framing, events: &[Event]) -> Json {
    let of_event = |event: &Event| match framing {
        Framing::Binary | Framing::Chunks => event.clone().named(),
        _ => event.data.clone(),
    };
    events.iter().map(of_event).collect()
}

/// The events as one array, which comes in pieces.
pub(crate) fn array(events: &[Event], is_open: bool) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let before = if number == 0 { "[" } else { "," };
        frames.push(format!("{before}{}\r\n", event.data).into_bytes());
    }
    if !is_open {
        frames.push(b"]".to_vec());
    }
    frames
}
