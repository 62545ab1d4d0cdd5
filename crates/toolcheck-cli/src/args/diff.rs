//! The arguments of `toolcheck diff`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use toolcheck_core::diff::{Kind, Level};
use toolcheck_core::text::bounded;
use toolcheck_open::FileFormat;
use toolcheck_report::diff::{self, Output};

use super::{Color, WithCompletions, format_parser, target_parser};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/diff.txt").trim_ascii_end())]
pub(crate) struct DiffArgs {
    /// File with the conversation before the change; `-` for standard input
    #[arg(value_name = "BEFORE", required_unless_present = "pairs", conflicts_with = "pairs")]
    pub(crate) before: Option<PathBuf>,

    /// File with the conversation after the change; `-` for standard input
    #[arg(value_name = "AFTER", required_unless_present = "pairs", conflicts_with = "pairs")]
    pub(crate) after: Option<PathBuf>,

    /// Compare the pairs of files in this list, and print one table; each line has two names, separated by a tab or a space
    #[arg(long, value_name = "LIST")]
    pub(crate) pairs: Option<PathBuf>,

    /// Format before: an id from `toolcheck formats` [default: detected]
    #[arg(
        long, value_name = "ID", value_parser = format_parser(), hide_possible_values = true,
        help_heading = "Reading"
    )]
    pub(crate) before_format: Option<FileFormat>,

    /// Format after: an id from `toolcheck formats` [default: detected]
    #[arg(
        long, value_name = "ID", value_parser = format_parser(), hide_possible_values = true,
        help_heading = "Reading"
    )]
    pub(crate) after_format: Option<FileFormat>,

    /// Match results with calls on both sides as this API does, by id or by position [default: by format]
    #[arg(
        long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true,
        help_heading = "Reading"
    )]
    pub(crate) target: Option<String>,

    /// Lowest level that makes the exit status 1: something is lost or altered (`loss`), the model reads something else
    /// (`change`), or the same is written differently (`form`)
    #[arg(
        long, value_name = "LEVEL", default_value = "loss", value_parser = level_parser(),
        help_heading = "Changes"
    )]
    pub(crate) fail_on: Level,

    /// Leave out changes of this kind
    #[arg(
        long, value_name = "KIND", value_delimiter = ',', value_parser = kind_parser(), hide_possible_values = true,
        help_heading = "Changes"
    )]
    pub(crate) allow: Vec<Kind>,

    /// Output format
    #[arg(
        long, value_name = "OUTPUT", default_value = "full", value_parser = output_parser(), help_heading = "Output"
    )]
    pub(crate) output_format: &'static Output,

    /// Show the beginning of each value that changed (it may contain secrets)
    #[arg(long, help_heading = "Output")]
    pub(crate) show_values: bool,

    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: Color,
}

fn level_parser() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.into_iter().rev().map(Level::as_str))
        .try_map(|name| name.parse::<Level>())
}

fn output_parser() -> impl TypedValueParser<Value = &'static Output> {
    let outputs = diff::ALL.iter().map(|output| PossibleValue::new(output.id).help(output.summary));
    PossibleValuesParser::new(outputs).map(|id| diff::find(&id).expect("only ids in the table are accepted"))
}

fn parse_kind(id: &str) -> Result<Kind, String> {
    id.parse::<Kind>().map_err(|error| {
        let ids: Vec<&str> = Kind::ALL.iter().map(|kind| kind.id()).collect();
        format!("{}\n\nkinds: {}", bounded(&error.to_string(), 200), ids.join(", "))
    })
}

fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    let values = || Kind::ALL.iter().map(|kind| PossibleValue::new(kind.id()).help(kind.summary())).collect();
    WithCompletions { parser: parse_kind as fn(&str) -> Result<Kind, String>, values }
}
