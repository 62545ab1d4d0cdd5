//! toolcheck for requests in memory, in one place: what bindings for other languages, editors and gateways need.
//!
//! ```
//! use toolcheck_embed::{FixOptions, Settings};
//!
//! let linter = Settings::new().target("bedrock")?.linter();
//! let body = br#"{"messages": [
//!   {"role": "user", "content": "find Adam"},
//!   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
//!   {"role": "user", "content": "well?"}
//! ]}"#;
//! let file = linter.lint(body);
//! assert_eq!(file.findings[0].rule, "unanswered-tool-call");
//! let fixed = linter.fix(body, &FixOptions::new())?;
//! assert!(linter.lint(&fixed.bytes).findings.is_empty());
//! # Ok::<(), toolcheck_embed::Error>(())
//! ```
//!
//! - [`Settings`] takes options by their names, as on a command line, and makes a [`Linter`], which is kept and shared.
//! - [`Comparison`] says what a change to a conversation lost.
//! - [`explain_error`] says what an API's error means, and what in a request causes it.
//!
//! Nothing here opens a file, reads the environment or starts a thread.

mod compare;
mod explain;
mod linter;
mod open;
mod settings;

pub use compare::{Comparison, Side};
pub use explain::explain_error;
pub use linter::Linter;
pub use open::open;
pub use settings::{Settings, fix_options};
pub use toolcheck_core::Error;
pub use toolcheck_lint::{FileReport, Finding, FixOptions, Fixed, Report};
pub use toolcheck_report::explained::Explained;
