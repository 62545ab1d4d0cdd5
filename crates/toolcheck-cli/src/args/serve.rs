//! The arguments of `toolcheck serve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolcheck_serve::Strictness;

use super::target_parser;

const AFTER: &str = "\
Prints one line of JSON with the addresses once it listens, and serves until the
standard input closes. Clients need the `url` as their base URL, and any API key; tests
ask at the other addresses, which nobody else can guess.

Exit status: 0 no request was refused, 1 one was, or was sent to the path of another API
than those of `--target`, 2 invalid usage, or the port is taken.

Examples:
  toolcheck serve --target anthropic
  toolcheck serve --script turns.toml --record exchanges.jsonl";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ServeArgs {
    /// API to be: an id from `toolcheck targets`, or a TOML file; may be repeated. Requests to the path of another API are
    /// answered with 404, and the exit status is 1 [default: the API of each path]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Vec<String>,

    /// Port on the loopback interface; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// How much must be known of a refusal
    #[arg(long, value_name = "HOW", value_enum, default_value_t = StrictArg::Known)]
    pub(crate) strict: StrictArg,

    /// Answer requests that are refused because of this rule only, and note it in the record; may be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,

    /// What the model says, turn by turn: a TOML file with a `[[turn]]` for each [default: made up]
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Write each exchange to a new file, as JSON Lines that `toolcheck lint` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Answer requests that name this host too, such as `host.docker.internal`; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Answer requests of web pages of this origin too, such as `https://app.example`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

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
