//! The command line.

mod again;
#[cfg(feature = "serve")]
mod conform;
mod deferred;
mod diff;
mod fix;
mod hints;
mod lists;
mod matrix;
#[cfg(feature = "serve")]
mod proxy;
mod render;
#[cfg(feature = "serve")]
mod serve;
mod test;

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use toolcheck_config::Overrides;
#[cfg(feature = "serve")]
use toolcheck_conform::scenarios;
use toolcheck_core::Level;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::targets;
use toolcheck_lint::{Rule, rules};
use toolcheck_open::FileFormat;
use toolcheck_project::{
    BaselineOptions, BaselineUpdate, ConfigOptions, FileOptions, Limits, SummaryOptions, find_target,
};
use toolcheck_report::outputs::{self, Output};
use toolcheck_report::show;

use toolcheck_core::suggest::{Suggestion, unknown};
use toolcheck_core::text::bounded;

use crate::screen;

pub(crate) use again::{again, quoted};
#[cfg(feature = "serve")]
pub(crate) use conform::{ConformArgs, ConformOutput, StreamArg, TranslationArgs};
use deferred::Deferred;
pub(crate) use diff::DiffArgs;
pub(crate) use fix::FixArgs;
pub(crate) use hints::{printable, with_hint};
pub(crate) use lists::{ListArgs, ListFormat, ModelsArgs, ShapesArgs};
pub(crate) use matrix::{MatrixArgs, MatrixOutput};
#[cfg(feature = "serve")]
pub(crate) use proxy::ProxyArgs;
pub(crate) use render::{PromptOutput, RenderArgs};
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use test::{BlessArg, TestArgs, TestOutputSpec};

/// Find tool-calling mistakes in LLM API requests before the API rejects them.
#[derive(Debug, Parser)]
#[command(
    name = "toolcheck", version, arg_required_else_help = true,
    after_help = include_str!("args/help/main.txt").trim_ascii_end()
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check requests, transcripts and data sets.
    Lint(Deferred<LintArgs>),
    /// Fix conversations in place, such as those with mismatched tool calls and results.
    Fix(Deferred<FixArgs>),
    /// Show a transcript as an outline: messages, tool calls, results and problems.
    Show(Deferred<ShowArgs>),
    /// Print the prompt that a model's chat template produces from a conversation.
    Render(Deferred<RenderArgs>),
    /// Compare two conversations, in any formats, and report what was lost or changed.
    Diff(Deferred<DiffArgs>),
    /// Explain a rule, a scenario, or an error message from an API or a framework.
    Explain(Deferred<ExplainArgs>),
    /// List the rules.
    Rules(Deferred<ListArgs>),
    /// List the supported formats.
    Formats(Deferred<ListArgs>),
    /// List the APIs that transcripts can be checked against.
    Targets(Deferred<ListArgs>),
    /// Show what an API requires, allows and refuses in a request, with the evidence.
    Shapes(Deferred<ShapesArgs>),
    /// Show what APIs refuse or accept only for certain models, with the evidence.
    Models(Deferred<ModelsArgs>),
    /// Run a test corpus: files that have their expected findings next to them.
    Test(Deferred<TestArgs>),
    /// Run a mock server that rejects what the real APIs reject, with their error texts.
    #[cfg(feature = "serve")]
    Serve(Deferred<ServeArgs>),
    /// Run the language server, for editors.
    #[cfg(feature = "lsp")]
    #[command(visible_alias = "lsp", after_help = include_str!("args/help/server.txt").trim_ascii_end())]
    Server {
        /// Speak over standard input and output, as it does without; many editors add it
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Check requests on their way to an API, and record its responses.
    #[cfg(feature = "serve")]
    Proxy(Deferred<ProxyArgs>),
    /// Test how an agent loop handles scenarios, or how an adapter or a gateway translates conversations.
    #[cfg(feature = "serve")]
    Conform(Deferred<ConformArgs>),
    /// Combine the reports on several agent loops into one table.
    Matrix(Deferred<MatrixArgs>),
    /// Create a commented toolcheck.toml with every option.
    Init(Deferred<InitArgs>),
    /// Generate shell completions.
    Completions(Deferred<CompletionsArgs>),
    /// Generate the manual page, or all manual pages into a directory.
    Man(Deferred<ManArgs>),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("args/help/lint.txt").trim_ascii_end())]
