//! A tolerant JSON and JSON Lines reader that keeps the byte span of every key and value.
//!
//! Reading never fails and never recurses: what is malformed becomes a [`Fault`] with its place,
//! and the rest is still read. Numbers stay raw, duplicate keys are kept, strings are unescaped
//! only when somebody asks for them.
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
//! Why not an existing parser: every one tried refuses a lone surrogate, and none keeps spans,
//! duplicate keys, raw numbers and a truncated tail together.

mod block;
mod decoded;
mod document;
mod embedded;
mod fault;
mod locate;
mod parse;
mod pointer;
mod records;
mod string;

pub use decoded::Decoded;
pub use document::{Arena, Children, Document, Kind, NodeId, Span, Value};
pub use fault::{Fault, FaultKind};
pub use locate::{Position, locate};
pub use pointer::pointers;
pub use records::{Layout, Record, Records};
pub use string::JsonStr;
