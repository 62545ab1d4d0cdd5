//! `toolcheck init`: a new configuration file.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toolcheck_project::{ConfigOptions, Configs, printable, real, relative};

use crate::Status;
use crate::args::InitArgs;

/// The contents of the file: every option as a comment, so that nothing changes yet.
pub(crate) const TEMPLATE: &str = include_str!("init.toml");

pub(crate) fn run(args: &InitArgs, out: &mut dyn Write) -> Result<Status> {
    let path = args.dir.join("toolcheck.toml");
    let name = printable(path.strip_prefix(".").unwrap_or(&path));
    let before = configuration_of(&args.dir)?;
    if args.force {
        toolcheck_files::write(&path, |out| out.write_all(TEMPLATE.as_bytes()))
            .with_context(|| format!("cannot write {name}"))?;
    } else {
        match toolcheck_files::create(&path, TEMPLATE.as_bytes()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("{name} already exists\n\nuse --force to overwrite it");
            }
            created => created.with_context(|| format!("cannot write {name}"))?,
        }
    }
    if args.quiet {
        return Ok(Status::Clean);
    }
    match before.filter(|before| *before != real(&path)) {
        None => writeln!(out, "created {name}: every option is commented out, so nothing changes yet")?,
        Some(before) => {
            let before = relative(&before);
            writeln!(
                out,
                "created {name}: every option is commented out, and it replaces {before} in this folder"
            )?;
            writeln!(out, "set `extend` in it to keep the settings of {before}")?;
        }
    }
    Ok(Status::Clean)
}

/// The configuration that applies to a folder. Errors in it are reported when it is used.
fn configuration_of(folder: &Path) -> Result<Option<PathBuf>> {
    let configs = Configs::new(&ConfigOptions::Closest)?;
    let loaded = configs.of(&real(folder).join("toolcheck.toml"));
    Ok(loaded.and_then(|loaded| loaded.sources.first().map(|source| real(source))))
}
