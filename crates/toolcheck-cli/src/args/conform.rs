//! The arguments of `toolcheck conform`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const AFTER: &str = "\
The client is started once and gets a line of JSON for each run on its standard input:
  {\"scenario\", \"base_url\", \"format\", \"stream\", \"prompt\", \"then\", \"needs\", \"max_turns\",
  \"then_format\", \"then_tools\"}
and answers with one: {\"outcome\": \"done\" or \"error\", \"text\": \"...\"}, or
{\"outcome\": \"skip\", \"text\": \"why\"}.

With --client-per-run, the same is in TOOLCHECK_SCENARIO, TOOLCHECK_BASE_URL,
TOOLCHECK_FORMAT, TOOLCHECK_STREAM (true or false), TOOLCHECK_PROMPT and TOOLCHECK_THEN,
and the variables of the usual SDKs (OPENAI_BASE_URL and the like) are set. Status 0 is
done, with the standard output as the answer; 77 is a skip, and any other an error with
the last lines of the standard error.

Exit status: 0 nothing failed, 1 something did, 2 invalid usage, or the client could not
be started.

Examples:
  toolcheck conform --list
  toolcheck conform --client './driver --quiet' --format openai-chat";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ConformArgs {
    /// Command that runs an agent loop
    #[arg(long, value_name = "COMMAND", required_unless_present_any = ["list", "client_per_run"])]
    pub(crate) client: Option<String>,

    /// Command that is started once for each run, and told by its environment what to do
    #[arg(long, value_name = "COMMAND", conflicts_with = "client")]
    pub(crate) client_per_run: Option<String>,

    /// Name of the client in reports [default: the command]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Print the scenarios and the sets that they belong to, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Run only these scenarios
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// Run only the scenarios of this set [default: all; those that are in the newest set count]
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<String>,

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
    /// For programs and `toolcheck matrix`: every verdict, and the exchanges
    Json,
    /// A table for an issue or a page: scenarios by formats
    Markdown,
    /// JUnit XML: a test case for each run
    Junit,
    /// A self-contained web page, whose cells open the exchanges
    Html,
}
