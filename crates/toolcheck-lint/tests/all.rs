//! The tests of the rules and fixes, in one binary. Without the feature `shell` there is `no_shell`.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod bounded_checks;
mod bounded_findings;
mod error_texts;
mod exchanges;
mod fix;
mod lines;
mod places;
mod readers;
mod rules;
#[cfg(feature = "shell")]
mod shell;
/// The module of the library itself, with its tests: nothing else in it can be reached from here.
#[cfg(feature = "shell")]
#[path = "../src/view/shell/mod.rs"]
mod shell_commands;
mod summary;
#[path = "../../toolcheck-core/tests/testing.rs"]
mod testing;

#[cfg(feature = "shell")]
use toolcheck_lint::settings;
