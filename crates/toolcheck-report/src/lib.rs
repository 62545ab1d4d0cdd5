//! Reports for people and for machines.
//!
//! ```
//! use toolcheck_lint::{Options, Report, lint};
//! use toolcheck_report::{Style, outputs};
//!
//! let body = br#"{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]}]}"#;
//! let report = Report::new(vec![lint("request.json", body, &Options::default())]);
//! let mut text = Vec::new();
//! let output = outputs::find("concise").expect("the output exists");
//! (output.write)(&report, &Style::default(), &mut text)?;
//! assert!(text.starts_with(b"request.json:1:"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - [`outputs`] has the formats of a report, from text with excerpts to SARIF.
//! - [`shapes`] says what an API asks of requests, and what is known of a model.
//! - [`show`] makes an [`Outline`] of a transcript while it is linted, and writes it as text, Markdown or HTML.
//! - [`diff`] writes what changed between two files.
//! - [`explained`] says what an API's error means, and what in a request causes it.
//! - [`fixed`] says what a fix does to a file, and [`unified`] writes it as a diff.
//! - [`conform`] writes reports on agent loops that were run through scenarios, and reads them.
//! - [`junit_xml`] writes JUnit XML, also for test runs that are not reports.
//!
//! Nothing here reads a file or the environment.

pub mod conform;
pub mod diff;
mod excerpt;
pub mod explained;
pub mod fixed;
mod json_text;
pub mod junit_xml;
mod markup;
pub mod outputs;
pub mod shapes;
pub mod show;
mod style;
mod summary;
pub mod unified;

pub use show::{Outline, View, outline, outline_opened};
pub use style::{Style, wrapping};

/// The page about the crates as libraries; its examples run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod library {}