pub(crate) struct LintArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Print the settings that apply to the first file, and exit
    #[arg(long, help_heading = "Configuration")]
    pub(crate) show_settings: bool,

    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Fix the named files first, as `toolcheck fix` does
    #[arg(long, requires = "paths", conflicts_with_all = ["files_from", "show_settings", "show_files"], help_heading = "Fixes")]
    pub(crate) fix: bool,

    /// With --fix, also apply fixes that lose or guess something
    #[arg(long, requires = "fix", help_heading = "Fixes")]
    pub(crate) unsafe_fixes: bool,

    /// Number of threads, at most 1024 [default: number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads_parser)]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Files, directories and globs; `-` for standard input [default: the current directory]
    #[arg(value_name = "PATH", help_heading = "Arguments")]
    pub(crate) paths: Vec<PathBuf>,

    /// Also lint the files that this file lists, one per line or separated by NUL; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,

    /// Exclude files and folders matching this pattern (gitignore syntax)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Apply exclusions even to files named on the command line
    #[arg(long)]
    pub(crate) force_exclude: bool,

    /// Don't respect .gitignore and .ignore files
    #[arg(long)]
    pub(crate) no_ignore: bool,

    /// Include hidden files and folders
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Skip files that are not transcripts, even if named on the command line
    #[arg(long)]
    pub(crate) skip_unrecognised: bool,

    /// Maximum size of a file after decompression, in bytes
    #[arg(long, value_name = "BYTES", value_parser = number::<u64>, default_value_t = 4 << 30)]
    pub(crate) max_unpacked: u64,

    /// Maximum size, in bytes, of what is read into memory as a whole: a document, a line of JSON Lines or the log of an agent
    #[arg(long, value_name = "BYTES", value_parser = number::<u64>, default_value_t = 256 << 20)]
    pub(crate) max_document: u64,

    /// File name to use for standard input in the report
    #[arg(long, value_name = "NAME", default_value = "<stdin>", hide_default_value = true)]
    pub(crate) stdin_filename: String,

    /// List the files that would be linted, and exit
    #[arg(long)]
    pub(crate) show_files: bool,
}

impl FileArgs {
    /// Says that the standard input has a name but is not read.
    pub(crate) fn note_unused_name(&self) {
        if self.stdin_filename != "<stdin>" && self.paths.iter().all(|path| path.as_os_str() != "-") {
            screen::message(
                "note",
                "--stdin-filename is not used: it names the standard input, which is read as `-`",
            );
        }
    }

