use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use toolcheck_core::Level;
use toolcheck_core::text::shown;
use toolcheck_lint::{FileReport, Finding, Report, SkippedFile};
use toolcheck_report::Style;
use toolcheck_report::outputs::Output;

use super::{counted, settings};
use crate::allowed::Allowed;
use crate::args::{LintArgs, Wanted};
use crate::baseline::RunBaseline;
use crate::config::{Configs, real};
use crate::inputs::{self, Input, Source};
use crate::linting::{self, Linting};
use crate::progress::Progress;
use crate::settle::Settler;
use crate::{Status, screen};

pub(crate) fn run(args: &LintArgs, out: &mut dyn Write) -> Result<Status> {
    if let Some(threads) = args.threads {
        // It is asked for once, before anything runs beside anything else.
        rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global()?;
    }
    let configs = Arc::new(Configs::new(&args.config)?);
    let mut settler = Settler::new(&args.reading, &args.rules.selection, &configs)?;
    let mut baseline = RunBaseline::new(&args.baseline)?;
    let outputs = &args.output.output_format;
    // What the program itself writes is no transcript.
    let own_files = outputs.iter().filter_map(|wanted| wanted.file.as_deref());
    let own_files = own_files.chain(args.baseline.baseline.as_deref()).map(real).collect();
    let collected = inputs::collect(&args.files, &configs, own_files)?;
    let (inputs, mut troubles) = (collected.inputs, collected.troubles);
    check_outputs(outputs, &inputs)?;
    if args.show_settings {
        settings::show(&mut settler, &inputs, out)?;
    } else if args.files.show_files {
        for input in &inputs {
            writeln!(out, "{}", input.name)?;
        }
    }
    let is_shown_only = args.show_settings || args.files.show_files;
    let needs_source = baseline.is_some() || outputs.iter().any(|wanted| wanted.output.needs_source);
    let mut allowed = Allowed::default();
    let mut report = Report::default();
    let mut broken = 0;
    let wanted = inputs.iter().filter(|_| !is_shown_only);
    let settled: Vec<_> = wanted.filter_map(|input| Some((input, settler.settle(input)?))).collect();
    let bytes = settled.iter().map(|(input, _)| linting::size(input)).sum();
    let progress = Progress::new(&args.output, bytes);
    for window in linting::windows(&settled) {
        let linting = Linting {
            needs_source,
            most_findings: args.output.most_findings(),
            most_unpacked: args.files.max_unpacked,
            baseline: baseline.as_ref(),
            progress: &progress,
        };
        for ((input, settled), outcome) in window.iter().zip(linting.lint_all(window)) {
            let is_broken = outcome.trouble.is_some();
            troubles.extend(outcome.trouble);
            let is_request = outcome.file.transcripts > 0 || outcome.file.is_meant_as_request;
            if !input.is_named && !is_request {
                if !is_broken {
                    let (reason, is_json) = why_skipped(&outcome.file);
                    broken += usize::from(!is_json);
                    report.skipped.push(SkippedFile { path: outcome.file.path, reason });
                }
                continue;
            }
            if is_broken && outcome.file.transcripts == 0 {
                continue;
            }
            allowed.learn(settled, &input.real, &outcome.used);
            if let Some(baseline) = &mut baseline {
                baseline.settle(&input.real, &settled.rules, outcome.entries);
            }
            report.files.push(outcome.file);
        }
    }
    progress.end();
    // Of files that are named each one says so itself; a search that finds nothing has to be told.
    let is_search = !args.files.skip_unrecognised;
    if is_search && report.files.is_empty() && !report.skipped.is_empty() && troubles.is_empty() {
        let hint = if args.output.verbose { "" } else { " (--verbose lists them)" };
        let files = counted(report.skipped.len(), "file");
        troubles.push(format!("nothing was checked: no transcript in {files}{hint}"));
    }
    if !is_shown_only {
        // Zero problems in nothing that could be read would pass for success.
        let is_nothing_read = report.files.is_empty()
            && !(troubles.is_empty() && settler.troubles.is_empty() && configs.troubles().is_empty());
        write_outputs(args, &report, is_nothing_read, &mut troubles, out)?;
    }
    // What was found comes first, so that in a terminal the trouble stands at the end.
    out.flush()?;
    if !args.output.quiet {
        tell_skipped(&report, broken, args.output.verbose);
    }
    let left_out: usize = report.files.iter().map(FileReport::left_out).sum();
    if left_out > 0 && !args.output.quiet {
        let most = args.output.max_findings;
        eprintln!(
            "note: {} not shown: at most {most} are printed per file (--max-findings)",
            counted(left_out, "more finding")
        );
    }
    let unused = allowed.unused(&collected.searched);
    for entry in &unused {
        eprintln!("warning: {entry}");
    }
    let mut stale = Vec::new();
    if let Some(baseline) = baseline.filter(|_| !is_shown_only) {
        let (note, entries) = baseline.finish()?;
        if let Some(note) = note.filter(|_| !args.output.quiet) {
            eprintln!("note: {note}");
        }
        stale = entries;
    }
    if !stale.is_empty() {
        for entry in &stale {
            eprintln!("error: {entry}");
        }
        eprintln!("note: --prune-baseline removes them from the baseline");
    }
    troubles.append(&mut settler.troubles);
    troubles.extend(configs.troubles());
    for trouble in &troubles {
        eprintln!("error: {trouble}");
    }
    let fail_on = args.rules.fail_on;
    let is_failing =
        [Level::Error, Level::Warning].into_iter().any(|level| level >= fail_on && report.count(level) > 0)
            || !stale.is_empty()
            || !unused.is_empty() && fail_on <= Level::Warning;
    Ok(if !troubles.is_empty() {
        Status::Trouble
    } else if is_failing && !args.rules.exit_zero {
        Status::Findings
    } else {
        Status::Clean
    })
}

