//! The arguments of `toolcheck serve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolcheck_serve::Strictness;

use super::target_parser;

const AFTER: &str = "\
Prints one line of JSON with the address once it listens, and serves until the
standard input closes. Clients need the address as their base URL, and any API key.

Exit status: 0 no request was refused, 1 one was, 2 invalid usage, or the port is taken.

Examples:
  toolcheck serve --target anthropic
  toolcheck serve --script turns.toml --record exchanges.jsonl";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ServeArgs {
    /// API that requests are checked against: an id from `toolcheck targets`, or a TOML file [default: that of the path]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<String>,

    /// Port on the loopback interface; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// How much must be known of a refusal
    #[arg(long, value_name = "HOW", value_enum, default_value_t = StrictArg::Known)]
    pub(crate) strict: StrictArg,

    /// What the model says, turn by turn: a TOML file with a `[[turn]]` for each [default: made up]
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Write each exchange to a new file, as JSON Lines that `toolcheck lint` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Largest body of a request in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_body: usize,

    /// Go on when the standard input closes, until a signal ends the program
    #[arg(long)]
    pub(crate) keep_running: bool,
}

/// How much must be known of a refusal.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StrictArg {
    /// Somebody has seen it, or a specification says so
    Known,
    /// It follows from something else that is known
    Likely,
}

impl From<StrictArg> for Strictness {
    fn from(strict: StrictArg) -> Self {
        match strict {
            StrictArg::Known => Self::Known,
            StrictArg::Likely => Self::Likely,
        }
    }
}
