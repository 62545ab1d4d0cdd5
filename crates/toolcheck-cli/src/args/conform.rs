//! The arguments of `toolcheck conform`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolcheck_conform::adapter::BodyKind;
use toolcheck_core::Format;

use super::{Choices, choice_parser, number, seconds_parser, target_parser, wire_format_parser};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/conform.txt").trim_ascii_end())]
pub(crate) struct ConformArgs {
    /// Command that runs an agent loop
    #[arg(long, value_name = "COMMAND")]
    pub(crate) client: Option<String>,

    /// Command that is started once for each run; environment variables tell it what to do
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["client", "adapter", "gateway"])]
    pub(crate) client_per_run: Option<String>,

    #[command(flatten)]
    pub(crate) translation: TranslationArgs,

    /// Name of the client in reports [default: the command]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Print the scenarios and the sets that they belong to, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Run only these scenarios
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Run only the scenarios of this set [default: run all, but let only the newest set affect the exit status]
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<String>,

    /// Formats that the client speaks: ids from `toolcheck formats` [default: all]
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// Whether responses are streamed
    #[arg(long, value_name = "HOW", value_enum, default_value_t = StreamArg::Both)]
    pub(crate) stream: StreamArg,

    /// How many seconds a run may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds_parser, default_value_t = 60)]
    pub(crate) timeout: u64,

    /// How many seconds the client may take to say that it is ready [default: the value of `--timeout`]
    #[arg(long, value_name = "SECONDS", value_parser = seconds_parser)]
    pub(crate) start_timeout: Option<u64>,

    /// TOML file with a `[[known]]` entry for each known failure; the run fails if one of them no longer occurs
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,

    /// TOML file with a `[tools.NAME]` table for each tool of an agent that cannot use the standard tools
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Write the exchanges of each run to a new file in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) record: Option<PathBuf>,

    /// Write the report to this file, and keep it up to date while the client runs
    #[arg(long, value_name = "FILE")]
    pub(crate) output_file: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "OUTPUT", value_enum, default_value_t = ConformOutput::Text)]
    pub(crate) output_format: ConformOutput,
}

// An adapter or a gateway, which translates from one format to another. With a doc comment, this would be what the command is
// about.
#[derive(Debug, Args)]
#[command(next_help_heading = "Adapters and gateways")]
pub(crate) struct TranslationArgs {
    /// Command that translates each line of JSON into another
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["client", "gateway"], requires = "from", requires = "to")]
    pub(crate) adapter: Option<String>,

    /// Base URL of a gateway on this machine, which sends its requests to `--upstream-port`
    #[arg(long, value_name = "URL", conflicts_with = "client", requires = "from", requires = "to")]
    pub(crate) gateway: Option<String>,

    /// Format that the adapter or gateway reads: an id from `toolcheck formats`
    #[arg(long, value_name = "FORMAT", value_parser = wire_format_parser())]
    pub(crate) from: Option<&'static Format>,

    /// Format that the adapter or gateway writes
    #[arg(long, value_name = "FORMAT", value_parser = wire_format_parser())]
    pub(crate) to: Option<&'static Format>,

    /// API that must accept the requests: an id from `toolcheck targets`, or a TOML file [default: that of the format]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<String>,

    /// What to translate [default: all]
    #[arg(long, value_name = "KIND", value_parser = choice_parser(KINDS), value_delimiter = ',')]
    pub(crate) kind: Vec<BodyKind>,

    /// Number of generated conversations, besides those written by hand
    #[arg(long, value_name = "N", value_parser = number::<usize>, default_value_t = 50)]
    pub(crate) cases: usize,

    /// Seed of the generated conversations
    #[arg(long, value_name = "N", value_parser = number::<u64>, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Name of the model in requests
    #[arg(long, value_name = "NAME", default_value = "a-model")]
    pub(crate) model: String,

    /// Port on which the gateway's upstream listens; 0 chooses a free port
    #[arg(long, value_name = "PORT", value_parser = number::<u16>, default_value_t = 0)]
    pub(crate) upstream_port: u16,

    /// Header for the gateway, such as `authorization: Bearer any`; may be repeated
    #[arg(long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
}

const KINDS: Choices<BodyKind> = &[
    ("request", BodyKind::Request, "Requests"),
    ("response", BodyKind::Response, "Responses that are not streamed"),
    ("stream", BodyKind::Stream, "Streamed responses"),
];

/// Whether responses are streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamArg {
    /// Each scenario is run twice
    Both,
    /// Responses are not streamed
    Whole,
    /// Responses are streamed
    Streamed,
}

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConformOutput {
    /// For the terminal: what the loop must or should do differently
    Text,
    /// For programs and `toolcheck matrix`: every verdict, and the exchanges
    Json,
    /// A table for an issue or a page: scenarios by formats
    Markdown,
    /// JUnit XML: a test case for each run
    Junit,
    /// A self-contained web page with the exchanges behind each cell
    Html,
}
