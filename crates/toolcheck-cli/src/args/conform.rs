//! The arguments of `toolcheck conform`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const AFTER: &str = "\
The client is started once and gets a line of JSON for each run on its standard input:
  {\"scenario\", \"base_url\", \"format\", \"stream\", \"prompt\", \"then\", \"needs\", \"max_turns\",
  \"then_format\", \"then_tools\"}
and answers with one: {\"outcome\": \"done\" or \"error\", \"text\": \"...\"}, or
{\"outcome\": \"skip\", \"text\": \"why\"}.

Exit status: 0 nothing failed, 1 something did, 2 invalid usage, or the client could not
be started.

Examples:
  toolcheck conform --list
  toolcheck conform --client './driver --quiet' --format openai-chat";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ConformArgs {
    /// Command that runs an agent loop
    #[arg(long, value_name = "COMMAND", required_unless_present = "list")]
    pub(crate) client: Option<String>,

    /// Print the scenarios, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Run only these scenarios
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Formats that the client speaks: ids from `toolcheck formats` [default: all]
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// Whether responses are streamed
    #[arg(long, value_name = "HOW", value_enum, default_value_t = StreamArg::Both)]
    pub(crate) stream: StreamArg,

    /// How many seconds a run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,

    /// Failures that are known: a TOML file with a `[[known]]` for each; one that no longer fails is a failure
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,

    /// Tools of an agent that cannot be given the standard ones: a TOML file with a `[tools.NAME]` for each
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Write the exchanges of each run to a new file in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) record: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "OUTPUT", value_enum, default_value_t = ConformOutput::Text)]
    pub(crate) output_format: ConformOutput,
}

/// Whether responses are streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamArg {
    /// Each scenario is run twice
    Both,
    /// Responses come at once
    Whole,
    /// Responses are streamed
    Streamed,
}

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConformOutput {
    /// For the terminal: what is not as it must or should be
    Text,
    /// For programs: every verdict
    Json,
    /// A table for an issue or a page: scenarios by formats
    Markdown,
}
