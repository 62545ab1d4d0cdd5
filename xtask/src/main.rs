//! Development tasks: `cargo xtask docs`, `cargo xtask budgets`, `cargo xtask corpus`, `cargo xtask fuzz-corpus`, `cargo xtask
//! notices`, `cargo xtask package [each]`.
#![allow(clippy::disallowed_macros, reason = "tasks print to the terminal")]

mod budgets;
mod corpus;
mod docs;
mod fuzz_corpus;
mod notices;
mod package;
mod shapes;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("docs") => docs::write(),
        Some("budgets") => budgets::run(std::env::args().nth(2).as_deref()),
        Some("corpus") => corpus::pack(std::env::args_os().nth(2).map(PathBuf::from)),
        Some("fuzz-corpus") => fuzz_corpus::write(),
        Some("notices") => notices::write(),
        Some("package") => package::check(std::env::args().nth(2).as_deref()),
        _ => bail!(
            "usage: cargo xtask docs | budgets [quick | lower] | corpus [DIR] | fuzz-corpus | notices | package [each]"
        ),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The cargo that runs this, else the one that the shell finds: of several toolchains it picks the one of this workspace, also for
/// a dependency that names another one.
fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    cargo
}

/// Builds the program as releases are built.
fn dist() -> Result<PathBuf> {
    let mut build = cargo(&root());
    build.args(["build", "--profile", "dist", "--locked", "--package", "toolcheck-cli"]);
    ensure!(build.status()?.success(), "the program can't be built");
    Ok(target().join("dist/toolcheck").with_extension(std::env::consts::EXE_EXTENSION))
}
