//! `toolcheck`: finds files, picks a row from each table, and computes the exit status.

mod args;
mod commands;
mod markdown;
mod progress;
mod screen;
mod signals;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// No findings at or above the `--fail-on` level.
    Clean,
    /// Findings at or above that level.
    Findings,
    /// Invalid usage, or an input that could not be read. Findings in other files are still printed.
    Trouble,
}

fn main() -> ExitCode {
    let args = Args::try_parse().unwrap_or_else(|error| args::printable(args::with_hint(error)).exit());
    signals::catch();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let status = match args.command {
        Command::Lint(args) => commands::lint::run(&args, &mut out),
        Command::Show(args) => commands::show::run(&args, &mut out),
        Command::Explain(args) => commands::explain::run(&args, &mut out),
        Command::Rules(args) => commands::list::rules(&args, &mut out),
        Command::Formats(args) => commands::list::formats(&args, &mut out),
        Command::Targets(args) => commands::list::targets(&args, &mut out),
        Command::Shapes(args) => commands::shapes::run(&args, &mut out),
        Command::Test(args) => commands::test::run(&args, &mut out),
        Command::Init(args) => commands::init::run(&args, &mut out),
        Command::Completions(args) => commands::completions::run(&args, &mut out),
        Command::Man(args) => commands::man::run(&args, &mut out),
    };
    let status = status.and_then(|status| out.flush().map(|()| status).map_err(Into::into));
    ExitCode::from(match status {
        Ok(Status::Clean) => 0,
        Ok(Status::Findings) => 1,
        Ok(Status::Trouble) => 2,
        // The reader has closed the pipe, as in `toolcheck ... | head`.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            screen::message("error", &format!("{error:#}"));
            2
        }
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
