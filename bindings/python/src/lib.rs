//! The native part of the Python package `toolcheck_lint`.
//!
//! It gives text and numbers to Python; the classes that users see are in `python/toolcheck_lint`. Nothing here opens a file
//! or reads the environment, and the GIL is not held while something is linted.

mod arrow;
mod body;
mod corpus;
mod dump;
mod explain;
mod linter;
mod summary;
mod text;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    /// That of the workspace.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python names it so")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// How it was built: a debug build is about twenty times slower. What makes releases looks for this text in the file.
    #[pymodule_export]
    const BUILD: &str =
        if cfg!(debug_assertions) { "toolcheck-lint build: debug" } else { "toolcheck-lint build: release" };

    #[pymodule_export]
    use crate::corpus::{CaseOutcome, Corpus, difference};
    #[pymodule_export]
    use crate::explain::{diff_bodies, endpoint, models, text_of};
    #[pymodule_export]
    use crate::linter::{Linted, Linter};
    #[pymodule_export]
    use crate::summary::Summary;

    #[pymodule_export]
    use crate::arrow::Table;
}
