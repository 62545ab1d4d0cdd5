//! The arguments of `toolcheck test`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use toolcheck_core::suggest::unknown;
use toolcheck_test::corpus::Bless;
use toolcheck_test::corpus::outputs::{self, Output};

use super::Color;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/test.txt").trim_ascii_end())]
pub(crate) struct TestArgs {
    /// Directory with the cases
    #[arg(value_name = "DIR", default_value = "fixtures")]
    pub(crate) dir: PathBuf,

    /// Run only cases whose path contains this text, or matches this glob
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,

    /// Update the existing expectations to match the results; with `=new`, create the missing ones; with `=all`, do both
    #[arg(
        long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "changed",
        hide_possible_values = true
    )]
    pub(crate) bless: Option<BlessArg>,

    /// List the cases without running them
    #[arg(long, conflicts_with_all = ["bless", "output_format"])]
    pub(crate) list: bool,

    /// Output format: `text`, `junit` or `json`; with `=FILE`, write to a file. Can be given several times, once for
    /// standard output
    #[arg(
        long, value_name = "OUTPUT[=FILE]", default_value = "text", value_delimiter = ',', value_parser = parse_output
    )]
    pub(crate) output_format: Vec<TestOutputSpec>,

    /// Don't print the summary
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// The expectations to update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlessArg(pub(crate) Bless);

impl ValueEnum for BlessArg {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Bless::Changed), Self(Bless::New), Self(Bless::All)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self.0 {
            Bless::Nothing => None,
            Bless::Changed => Some("changed".into()),
            Bless::New => Some("new".into()),
            Bless::All => Some("all".into()),
        }
    }
}

/// An output of the test runner, and the file that it is written to; `None` is the standard output.
#[derive(Debug, Clone)]
pub(crate) struct TestOutputSpec {
    pub(crate) output: &'static Output,
    pub(crate) file: Option<PathBuf>,
}

fn parse_output(text: &str) -> Result<TestOutputSpec, String> {
    let (id, file) = text.split_once('=').map_or((text, None), |(id, file)| (id, Some(PathBuf::from(file))));
    let ids = || outputs::ALL.iter().map(|output| output.id);
    let output = outputs::find(id).ok_or_else(|| {
        format!("{}\n\noutputs: {}", unknown("output", id, ids()), ids().collect::<Vec<_>>().join(", "))
    })?;
    if file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
        return Err("the file name after `=` is missing".to_owned());
    }
    Ok(TestOutputSpec { output, file })
}
