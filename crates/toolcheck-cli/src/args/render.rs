//! The arguments of `toolcheck render`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Color, ConfigArgs, target_parser};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/render.txt").trim_ascii_end())]
pub(crate) struct RenderArgs {
    /// Request, list of messages or row of a data set, in the form of Chat Completions; `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Chat template of the model: `tokenizer_config.json`, a Jinja file, a GGUF file or the folder of a model
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,

    /// Server that renders the template, as some servers change the messages first: an id from `toolcheck targets`
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<String>,

    /// Number of the record, from 1, in a file that has several
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) record: NonZeroUsize,

    /// Render what a trainer sees: arguments unchanged, and no generation prompt
    #[arg(long)]
    pub(crate) training: bool,

    /// Show the tokens and count them by origin; uses the `tokenizer.json` next to the template unless a file is given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) tokens: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Output format
    #[arg(long, value_name = "OUTPUT", value_enum, default_value_t = PromptOutput::Text, help_heading = "Output")]
    pub(crate) output_format: PromptOutput,

    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: Color,
}

/// How a prompt is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptOutput {
    /// The prompt; on a terminal, colored by the origin of its parts
    Text,
    /// For programs: the prompt, and where each of its parts comes from
    Json,
    /// A self-contained web page that shows where each part comes from
    Html,
}
