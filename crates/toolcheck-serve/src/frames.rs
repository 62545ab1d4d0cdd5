//! The events of a stream, as they are sent and recorded.

use serde_json::Value as Json;
use toolcheck_core::reply::{Event, Framing};

pub(crate) fn record(framing: Framing, events: &[Event]) -> Json {
    let is_named = matches!(framing, Framing::Binary | Framing::Chunks);
    events.iter().map(|event| if is_named { event.clone().named() } else { event.data.clone() }).collect()
}

/// The events as one array, which comes in pieces.
pub(crate) fn array(events: &[Event], is_open: bool) -> Vec<Vec<u8>> {
    let before = std::iter::once("[").chain(std::iter::repeat(","));
    let frame = |(event, before): (&Event, &str)| format!("{before}{}\r\n", event.data).into_bytes();
    events.iter().zip(before).map(frame).chain((!is_open).then(|| b"]".to_vec())).collect()
}