    pub(crate) fn options(&self) -> FileOptions {
        FileOptions {
            paths: self.paths.clone(),
            files_from: self.files_from.clone(),
            exclude: self.exclude.clone(),
            force_exclude: self.force_exclude,
            no_ignore: self.no_ignore,
            hidden: self.hidden,
            skip_unrecognised: self.skip_unrecognised,
            limits: Limits { unpacked: self.max_unpacked, document: self.max_document },
            stdin_name: self.stdin_filename.clone(),
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Format of the files: an id from `toolcheck formats` [default: detected from their content]
    #[arg(long, value_name = "ID", value_parser = format_parser(), hide_possible_values = true)]
    pub(crate) format: Option<FileFormat>,

    /// Read only this conversation of a file that holds several: its title, or its number in `toolcheck show`
    #[arg(long, value_name = "TITLE|N")]
    pub(crate) conversation: Option<String>,

    /// Read only the conversation that the agent would send next, put together from its log
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) next: bool,

    /// API to check against: an id from `toolcheck targets`, or a TOML file [default: the format's own provider]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<String>,

    /// Kind: a complete request, a session, which may end anywhere, or a dataset, from which a model learns [default: implied by the file, or request]
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    pub(crate) kind: Option<TranscriptKind>,

    /// File with tool definitions for transcripts that have none: a list of tools, a request in any format, or an MCP
    /// server's response to `tools/list`
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// Chat template of the model, to check the prompt that it makes: `tokenizer_config.json`, a Jinja file, a GGUF file or the
    /// folder of a model
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,

    /// JSON Pointer to the messages or the request in each record, such as `/payload/body`
    #[arg(long, value_name = "POINTER", value_parser = pointer_parser)]
    pub(crate) at: Option<String>,
}

impl ReadingArgs {
    /// The only conversation to read.
    pub(crate) fn conversation(&self) -> Option<&str> {
        if self.next { Some(toolcheck_lint::Options::NEXT) } else { self.conversation.as_deref() }
    }
}

/// A whole number. The words of the standard library are about digits.
fn number<N: FromStr + TryFrom<u64>>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| {
        let is_most = |bits: &u32| N::try_from(u64::MAX >> (64 - bits)).is_ok();
        let most =
            [64, 32, 16].iter().find(|bits| is_most(bits)).map_or(u64::MAX, |bits| u64::MAX >> (64 - bits));
        format!("expected a whole number from 0 to {most}")
    })
}

/// A time that something may take.
fn seconds_parser(text: &str) -> Result<u64, &'static str> {
    text.parse().ok().filter(|seconds| *seconds > 0).ok_or("expected a whole number of seconds, at least 1")
}

/// A number of threads.
fn threads_parser(text: &str) -> Result<u16, &'static str> {
    text.parse().ok().filter(|number| (1..=1024).contains(number)).ok_or("expected a number from 1 to 1024")
}

/// A JSON Pointer.
fn pointer_parser(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(format!("a JSON Pointer begins with a slash: `/{text}`"))
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Rules")]
pub(crate) struct SelectionArgs {
    /// Run only these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) select: Vec<&'static Rule>,

    /// Also run these opt-in rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) extend_select: Vec<&'static Rule>,

    /// Don't run these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) ignore: Vec<&'static Rule>,
}

impl SelectionArgs {
    /// Whether the user asks for rules by name.
    pub(crate) fn names_rules(&self) -> bool {
        !(self.select.is_empty() && self.extend_select.is_empty())
    }
}

/// The settings that take precedence over the configuration.
///
/// # Errors
///
/// There is no such target.
pub(crate) fn overrides(
    reading: &ReadingArgs,
    rules: &SelectionArgs,
) -> Result<Overrides, toolcheck_project::Error> {
    let mut overrides = Overrides::default();
    let read_as = &mut overrides.read_as;
    read_as.format = reading.format;
    read_as.target = reading.target.as_deref().map(find_target).transpose()?;
    read_as.kind = reading.kind;
    read_as.tools.clone_from(&reading.tools);
    read_as.template.clone_from(&reading.template);
    overrides.conversation = reading.conversation().map(str::to_owned);
    read_as.at.clone_from(&reading.at);
    let selection = &mut overrides.selection;
    selection.select.clone_from(&rules.select);
    selection.extend_select.clone_from(&rules.extend_select);
    selection.ignore.clone_from(&rules.ignore);
    Ok(overrides)
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Lowest level that makes the exit status 1
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = level_parser())]
    pub(crate) fail_on: Level,

    /// Exit with 0 even if there are problems
    #[arg(long)]
    pub(crate) exit_zero: bool,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigArgs {
    /// Configuration for all files [default: the closest toolcheck.toml in or above each file's folder]
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(crate) config: Option<PathBuf>,

    /// Ignore all configuration files
    #[arg(long)]
    pub(crate) isolated: bool,
}

