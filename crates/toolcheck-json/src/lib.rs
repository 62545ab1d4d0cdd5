//! A tolerant JSON and JSON Lines reader that keeps the byte span of every key and value.
//!
//! Reading never fails and never recurses: malformed JSON is reported as a [`SyntaxError`] with its place,
//! and the rest is still read. Numbers stay raw, duplicate keys are kept, strings are unescaped
//! only on demand.
//!
//! ```
//! use toolcheck_json::Document;
//!
//! let document = Document::read(br#"{"name": "Ada", "born": 1815,}"#);
//! let root = document.root();
//! let born = root.get("born").expect("the key is there");
//! assert_eq!(born.raw(), b"1815");
//! assert_eq!((born.span().start, born.span().end), (24, 28));
//! assert_eq!(document.faults().len(), 1); // the trailing comma
//! ```
//!
//! Why not an existing parser: all that were tried reject a lone surrogate, and none of them supports
//! spans, duplicate keys, raw numbers and truncated text together.

mod block;
mod decoded;
mod document;
pub mod edit;
mod embedded;
mod encoded;
mod expanded;
mod fault;
mod head;
mod locate;
mod order;
pub mod origins;
mod parse;
mod pointer;
mod records;
mod string;
mod unescape;

pub use block::contains;
pub use decoded::Decoded;
pub use document::{Arena, Children, Document, Kind, NodeId, Span, Value};
pub use encoded::{from_base64, percent_decoded, to_base64};
pub use expanded::{Expanded, Said};
pub use fault::{MOST_FAULTS, SyntaxError, SyntaxErrorKind, decoded};
pub use head::Head;
pub use locate::{Position, locate};
pub use order::{distinct, sort_by_position, sort_by_positions};
pub use parse::{DEEPEST, MOST_VALUES};
pub use pointer::{LONGEST_POINTER, escape_step, pointers, unescape_step};
pub use records::{Layout, Record, Records};
pub use string::JsonStr;
