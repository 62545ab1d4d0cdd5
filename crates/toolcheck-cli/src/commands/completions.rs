//! `toolcheck completions`: a script for a shell.

use std::io::Write;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{Generator, generate, shells};
use clap_complete_nushell::Nushell;

use crate::Status;
use crate::args::{Args, CompletionsArgs, Shell};

pub(crate) fn run(args: &CompletionsArgs, out: &mut dyn Write) -> Result<Status> {
    let script = match args.shell {
        Shell::Bash => script(shells::Bash),
        Shell::Elvish => script(shells::Elvish),
        Shell::Fish => script(shells::Fish),
        Shell::Nushell => script(Nushell),
        Shell::Powershell => script(shells::PowerShell),
        Shell::Zsh => script(shells::Zsh),
    };
    out.write_all(&script)?;
    Ok(Status::Clean)
}

/// The script as bytes: the generators panic if writing fails, and the reader may close the pipe.
fn script(shell: impl Generator) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "toolcheck", &mut script);
    script
}
