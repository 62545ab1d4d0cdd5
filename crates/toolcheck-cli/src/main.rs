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

use toolcheck_core::text::reason;

use crate::args::{Args, Color, Command};
use crate::screen::Stdout;

/// In place of musl's, which is slow, and which threads wait for.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    let mut out = Stdout::new();
    let status = match Args::try_parse() {
        Ok(args) => run(args.command, &mut out),
        Err(error) => usage(&args::printable(args::with_hint(error)), &mut out),
    };
    let status = status.unwrap_or_else(|error| {
        let _ = out.flush();
        let chain: Vec<String> = error.chain().map(reason).collect();
        screen::message("error", &chain.join(": "));
        Status::Trouble
    });
    // What was found counts, whether or not anybody reads it.
    let is_written = match out.end() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            screen::message("error", &format!("cannot write to standard output: {}", reason(&error)));
            false
        }
        // The reader has closed the pipe, as in `toolcheck ... | head`.
        _ => true,
    };
    ExitCode::from(match status {
        _ if !is_written => 2,
        Status::Clean => 0,
        Status::Findings => 1,
        Status::Trouble => 2,
    })
}

fn run(command: Command, out: &mut dyn Write) -> anyhow::Result<Status> {
    signals::catch(|| {
        #[cfg(feature = "serve")]
        commands::conform::process::kill_all();
    });
    match command {
        Command::Lint(args) => commands::lint::run(&args, out),
        Command::Fix(args) => commands::fix::run(&args, out),
        Command::Show(args) => commands::show::run(&args, out),
        Command::Render(args) => commands::render::run(&args, out),
        Command::Diff(args) => commands::diff::run(&args, out),
        Command::Explain(args) => commands::explain::run(&args, out),
        Command::Rules(args) => commands::list::rules(&args, out),
        Command::Formats(args) => commands::list::formats(&args, out),
        Command::Targets(args) => commands::list::targets(&args, out),
        Command::Shapes(args) => commands::shapes::run(&args, out),
        Command::Models(args) => commands::shapes::models::run(&args, out),
        Command::Test(args) => commands::test::run(&args, out),
        #[cfg(feature = "serve")]
        Command::Conform(args) => commands::conform::run(&args, out),
        Command::Matrix(args) => commands::matrix::run(&args, out),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(&args, out),
        #[cfg(feature = "lsp")]
        Command::Server { .. } => commands::server::run(out),
        #[cfg(feature = "serve")]
        Command::Proxy(args) => commands::proxy::run(&args, out),
        Command::Init(args) => commands::init::run(&args, out),
        Command::Completions(args) => commands::completions::run(&args, out),
        Command::Man(args) => commands::man::run(&args, out),
    }
}

/// Prints the help or the version that was asked for, or why the command line is not valid.
fn usage(error: &clap::Error, out: &mut dyn Write) -> anyhow::Result<Status> {
    if error.use_stderr() {
        // If the standard error is closed, there is nowhere to report that.
        let _ = error.print();
        return Ok(Status::Trouble);
    }
    let text = error.render();
    if screen::style(Color::Auto).color {
        write!(out, "{}", text.ansi())?;
    } else {
        write!(out, "{text}")?;
    }
    Ok(Status::Clean)
}
