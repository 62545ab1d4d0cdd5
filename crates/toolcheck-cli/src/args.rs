//! The command line.

mod test;

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use toolcheck_core::Level;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::target;
use toolcheck_lint::draw::{self, Drawing};
use toolcheck_lint::render::{self, Output};
use toolcheck_lint::{Rule, rules};

use toolcheck_lint::suggest::did_you_mean;

pub(crate) use test::{BlessArg, TestArgs, WantedRun};

/// Says which tool-calling mistakes an LLM API would refuse, lose or misread - before the API does.
#[derive(Debug, Parser)]
#[command(name = "toolcheck", version, arg_required_else_help = true, after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Exit status: 0 nothing found, 1 findings, 2 bad usage, an input that could not be
read or an output that could not be written.

Examples:
  toolcheck lint transcript.json               one request body, or a bare list of messages
  toolcheck lint 'logs/**/*.jsonl' --kind session
  toolcheck lint history.json --target bedrock as another API would see it
  toolcheck show transcript.json               who speaks, what is called, what is broken
  toolcheck explain unanswered-tool-call
  toolcheck explain --error 'messages.2: `tool_use` ids were found without ...' request.json";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check transcripts.
    Lint(Box<LintArgs>),
    /// Draw a transcript: who speaks, what is called and answered, and what is broken where.
    Show(Box<ShowArgs>),
    /// Show a rule's page and which APIs refuse what it finds, or tell what an API's error speaks of.
    Explain(ExplainArgs),
    /// List the rules.
    Rules(ListArgs),
    /// List the formats that are read.
    Formats(ListArgs),
    /// List the targets that a transcript can be held against.
    Targets(ListArgs),
    /// Run a corpus of cases with expectations beside them.
    Test(TestArgs),
    /// Write a toolcheck.toml that says what there is to set.
    Init(InitArgs),
    /// Write the completions of a shell.
    Completions(CompletionsArgs),
    /// Write the manual page, or all of them into a directory.
    Man(ManArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LintArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Show what holds for the first file and where it comes from, and lint nothing
    #[arg(long, help_heading = "Configuration")]
    pub(crate) show_settings: bool,

    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// How many threads lint [default: as many as there are processors]
    #[arg(long, short = 'j', value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Files, directories and globs; `-` is the standard input [default: the working directory]
    #[arg(value_name = "PATH", help_heading = "Arguments")]
    pub(crate) paths: Vec<PathBuf>,

    /// Lint the files of this list too, one a line or with NUL between them; `-` reads it from the standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,

    /// Leave out the files and folders of directories that this pattern names, as .gitignore has them
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Leave out what is excluded even where it is named
    #[arg(long)]
    pub(crate) force_exclude: bool,

    /// Search directories for what .gitignore and .ignore leave out too
    #[arg(long)]
    pub(crate) no_ignore: bool,

    /// Search directories for hidden files too
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Skip files that no format recognises even where they are named
    #[arg(long)]
    pub(crate) skip_unrecognised: bool,

    /// How many bytes a compressed file may become
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30)]
    pub(crate) max_unpacked: u64,

    /// The name that the standard input has in the report
    #[arg(long, value_name = "NAME", default_value = "<stdin>", hide_default_value = true)]
    pub(crate) stdin_filename: String,

    /// List the files that would be linted, and lint nothing
    #[arg(long)]
    pub(crate) show_files: bool,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// The format of the files [default: found out from their content]
    #[arg(long, value_name = "ID", value_parser = format_parser())]
    pub(crate) format: Option<&'static Format>,

    /// The API that the transcripts are for: an id of `toolcheck targets`, or a TOML file [default: the format's own]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<String>,

    /// What the transcripts are for; a session or dataset may end with calls that nothing answers yet [default: request]
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    pub(crate) kind: Option<TranscriptKind>,

    /// Declares tools for transcripts that do not: a list of them, a request of any format, or an MCP server's answer to
    /// `tools/list`
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Rules")]
pub(crate) struct SelectionArgs {
    /// Run these rules only
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) select: Vec<&'static Rule>,

    /// Run these rules too: those that are off unless somebody asks for them
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) extend_select: Vec<&'static Rule>,

    /// Do not run these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) ignore: Vec<&'static Rule>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// The level from which findings make the exit status 1
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = level_parser())]
    pub(crate) fail_on: Level,

    /// Exit with 0 even if there are findings
    #[arg(long)]
    pub(crate) exit_zero: bool,
}

#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigArgs {
    /// The configuration for all files [default: the closest one upward from each]
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(crate) config: Option<PathBuf>,

    /// Use no configuration
    #[arg(long)]
    pub(crate) isolated: bool,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Baseline")]
pub(crate) struct BaselineArgs {
    /// Do not report the findings that this file knows; those of it that are gone fail the run
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings into the baseline
    #[arg(long, requires = "baseline", conflicts_with = "prune_baseline")]
    pub(crate) write_baseline: bool,

    /// Drop from the baseline what is gone
    #[arg(long, requires = "baseline")]
    pub(crate) prune_baseline: bool,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// How to write the findings; with `=FILE` into a file. Several may be named, one of them for the standard output
    #[arg(
        long, value_name = "OUTPUT[=FILE]", default_value = "full", value_delimiter = ',', value_parser = WantedParser
    )]
    pub(crate) output_format: Vec<Wanted>,

    /// Show the first so many findings of a file, and count the others; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) max_findings: usize,

    /// Show no line of the files: transcripts hold secrets, and logs of CI are public
    #[arg(long)]
    pub(crate) no_excerpt: bool,

    /// Count the findings of each rule below the outputs for people
    #[arg(long)]
    pub(crate) statistics: bool,

    /// Write no summary and no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// List the files of folders that were skipped, and why
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Show no progress; it is shown on a terminal only
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

