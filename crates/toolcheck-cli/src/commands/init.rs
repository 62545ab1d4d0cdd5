use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};

use anyhow::{Context, Result, bail};

use crate::Status;
use crate::args::InitArgs;
use crate::screen::named;

/// The file that is written: everything that there is to set, as comments, so that nothing changes yet.
pub(crate) const TEMPLATE: &str = include_str!("init.toml");

pub(crate) fn run(args: &InitArgs, out: &mut dyn Write) -> Result<Status> {
    let path = args.dir.join("toolcheck.toml");
    let name = named(path.strip_prefix(".").unwrap_or(&path));
    if args.force {
        fs::write(&path, TEMPLATE).with_context(|| format!("cannot write {name}"))?;
    } else {
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = match file {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("there is a {name} already\n\n--force writes it anew");
            }
            file => file.with_context(|| format!("cannot write {name}"))?,
        };
        file.write_all(TEMPLATE.as_bytes()).with_context(|| format!("cannot write {name}"))?;
    }
    writeln!(out, "wrote {name}: everything in it is a comment, so nothing changes yet")?;
    Ok(Status::Clean)
}