/// Writes every output to where it goes.
fn write_outputs(
    args: &LintArgs,
    report: &Report,
    is_nothing_read: bool,
    troubles: &mut Vec<String>,
    out: &mut dyn Write,
) -> Result<()> {
    let args = &args.output;
    let style = Style {
        is_quiet: args.quiet || is_nothing_read,
        with_statistics: args.statistics,
        has_excerpts: args.has_excerpts(),
        ..screen::style(args.color)
    };
    // The files are written first: who reads the standard output may close it before its end.
    let file_style = Style { color: false, has_links: false, width: Style::default().width, ..style };
    for wanted in &args.output_format {
        let Some(path) = &wanted.file else { continue };
        if let Err(error) = write_file(path, wanted.output, report, &file_style) {
            troubles.push(format!("cannot write {}: {error}", path.display()));
        }
    }
    if let Some(wanted) = args.output_format.iter().find(|wanted| wanted.file.is_none()) {
        (wanted.output.write)(report, &style, out)?;
    }
    Ok(())
}

/// Whether each output has a place of its own.
fn check_outputs(outputs: &[Wanted], inputs: &[Input]) -> Result<()> {
    if let [first, second, ..] = outputs.iter().filter(|wanted| wanted.file.is_none()).collect::<Vec<_>>()[..]
    {
        let (first, second) = (first.output.id, second.output.id);
        return Err(anyhow!(
            "`{first}` and `{second}` can't both go to standard output\n\nwrite one to a file: --output-format {first},{second}=FILE"
        ));
    }
    let checked = inputs.iter().filter(|input| input.source != Source::Stdin).map(|input| &input.real);
    let checked: HashSet<_> =
        if outputs.iter().any(|wanted| wanted.file.is_some()) { checked.collect() } else { HashSet::new() };
    let mut taken = HashSet::new();
    for path in outputs.iter().filter_map(|wanted| wanted.file.as_deref()) {
        let name = path.display();
        let real = real(path);
        if checked.contains(&real) {
            return Err(anyhow!("{name} is an input, so no output can be written to it"));
        }
        if !taken.insert(real) {
            return Err(anyhow!("two outputs can't be written to the same file: {name}"));
        }
    }
    Ok(())
}

fn write_file(path: &Path, output: &Output, report: &Report, style: &Style) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    (output.write)(report, style, &mut file)?;
    file.flush()
}

/// Why a file that holds no transcript was skipped, and whether it is JSON at all.
fn why_skipped(file: &FileReport) -> (String, bool) {
    let told = |finding: &&Finding| finding.rule == UNRECOGNISED;
    match file.findings.iter().find(told).or(file.findings.first()) {
        Some(finding) if told(&finding) => (finding.message.to_string(), true),
        Some(finding) => (format!("not valid JSON: {}", finding.message), false),
        None => ("nothing in it was recognised".to_owned(), true),
    }
}

/// The rule that says of a file that it holds no transcript.
const UNRECOGNISED: &str = "unrecognised-format";

/// Tells which files were skipped, or how many.
fn tell_skipped(report: &Report, broken: usize, is_verbose: bool) {
    if report.skipped.is_empty() {
        return;
    }
    if is_verbose {
        for SkippedFile { path, reason } in &report.skipped {
            eprintln!("skipped: {}: {}", shown(path), shown(reason));
        }
        return;
    }
    let broken = match broken {
        0 => String::new(),
        1 => " (1 is not valid JSON)".to_owned(),
        several => format!(" ({several} are not valid JSON)"),
    };
    eprintln!("note: skipped {} without a transcript{broken}", counted(report.skipped.len(), "file"));
}