impl OutputArgs {
    /// How many findings of a file are shown.
    pub(crate) fn most_findings(&self) -> usize {
        if self.max_findings == 0 { usize::MAX } else { self.max_findings }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// The file; `-` is the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    #[command(flatten)]
    pub(crate) drawing: DrawingArgs,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct DrawingArgs {
    /// How to draw it
    #[arg(long, value_name = "OUTPUT", default_value = "text", value_parser = drawing_parser())]
    pub(crate) output_format: &'static Drawing,

    /// Show how each text, argument and result begins: they may hold secrets
    #[arg(long)]
    pub(crate) text: bool,

    /// Leave nothing out of long transcripts and files of many
    #[arg(long)]
    pub(crate) all: bool,

    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// The rule; with --error, the file to look for the error's place in
    #[arg(
        value_name = "RULE|FILE", required_unless_present = "error", value_parser = subject_parser(),
        hide_possible_values = true
    )]
    pub(crate) subject: Option<String>,

    /// An error that an API answered, in whatever it came wrapped; `-` reads it from the standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) error: Option<String>,

    /// How to write it
    #[arg(long, value_name = "OUTPUT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// How to write the list
    #[arg(long, value_name = "OUTPUT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// The folder that it is written to
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Write it even where there is one
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = COMPLETIONS_AFTER)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

const COMPLETIONS_AFTER: &str = "\
Examples:
  toolcheck completions bash > ~/.local/share/bash-completion/completions/toolcheck
  toolcheck completions zsh > ~/.zfunc/_toolcheck      with ~/.zfunc in fpath
  toolcheck completions fish > ~/.config/fish/completions/toolcheck.fish";

/// The shells that have completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = MAN_AFTER)]
pub(crate) struct ManArgs {
    /// The directory for a page of each command [default: the program's own page, to the standard output]
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

const MAN_AFTER: &str = "\
Examples:
  toolcheck man | man -l -
  toolcheck man ~/.local/share/man/man1";

fn format_parser() -> impl TypedValueParser<Value = &'static Format> {
    let names = formats::ALL.iter().map(|format| PossibleValue::new(format.id).aliases(format.aliases));
    PossibleValuesParser::new(names)
        .map(|name| formats::named(&name).expect("only names of the table are possible"))
}

fn drawing_parser() -> impl TypedValueParser<Value = &'static Drawing> {
    PossibleValuesParser::new(
        draw::ALL.iter().map(|drawing| PossibleValue::new(drawing.id).help(drawing.summary)),
    )
    .map(|id| draw::find(&id).expect("only ids of the table are possible"))
}

/// An output, and the file that it goes to; `None` is the standard output.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) output: &'static Output,
    pub(crate) file: Option<PathBuf>,
}

/// Reads `ID` and `ID=FILE`, and lists the ids in the help.
#[derive(Debug, Clone, Copy)]
struct WantedParser;

impl TypedValueParser for WantedParser {
    type Value = Wanted;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Wanted, clap::Error> {
        let text =
            value.to_str().ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))?;
        let (id, file) = match text.split_once('=') {
            Some((id, file)) => (id, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let ids = PossibleValuesParser::new(render::ALL.iter().map(|output| output.id));
        let id = ids.parse_ref(command, argument, OsStr::new(id))?;
        let output = render::find(&id).expect("only ids of the table are possible");
        if file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
            let message = format!("`{text}` names no file behind `=`");
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message).format(&mut command.clone()));
        }
        Ok(Wanted { output, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(render::ALL.iter().map(|output| PossibleValue::new(output.id).help(output.summary))))
    }
}

/// The rule of that id.
pub(crate) fn parse_rule(id: &str) -> Result<&'static Rule, String> {
    rules::find(id).ok_or_else(|| {
        let known = rules::ALL.iter().map(|rule| rule.id);
        format!("there is no such rule{}\n\n`toolcheck rules` lists them", did_you_mean(id, known))
    })
}

fn rule_parser() -> impl TypedValueParser<Value = &'static Rule> {
    Suggesting { parser: parse_rule as fn(&str) -> Result<&'static Rule, String>, values: rule_values }
}

fn subject_parser() -> impl TypedValueParser<Value = String> {
    Suggesting { parser: StringValueParser::new(), values: rule_values }
}

fn target_parser() -> impl TypedValueParser<Value = String> {
    let values = || target::all().map(|target| PossibleValue::new(&*target.id).help(&*target.name)).collect();
    Suggesting { parser: StringValueParser::new(), values }
}

fn rule_values() -> Vec<PossibleValue> {
    rules::ALL.iter().map(|rule| PossibleValue::new(rule.id).help(rule.summary.trim())).collect()
}

/// Reads as `parser` does, and tells the completions of shells which values there are. Others may be good too.
#[derive(Clone)]
struct Suggesting<P> {
    parser: P,
    values: fn() -> Vec<PossibleValue>,
}

impl<P: TypedValueParser> TypedValueParser for Suggesting<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.values)().into_iter()))
    }
}

fn kind_parser() -> impl TypedValueParser<Value = TranscriptKind> {
    PossibleValuesParser::new(TranscriptKind::ALL.map(TranscriptKind::as_str))
        .try_map(|name| name.parse::<TranscriptKind>())
}

fn level_parser() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["error", "warning"]).try_map(|name| name.parse::<Level>())
}
