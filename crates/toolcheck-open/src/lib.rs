//! Opens files that hold LLM requests inside something else, such as recordings of HTTP traffic.
//!
//! ```
//! use toolcheck_open::{Limits, open};
//!
//! let cassette = b"interactions:\n- request:\n    body: '{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}'\n    uri: http://localhost/\n  response:\n    status: {code: 200}\nversion: 1\n";
//! let opened = open(cassette, Limits::default()).expect("it is a recording");
//! assert_eq!((opened.id, opened.exchanges), ("vcr", 1));
//! let place = opened.origins.locate(12..13).expect("it has a place");
//! assert_eq!((&*place.origin.label, place.source), ("interactions[0].request.body", 36..37));
//! ```
//!
//! What is in them becomes JSON Lines of exchanges, as [`toolcheck_core::exchange`] reads them. The
//! [origins](toolcheck_json::origins) of that text say where each part of it is in the file.

mod budget;
mod cassette;
mod container;
mod containers;
mod decode;
mod event_stream;
mod exchanges;
mod format;
mod frames;
mod http;
mod literal;
mod needs;
mod reason;
mod tree;
mod written;
#[cfg(feature = "compress")]
mod zstd;

pub use container::Container;
pub use containers::{ALL, find};
#[cfg(feature = "compress")]
pub use decode::{Undecoded, decoded};
pub use decode::{is_gzip, is_zstd};
pub use format::FileFormat;
pub use toolcheck_json::origins::{LeftOut, Opened, Unread};
#[cfg(feature = "compress")]
pub use zstd::ZstdFrames;

/// How much may be made of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of bytes of all bodies, decompressed.
    pub most_bytes: usize,
}

impl Default for Limits {
    /// 256 MiB.
    fn default() -> Self {
        Self { most_bytes: 256 << 20 }
    }
}

impl Limits {
    /// At most this many bytes of bodies.
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes }
    }
}

/// The largest file that is opened: offsets are numbers of 32 bits.
const MOST_SOURCE: usize = u32::MAX as usize - 1;

/// Opens a file; `None` if it is none of those that are.
pub fn open(bytes: &[u8], limits: Limits) -> Option<Opened> {
    open_as(None, bytes, limits)
}

/// Opens a file, as this kind if one is given.
pub fn open_as(container: Option<&'static Container>, bytes: &[u8], limits: Limits) -> Option<Opened> {
    container.or_else(|| sniff(bytes))?.open(bytes, limits)
}

/// The container that a file is by its start.
pub fn sniff(bytes: &[u8]) -> Option<&'static Container> {
    ALL.iter().copied().find(|container| (container.sniff)(bytes))
}

/// The events of a stream of AWS (`application/vnd.amazon.eventstream`) as a JSON list: each an object with the event's type
/// as its key. A stream may be cut off; `None` if it is damaged, or none.
pub fn event_stream(bytes: &[u8]) -> Option<String> {
    event_stream::is_stream(bytes).then(|| event_stream::json(bytes)).flatten()
}
