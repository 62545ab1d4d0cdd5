//! The arguments of `toolcheck serve`.

use std::path::PathBuf;

use clap::Args;
use toolcheck_serve::Strictness;

use super::{Choices, choice_parser, number, target_parser};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/serve.txt").trim_ascii_end())]
pub(crate) struct ServeArgs {
    /// API to imitate: an id from `toolcheck targets`, or a TOML file; may be repeated. Requests to the path of another API are
    /// answered with 404, and the exit status is 1 [default: the API of each path]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Vec<String>,

    /// Port on the loopback interface; 0 chooses a free port
    #[arg(long, value_name = "PORT", value_parser = number::<u16>, default_value_t = 0)]
    pub(crate) port: u16,

    /// Which refusals to enforce
    #[arg(long, value_name = "HOW", value_parser = choice_parser(STRICT), default_value = "known")]
    pub(crate) strict: Strictness,

    /// Accept requests that are refused only because of this rule, and note that in the record; may be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,

    /// Chat template of the model, to refuse what it refuses and to record prompts: `tokenizer_config.json`, a Jinja file, a GGUF
    /// file or the folder of a model
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,

    /// TOML file with a `[[turn]]` table for each turn of the model [default: generated turns]
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Replay a recording: answer each request with the recorded response to the same content; other requests get 404, and the
    /// exit status is 1
    #[arg(long, value_name = "RECORDING", conflicts_with = "script")]
    pub(crate) replay: Option<PathBuf>,

    /// Don't serve; compare the mock's answers to the requests in a recording with the recorded responses
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["script", "replay", "record", "keep_running", "port"])]
    pub(crate) against: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) listen: ListenArgs,
}

// No documentation: it would become that of the command.
#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// Write each exchange to a new file, as JSON Lines that `toolcheck lint` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Answer requests that name this host too, such as `host.docker.internal`; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Answer requests from web pages of this origin too, such as `https://app.example`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// Maximum size of a request body, in bytes
    #[arg(long, value_name = "BYTES", value_parser = number::<usize>, default_value_t = 64 << 20)]
    pub(crate) max_body: usize,

    /// Keep running when standard input closes, until a signal ends the program
    #[arg(long)]
    pub(crate) keep_running: bool,
}

/// How certain a refusal must be.
pub(super) const STRICT: Choices<Strictness> = &[
    ("known", Strictness::Known, "Those that were observed or are specified"),
    ("likely", Strictness::Likely, "Also those that are inferred from known facts"),
];
