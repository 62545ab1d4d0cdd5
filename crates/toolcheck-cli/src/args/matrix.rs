//! The arguments of `toolcheck matrix`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/matrix.txt").trim_ascii_end())]
pub(crate) struct MatrixArgs {
    /// Reports of `toolcheck conform --output-format json`
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_name = "OUTPUT", value_enum, default_value_t = MatrixOutput::Html)]
    pub(crate) output_format: MatrixOutput,
}

/// How the table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatrixOutput {
    /// A self-contained web page with the exchanges behind each cell
    Html,
    /// For programs: the worst status of each cell, and the results behind it
    Json,
    /// A table for an issue or a page
    Markdown,
}