impl ConfigArgs {
    pub(crate) fn options(&self) -> ConfigOptions {
        match &self.config {
            Some(path) => ConfigOptions::File(path.clone()),
            None if self.isolated => ConfigOptions::Isolated,
            None => ConfigOptions::Closest,
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Baseline")]
pub(crate) struct BaselineArgs {
    /// Hide findings recorded in this file; fail if a recorded finding no longer occurs
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Record all findings in the baseline
    #[arg(long, requires = "baseline", conflicts_with = "prune_baseline")]
    pub(crate) write_baseline: bool,

    /// Remove findings that no longer occur from the baseline
    #[arg(long, requires = "baseline")]
    pub(crate) prune_baseline: bool,
}

impl BaselineArgs {
    pub(crate) fn options(&self) -> Option<BaselineOptions> {
        let update = match (self.write_baseline, self.prune_baseline) {
            (true, _) => BaselineUpdate::Write,
            (false, true) => BaselineUpdate::Prune,
            (false, false) => BaselineUpdate::Nothing,
        };
        self.baseline.clone().map(|path| BaselineOptions { path, update })
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Output format; with `=FILE`, write to a file. Can be given several times, once for standard output
    #[arg(
        long, value_name = "OUTPUT[=FILE]", default_value = "full", value_delimiter = ',', value_parser = OutputSpecParser
    )]
    pub(crate) output_format: Vec<OutputSpec>,

    /// Maximum number of findings to print per file; 0 for no limit
    #[arg(long, value_name = "N", value_parser = number::<usize>, default_value_t = 10_000)]
    pub(crate) max_findings: usize,

    /// Number of examples that the outputs `summary` and `summary-json` print for each rule
    #[arg(long, value_name = "N", value_parser = number::<usize>, default_value_t = 5)]
    pub(crate) samples: usize,

    /// Key that identifies a row in the outputs `summary` and `summary-json`, such as `id` or `meta.id` [default: file and line]
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,

    /// Don't print excerpts of the linted files, which may contain secrets; this is the default in CI
    #[arg(long, overrides_with = "excerpt")]
    pub(crate) no_excerpt: bool,

    /// Print excerpts of the linted files in CI too
    #[arg(long, overrides_with = "no_excerpt")]
    pub(crate) excerpt: bool,

    /// Print the number of findings per rule after the report
    #[arg(long)]
    pub(crate) statistics: bool,

    /// Don't print the summary and notes
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// List skipped and excluded files with the reasons, the configuration files in use, and what these exclude
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Don't show progress on the terminal
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

impl OutputArgs {
    /// Whether excerpts are printed. More people can read the log of a CI job than the files.
    pub(crate) fn has_excerpts(&self) -> bool {
        !self.no_excerpt && (self.excerpt || !screen::is_ci())
    }

    /// How findings are counted, if an output asks for no more.
    pub(crate) fn summary(&self) -> Result<Option<SummaryOptions>> {
        let is_summary = |spec: &&OutputSpec| spec.output.only_counts();
        let (counting, other): (Vec<_>, Vec<_>) = self.output_format.iter().partition(is_summary);
        match (counting.first(), other.first()) {
            (Some(one), Some(other)) => bail!(
                "`{}` only counts findings, and can't be combined with `{}`",
                one.output.id,
                other.output.id
            ),
            (Some(_), None) => Ok(Some(SummaryOptions { samples: self.samples, key: self.key.clone() })),
            (None, _) if self.key.is_some() => bail!("--key is for --output-format summary"),
            (None, _) => Ok(None),
        }
    }

    /// The maximum number of findings to print per file.
    pub(crate) fn max_findings(&self) -> usize {
        if self.max_findings == 0 { usize::MAX } else { self.max_findings }
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("args/help/show.txt").trim_ascii_end())]
pub(crate) struct ShowArgs {
    /// File to show; `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Show only this record, by its number from 1, such as a row of a data set
    #[arg(long, value_name = "N")]
    pub(crate) record: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    #[command(flatten)]
    pub(crate) outline: OutlineArgs,

    /// Show the file as `toolcheck fix` would write it, and mark the changes
    #[arg(long, help_heading = "Fixes")]
    pub(crate) fix: bool,

    /// With --fix, also apply fixes that lose or guess something
    #[arg(long, requires = "fix", help_heading = "Fixes")]
    pub(crate) unsafe_fixes: bool,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutlineArgs {
    /// Output format
    #[arg(long, value_name = "OUTPUT", default_value = "text", value_parser = outline_parser())]
    pub(crate) output_format: &'static show::outputs::Output,

    /// Show the beginning of each text, argument and result (they may contain secrets)
    #[arg(long)]
    pub(crate) text: bool,

    /// Don't shorten long transcripts and files
    #[arg(long)]
    pub(crate) all: bool,

    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set; elsewhere if `FORCE_COLOR` or `CLICOLOR_FORCE` is.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("args/help/explain.txt").trim_ascii_end())]
pub(crate) struct ExplainArgs {
    /// Rule or scenario of `conform` to explain; with --error, the file with the request that failed
    #[arg(
        value_name = "RULE|SCENARIO|FILE", required_unless_present = "error", value_parser = subject_parser(),
        hide_possible_values = true
    )]
    pub(crate) subject: Option<String>,

    /// Error message from an API or a framework; may be wrapped, quoted or cut short; `-` for standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) error: Option<String>,

    /// API that returned the error: an id from `toolcheck targets`, or a TOML file, whose own error texts are ignored [default: any
    /// API that is known to return it]
    #[arg(
        long, value_name = "ID|FILE", requires = "error", value_parser = target_parser(),
        hide_possible_values = true
    )]
    pub(crate) target: Option<String>,

    /// Chat template of the model, to find what it refuses in the file
    #[arg(long, value_name = "FILE", requires_all = ["error", "subject"])]
    pub(crate) template: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "OUTPUT", default_value = "text")]
    pub(crate) output_format: ListFormat,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// Folder to create the file in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,

    /// Don't print what was written
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = include_str!("args/help/completions.txt").trim_ascii_end())]
pub(crate) struct CompletionsArgs {
    /// Shell to generate completions for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

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
#[command(after_help = include_str!("args/help/man.txt").trim_ascii_end())]
pub(crate) struct ManArgs {
    /// Directory for one page per command [default: print the main page to standard output]
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Finds a format by its name.
fn parse_format(name: &str) -> Result<FileFormat, String> {
    FileFormat::named(name).ok_or_else(|| no_such_format(name, FileFormat::all()))
}

/// Finds a wire format by its name.
fn parse_wire_format(name: &str) -> Result<&'static Format, String> {
    let wire = || formats::ALL.iter().map(|format| FileFormat::Input((*format).into()));
    formats::named(name).ok_or_else(|| no_such_format(name, wire()))
}

fn no_such_format(name: &str, all: impl Iterator<Item = FileFormat>) -> String {
    let all: Vec<FileFormat> = all.collect();
    let ids = || all.iter().map(|format| format.id());
    // A hint if the name is that of a target instead.
    let format = targets::named(name).and_then(|target| target.format.as_deref());
    let names = ids().chain(all.iter().flat_map(|format| format.aliases().iter().copied()));
    let unknown = match format {
        Some(meant) => format!("there is no format `{}`{}", bounded(name, 80), Suggestion::from(meant)),
        None if outputs::find(name).is_some() => format!("it is an output: use `--output-format {name}`"),
        None => unknown("format", name, names),
    };
    format!("{unknown}\n\nformats: {}", ids().collect::<Vec<_>>().join(", "))
}

fn format_parser() -> impl TypedValueParser<Value = FileFormat> {
    let values = || completions(FileFormat::all());
    WithCompletions { parser: parse_format as fn(&str) -> Result<FileFormat, String>, values }
}

fn wire_format_parser() -> impl TypedValueParser<Value = &'static Format> {
    let values = || completions(formats::ALL.iter().map(|format| FileFormat::Input((*format).into())));
    WithCompletions { parser: parse_wire_format as fn(&str) -> Result<&'static Format, String>, values }
}

fn completions(formats: impl Iterator<Item = FileFormat>) -> Vec<PossibleValue> {
    formats.map(|format| PossibleValue::new(format.id()).aliases(format.aliases())).collect()
}

fn outline_parser() -> impl TypedValueParser<Value = &'static show::outputs::Output> {
    PossibleValuesParser::new(
        show::outputs::ALL.iter().map(|output| PossibleValue::new(output.id).help(output.summary)),
    )
    .map(|id| show::outputs::find(&id).expect("only ids in the table are accepted"))
}

