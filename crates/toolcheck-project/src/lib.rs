//! The files of a project: finds them and their configuration, and lints them on several threads.
//!
//! ```no_run
//! use toolcheck_project::{LintOptions, Project, ProjectOptions};
//!
//! let mut project = Project::open(ProjectOptions::default())?;
//! let run = project.lint(LintOptions::default(), &|_| {});
//! for error in run.errors.iter().chain(&run.settings_errors) {
//!     eprintln!("{error}");
//! }
//! # Ok::<(), toolcheck_project::Error>(())
//! ```
//!
//! - [`Project`] combines files, configurations and a baseline. [`Project::lint`] returns a [`LintRun`].
//! - [`Resolver`] returns the [`FileSettings`] of a single file, for editors.
//! - [`Inputs`] finds files, and [`Text`] reads one, decompressing it if needed.
//!
//! This crate prints nothing. The messages of an [`Error`] are safe to print: they have no control characters but line
//! breaks.

mod allowed;
mod baseline;
mod configs;
mod error;
mod inputs;
mod linting;
mod options;
mod outputs;
mod paths;
mod pieces;
mod project;
mod resolve;
mod rows;
mod template;

pub use allowed::UnusedAllow;
pub use baseline::{BaselineChange, StaleEntries};
pub use configs::{Configs, ForeignConfig, LoadedConfig, NAMES};
pub use error::{Error, SettingsFault};
pub use inputs::{Input, Inputs, Source, Text, about_tables};
pub use linting::open;
pub use options::{
    BaselineOptions, BaselineUpdate, ConfigOptions, FileOptions, Limits, LintOptions, SummaryOptions,
};
pub use paths::{printable, real, relative};
pub use project::{LintRun, Project, ProjectOptions};
pub use resolve::{FileSettings, Resolver, faults_in, find_target, read_settings};
pub use template::read as read_template;

/// A callback with the number of bytes that have been read since the last call. Several threads call it.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);
