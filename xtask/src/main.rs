//! Chores of the project: `cargo xtask docs`, `cargo xtask bench`, `cargo xtask package`.

mod bench;
mod docs;
mod package;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("docs") => docs::write(),
        Some("bench") => bench::run(),
        Some("package") => package::check(),
        _ => bail!("usage: cargo xtask docs | bench | package"),
    }
}

/// The project's directory.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
