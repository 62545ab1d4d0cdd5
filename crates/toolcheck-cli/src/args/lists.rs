//! Arguments of the commands that show what the program knows.

use clap::{Args as ClapArgs, ValueEnum};
use toolcheck_core::formats::Format;

use super::{target_parser, wire_format_parser};

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// Output format
    #[arg(long, value_name = "OUTPUT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("help/shapes.txt").trim_ascii_end())]
pub(crate) struct ShapesArgs {
    /// API: an id from `toolcheck targets`, or a TOML file
    #[arg(value_name = "TARGET", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: String,

    /// Object to show; the end of its name is enough [default: list all objects]
    #[arg(value_name = "OBJECT")]
    pub(crate) object: Option<String>,

    /// Format of the requests, if the API accepts several [default: the target's]
    #[arg(long, value_name = "ID", value_parser = wire_format_parser())]
    pub(crate) format: Option<&'static Format>,

    /// Output format
    #[arg(long, value_name = "OUTPUT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsArgs {
    /// Model, as a request names it [default: list all known models]
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Output format
    #[arg(long, value_name = "OUTPUT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}
