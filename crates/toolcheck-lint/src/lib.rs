//! The rules of toolcheck, and the reports that they make.
//!
//! ```
//! use toolcheck_lint::{Options, lint};
//!
//! let body = br#"{"messages": [
//!   {"role": "user", "content": "find Adam"},
//!   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
//!   {"role": "user", "content": "well?"}
//! ]}"#;
//! let file = lint("request.json", body, &Options::default());
//! assert_eq!(file.findings[0].rule, "unanswered-tool-call");
//! assert_eq!((file.findings[0].start.line, file.findings[0].start.column), (3, 37));
//! ```
//!
//! - [`lint`] runs the rules of [`rules`] over one file's text and locates what they find.
//! - [`render`] writes a [`Report`] for people and for machines.
//! - [`picture()`] draws a conversation as it is linted, and [`draw`] writes the [`Picture`].
//!
//! Nothing here reads a file or the environment.

pub mod allow;
pub mod baseline;
mod calls;
pub mod category;
pub mod config;
pub mod draw;
mod excerpt;
mod exchanges;
mod failure;
mod fingerprint;
pub mod junit;
mod lines;
mod lint;
mod markup;
mod objects;
pub mod pairing;
mod picture;
pub mod policy;
pub mod render;
pub mod report;
pub mod rule;
pub mod rules;
mod schema_cost;
pub mod schemas;
mod server_pairs;
pub mod settings;
mod shell;
pub mod suggest;
mod summary;
mod validated;

pub use baseline::Baseline;
pub use category::Category;
pub use config::{Config, ConfigError};
pub use excerpt::{bounded, shown};
pub use lines::{Lines, Piece, RECORDS_OF_HEAD};
pub use lint::{Options, lint};
pub use picture::{Picture, View, picture};
pub use report::{FileReport, Located, Reading, Report, SkippedFile};
pub use rule::Rule;
pub use settings::Settings;
pub use summary::Counted;

/// The page about the crates as libraries, whose code runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library {}