/// An output, and the file that it is written to; `None` is the standard output.
#[derive(Debug, Clone)]
pub(crate) struct OutputSpec {
    pub(crate) output: &'static Output,
    pub(crate) file: Option<PathBuf>,
}

/// Reads `ID` and `ID=FILE`, and lists the ids in the help.
#[derive(Debug, Clone, Copy)]
struct OutputSpecParser;

impl TypedValueParser for OutputSpecParser {
    type Value = OutputSpec;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<OutputSpec, clap::Error> {
        let text =
            value.to_str().ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))?;
        let (id, file) = match text.split_once('=') {
            Some((id, file)) => (id, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let ids = PossibleValuesParser::new(outputs::ALL.iter().map(|output| output.id));
        let id = ids.parse_ref(command, argument, OsStr::new(id))?;
        let output = outputs::find(&id).expect("only ids in the table are accepted");
        if file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
            let message = format!("`{}`: the file name after `=` is missing", bounded(text, 80));
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message).format(&mut command.clone()));
        }
        Ok(OutputSpec { output, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(outputs::ALL.iter().map(|output| PossibleValue::new(output.id).help(output.summary))))
    }
}

/// Finds a rule by its id.
pub(crate) fn parse_rule(id: &str) -> Result<&'static Rule, String> {
    rules::find(id).ok_or_else(|| {
        let known = rules::ALL.iter().map(|rule| rule.id.as_str());
        format!("{}\n\n`toolcheck rules` lists all rules", unknown("rule", id, known))
    })
}

