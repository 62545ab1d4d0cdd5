use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use toolcheck_core::target::{self, Target};
use toolcheck_core::tools::Definition;
use toolcheck_json::Document;
use toolcheck_lint::config::Selection;
use toolcheck_lint::render::{Output, Style};
use toolcheck_lint::{Config, FileReport, Options, Report, lint};

use crate::args::{LintArgs, Wanted};
use crate::config::Configs;
use crate::inputs::{self, Input};
use crate::{Status, screen};
use toolcheck_lint::suggest::did_you_mean;

pub(crate) fn run(args: &LintArgs, out: &mut dyn Write) -> Result<Status> {
    let own_target;
    let target = match &args.target {
        None => None,
        Some(name) => {
            own_target = find_target(name)?;
            Some(own_target.as_target())
        }
    };
    let tools = args.tools.as_deref().map(read_tools).transpose()?.unwrap_or_default();
    let mut configs = Configs::new(args.config.as_deref(), args.isolated)?;
    let (inputs, mut troubles) = inputs::collect(&args.paths);
    check_outputs(&args.output_format, &inputs)?;
    let needs_source = args.output_format.iter().any(|wanted| wanted.output.needs_source);
    let mut report = Report::default();
    let mut skipped = 0;
    for input in &inputs {
        let name = match input {
            Input::Stdin => args.stdin_filename.clone(),
            Input::Named(path) | Input::Found(path) => path.display().to_string(),
        };
        let Some(config) = configs.of(Path::new(&name)) else { continue };
        let bytes = match inputs::read(input) {
            Ok(bytes) => bytes,
            Err(error) => {
                troubles.push(format!("{name}: {error}"));
                continue;
            }
        };
        let options = Options {
            format: args.format,
            target,
            kind: args.kind,
            tools: &tools,
            settings: &config.settings,
            rules: selection(args, &config).rules(),
        };
        let mut file = lint(&name, &bytes, &options);
        if matches!(input, Input::Found(_)) && is_something_else(&file) {
            skipped += 1;
            continue;
        }
        if needs_source && !file.findings.is_empty() {
            file.source = bytes;
        }
        report.files.push(file);
    }
    let style = Style { is_quiet: args.quiet, with_statistics: args.statistics, ..screen::style(args.color) };
    // The files are written first: who reads the standard output may close it before its end.
    let file_style = Style { color: false, width: Style::default().width, ..style };
    for wanted in &args.output_format {
        let Some(path) = &wanted.file else { continue };
        if let Err(error) = write_file(path, wanted.output, &report, &file_style) {
            troubles.push(format!("cannot write {}: {error}", path.display()));
        }
    }
    if let Some(wanted) = args.output_format.iter().find(|wanted| wanted.file.is_none()) {
        (wanted.output.render)(&report, &style, out)?;
    }
    // What was found comes first, so that in a terminal the trouble stands at the end.
    out.flush()?;
    if skipped > 0 && !args.quiet {
        eprintln!("note: {skipped} JSON files of the directories hold no transcript and were skipped");
    }
    troubles.append(&mut configs.troubles);
    for trouble in &troubles {
        eprintln!("error: {trouble}");
    }
    let failing =
        report.files.iter().flat_map(|file| &file.findings).any(|found| found.level >= args.fail_on);
    Ok(if !troubles.is_empty() {
        Status::Trouble
    } else if failing && !args.exit_zero {
        Status::Findings
    } else {
        Status::Clean
    })
}

/// Whether each output has a place of its own.
fn check_outputs(outputs: &[Wanted], inputs: &[Input]) -> Result<()> {
    if let [first, second, ..] = outputs.iter().filter(|wanted| wanted.file.is_none()).collect::<Vec<_>>()[..]
    {
        let (first, second) = (first.output.id, second.output.id);
        return Err(anyhow!(
            "both `{first}` and `{second}` would go to the standard output\n\nwrite one to a file: --output-format {first},{second}=FILE"
        ));
    }
    let (mut taken, mut checked) = (HashSet::new(), HashSet::new());
    if outputs.iter().any(|wanted| wanted.file.is_some()) {
        checked.extend(inputs.iter().filter_map(|input| match input {
            Input::Stdin => None,
            Input::Named(path) | Input::Found(path) => Some(real(path)),
        }));
    }
    for path in outputs.iter().filter_map(|wanted| wanted.file.as_deref()) {
        let name = path.display();
        let real = real(path);
        if checked.contains(&real) {
            return Err(anyhow!("{name} is checked, so no output may be written to it"));
        }
        if !taken.insert(real) {
            return Err(anyhow!("two outputs would be written to {name}"));
        }
    }
    Ok(())
}

/// The file's one name. One that is not there yet has only the name that it was given.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn write_file(path: &Path, output: &Output, report: &Report, style: &Style) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    (output.render)(report, style, &mut file)?;
    file.flush()
}

/// Which rules run: what the command line selects takes the place of what the configuration says.
fn selection(args: &LintArgs, config: &Config) -> Selection {
    let mut selection = if args.select.is_empty() { config.selection.clone() } else { Selection::default() };
    selection.select.extend(&args.select);
    selection.extend_select.extend(&args.extend_select);
    selection.ignore.retain(|ignored| args.extend_select.iter().all(|rule| rule.id != ignored.id));
    selection.ignore.extend(&args.ignore);
    selection
}

/// Whether a file of a directory is JSON of another kind. Broken text may be a transcript, so it is none.
fn is_something_else(file: &FileReport) -> bool {
    file.transcripts == 0 && file.findings.iter().all(|finding| finding.rule == "unrecognised-format")
}

/// The tools that a file declares.
fn read_tools(path: &Path) -> Result<Vec<Definition>> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the tools {name}"))?;
    let document = Document::read(&bytes);
    if let Some(fault) = document.faults().first() {
        let at = toolcheck_json::locate(&bytes, &[fault.span.start as usize]);
        let (line, column) = at.first().map_or((1, 1), |at| (at.line, at.column));
        return Err(anyhow!("{name}:{line}:{column}: {}", fault.kind.describe()));
    }
    let tools = document.root().and_then(toolcheck_core::tools::read);
    tools.ok_or_else(|| {
        anyhow!("{name} declares no tools\n\nIt must hold a list of tools, a request, or an MCP server's answer to tools/list")
    })
}

/// A target that is compiled in, or one that was read from a file.
enum Found {
    Builtin(&'static Target),
    Own(Box<Target>),
}

impl Found {
    fn as_target(&self) -> &Target {
        match self {
            Self::Builtin(target) => target,
            Self::Own(target) => target,
        }
    }
}

fn find_target(name: &str) -> Result<Found> {
    if let Some(target) = target::find(name) {
        return Ok(Found::Builtin(target));
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") || path.is_file() {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the target {name}"))?;
        let target = Target::parse(&text).map_err(|error| anyhow!("{name} is no target:\n{error}"))?;
        return Ok(Found::Own(Box::new(target)));
    }
    let known = target::ids().collect::<Vec<_>>().join(", ");
    let similar = did_you_mean(name, target::ids());
    Err(anyhow!("there is no target `{name}`{similar}\n\ntargets: {known}, or a TOML file"))
}
