//! The configuration: which rules run on which files, their settings, allowed findings, and the user's own policies.
//!
//! ```
//! use toolcheck_config::Config;
//!
//! let config = Config::parse("[rules.repeated-failing-call]\ntimes = 5\n").expect("the configuration is valid");
//! assert_eq!(config.settings.failures_in_a_row, 5);
//! let error = Config::parse("ingore = []\n").expect_err("the key is unknown");
//! let place = error.position().expect("the error has a place");
//! assert_eq!((place.line, place.column), (1, 1));
//! assert!(error.message().ends_with("did you mean `ignore`?"));
//! ```
//!
//! - [`Config`] is what applies to a folder; [`ConfigFile`] reads one file, which may extend another.
//! - [`allow`] removes the findings that `[[allow]]` entries match, and [`Baseline`] those that are already known.
//!
//! This crate opens no files: the caller passes text.

pub mod allow;
pub mod baseline;
mod config;
mod error;
mod file;
mod globs;
#[cfg(test)]
mod mistakes;
mod names;
mod own_target;
mod target;
mod values;

pub use allow::PointerGlob;
pub use baseline::Baseline;
pub use config::{Config, FilesConfig, Overrides, ReadAs, Selection};
pub use error::Error;
pub use file::{ConfigFile, Home, NamedFile, Origin};
pub use globs::PathGlobs;
pub use own_target::parse_target;
pub use target::TargetSource;
pub use values::RuleOption;

/// The JSON Schema of the configuration.
#[cfg(feature = "schema")]
pub fn schema() -> serde_json::Value {
    file::schema()
}