fn rule_parser() -> impl TypedValueParser<Value = &'static Rule> {
    WithCompletions { parser: parse_rule as fn(&str) -> Result<&'static Rule, String>, values: rule_values }
}

fn subject_parser() -> impl TypedValueParser<Value = String> {
    WithCompletions { parser: StringValueParser::new(), values: subject_values }
}

fn subject_values() -> Vec<PossibleValue> {
    let rules = rule_values().into_iter();
    #[cfg(feature = "serve")]
    let rules = rules.chain(
        scenarios::all().iter().map(|scenario| PossibleValue::new(&*scenario.id).help(&*scenario.title)),
    );
    rules.collect()
}

fn target_parser() -> impl TypedValueParser<Value = String> {
    let values =
        || targets::all().map(|target| PossibleValue::new(&*target.id).help(&*target.name)).collect();
    WithCompletions { parser: StringValueParser::new(), values }
}

fn rule_values() -> Vec<PossibleValue> {
    rules::ALL.iter().map(|rule| PossibleValue::new(rule.id.as_str()).help(rule.summary())).collect()
}

/// Parses like `parser`, and lists values for shell completions. Other values may be valid too.
#[derive(Clone)]
struct WithCompletions<P> {
    parser: P,
    values: fn() -> Vec<PossibleValue>,
}

impl<P: TypedValueParser> TypedValueParser for WithCompletions<P> {
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

/// The values that an option may have: what each is, with its name and its help.
type Choices<T> = &'static [(&'static str, T, &'static str)];

fn choice_parser<T: Clone + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let values = choices.iter().map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).try_map(|given| {
        let found = choices.iter().find(|(name, ..)| *name == given);
        found.map(|(_, value, _)| value.clone()).ok_or("not one of the values")
    })
}

fn level_parser() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["error", "warning"]).try_map(|name| name.parse::<Level>())
}
