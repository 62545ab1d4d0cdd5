use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use toolcheck_core::target::{self, Target};
use toolcheck_core::tools::Definition;
use toolcheck_json::Document;
use toolcheck_lint::config::Selection;
use toolcheck_lint::{Config, FileReport, Options, Report, lint};

use crate::args::LintArgs;
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
        if args.output_format.needs_source && !file.findings.is_empty() {
            file.source = bytes;
        }
        report.files.push(file);
    }
    (args.output_format.render)(&report, &screen::style(args.color), out)?;
    // What was found comes first, so that in a terminal the trouble stands at the end.
    out.flush()?;
    if skipped > 0 {
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
