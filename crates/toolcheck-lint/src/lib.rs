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
//! assert_eq!((file.findings[0].spot.start.line, file.findings[0].spot.start.column), (3, 37));
//! ```
//!
//! - [`lint`] runs the rules of [`rules`] over one file's text and locates what they find; [`Lines`] does so piece by piece.
//! - [`lint_with`] shows an [observer](observe) what is read.
//!
//! Reports are written by `toolcheck-report`, and configurations read by `toolcheck-config`.
//! Nothing here reads a file or the environment.

pub mod category;
mod compare_fix;
mod engine;
pub mod finding;
pub mod fingerprint;
pub mod fix;
mod marks;
pub mod observe;
mod options;
mod planner;
pub mod policy;
mod relocation;
mod repeated;
pub mod report;
mod rule;
pub mod rules;
pub mod server_state;
pub mod settings;
pub mod summary;
mod template;
mod view;
pub mod vocabulary;

pub use category::Category;
pub use engine::{
    Lines, Piece, RECORDS_OF_HEAD, blank_line_of, has_rows, lint, lint_body, lint_opened, lint_opened_with,
    lint_with,
};
pub use finding::Finding;
pub use fix::{FixOptions, Fixed, fix, fix_nothing, fix_opened};
pub use options::{Options, TargetRef};
pub use repeated::ReportedFindings;
pub use report::{FileReport, Reading, Report, SkippedFile};
pub use rule::{FixSummary, InDataset, Rule};
pub use settings::Settings;
pub use summary::Summary;
pub use template::ChatTemplate;
pub use toolcheck_core::Error;
