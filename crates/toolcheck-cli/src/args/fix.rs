//! The arguments of `toolcheck fix`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use toolcheck_core::Level;
use toolcheck_lint::fix::{Duplicates, FixPlace, Orphans, Unanswered};
use toolcheck_lint::{FixOptions, Rule};

use super::{Choices, ConfigArgs, ReadingArgs, SelectionArgs, choice_parser, level_parser, rule_parser};

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("help/fix.txt").trim_ascii_end())]
pub(crate) struct FixArgs {
    /// Files, directories and globs to fix in place; `-` to fix standard input and write it to standard output
    #[arg(value_name = "PATH", required = true, help_heading = "Arguments")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    #[command(flatten)]
    pub(crate) fixes: FixesArgs,

    /// Lowest level of a remaining finding that makes the exit status 1
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = level_parser(), help_heading = "Rules")]
    pub(crate) fail_on: Level,
}

/// A text that says something.
fn placeholder_parser(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("the text is empty") } else { Ok(text.to_owned()) }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Fixes")]
pub(crate) struct FixesArgs {
    /// Also apply fixes that lose or guess something; each of them says what
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,

    /// Only fix findings of these rules, including those that the API accepts
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) only: Vec<&'static Rule>,

    /// Only fix what is found at these places: a LINE or LINE:COLUMN as printed by `lint`, or a JSON Pointer (including
    /// everything below it)
    #[arg(long, value_name = "PLACE", value_delimiter = ',', value_parser = parse_place)]
    pub(crate) place: Vec<FixPlace>,

    /// What to do with a call without a result
    #[arg(long, value_name = "HOW", value_parser = choice_parser(UNANSWERED), default_value = "answer")]
    pub(crate) unanswered: Unanswered,

    /// What to do with a result without a call; needs --unsafe-fixes
    #[arg(long, value_name = "HOW", value_parser = choice_parser(ORPHANS), default_value = "text")]
    pub(crate) orphans: Orphans,

    /// What to do with two different results of one call; needs --unsafe-fixes
    #[arg(long, value_name = "HOW", value_parser = choice_parser(DUPLICATES), default_value = "both")]
    pub(crate) duplicates: Duplicates,

    /// Text of the results that are inserted
    #[arg(long, value_name = "TEXT", value_parser = placeholder_parser)]
    pub(crate) placeholder: Option<String>,

    /// Print the changes as a unified diff, and write nothing
    #[arg(long, conflicts_with = "plan")]
    pub(crate) diff: bool,

    /// With --diff, also show texts, arguments and results, which may contain secrets
    #[arg(long, requires = "diff")]
    pub(crate) show_values: bool,

    /// Print the planned changes as JSON, and write nothing
    #[arg(long)]
    pub(crate) plan: bool,
}

fn parse_place(text: &str) -> Result<FixPlace, String> {
    text.parse().map_err(|error: toolcheck_lint::Error| error.to_string())
}

impl FixArgs {
    /// What the user asks for by name is fixed even if the API accepts it.
    pub(crate) fn options(&self) -> FixOptions {
        let names_rules = self.selection.names_rules() || !self.fixes.only.is_empty();
        self.fixes.options().accepted(names_rules)
    }
}

impl FixesArgs {
    fn options(&self) -> FixOptions {
        let options = FixOptions::new()
            .only(self.only.iter().map(|rule| rule.id))
            .places(self.place.iter().cloned())
            .unsafe_fixes(self.unsafe_fixes)
            .unanswered(self.unanswered)
            .orphans(self.orphans)
            .duplicates(self.duplicates);
        match &self.placeholder {
            Some(text) => options.placeholder(text),
            None => options,
        }
    }
}

const UNANSWERED: Choices<Unanswered> = &[
    ("answer", Unanswered::Answer, "Insert a placeholder result"),
    ("drop", Unanswered::Drop, "Remove it; needs --unsafe-fixes"),
    ("leave", Unanswered::Leave, "Leave it as it is"),
];

const ORPHANS: Choices<Orphans> = &[
    (
        "text",
        Orphans::Text,
        "Attach it to its call if that is clear; otherwise turn it into text from the user",
    ),
    ("drop", Orphans::Drop, "Attach it to its call if that is clear; otherwise remove it"),
    ("leave", Orphans::Leave, "Leave it as it is"),
];

const DUPLICATES: Choices<Duplicates> = &[
    ("both", Duplicates::Both, "Append the second result to the first"),
    ("first", Duplicates::First, "Keep the first"),
    ("last", Duplicates::Last, "Keep the last"),
];
