//! `toolcheck lint`: the report of the files.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use toolcheck_core::recognise::recognise;
use toolcheck_core::text::{Counted, bounded, line, reason, shown};
use toolcheck_core::{Level, targets};
use toolcheck_lint::report::Refusal;
use toolcheck_lint::{FileReport, FixOptions, Report, SkippedFile};
use toolcheck_project::{
    Error, Input, LintOptions, LintRun, Project, ProjectOptions, StaleEntries, UnusedAllow, about_tables,
    printable,
};
use toolcheck_report::Style;

use super::{fix, no_such_conversation, settings};
use crate::args::{self, LintArgs, OutputArgs, OutputSpec};
use crate::progress::Progress;
use crate::{Status, screen};

pub(crate) fn run(args: &LintArgs, out: &mut dyn Write) -> Result<Status> {
    if let Some(threads) = args.threads {
        // The global pool can be set only once, before it is first used.
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    let fixed = if args.fix { fix_first(args)? } else { Status::Clean };
    let mut project = Project::open(options(args)?)?;
    args.files.note_unused_name();
    check_outputs(&args.output.output_format, &mut project)?;
    if args.show_settings || args.files.show_files {
        return show_inputs(args, &mut project, out);
    }
    let run = lint(args, &mut project)?;
    let mut errors: Vec<String> = run.errors.iter().map(Error::to_string).collect();
    errors.extend(nothing_checked(args, &run));
    let no_such = no_such_conversation(args.reading.conversation(), &run.report);
    // "0 errors" for files that could not be read, or without the conversation, would look like success.
    let is_nothing_read = no_such.is_some()
        || run.report.files.is_empty() && !(errors.is_empty() && run.settings_errors.is_empty());
    errors.extend(no_such);
    errors.extend(write_outputs(args, &run.report, is_nothing_read, out)?);
    // The report comes first, so that in a terminal the errors are at the end.
    out.flush()?;
    if !args.output.quiet {
        note_skipped(&run, args.output.verbose);
        if args.output.verbose {
            let excluded = project.excluded().iter();
            excluded.for_each(|(path, by)| {
                screen::message("skipped", &format!("{}: {by}", toolcheck_project::relative(path)))
            });
        }
        note_key(&args.output, &run.report);
        note_target(args, &run.report);
        note_recordings(&run.report, args.output.verbose);
        if args.output.verbose {
            settings::note_configs(&run.configs);
        }
    }
    // What reads lines of JSON can't see that some are missing.
    if !args.output.quiet || args.output.output_format.iter().any(|spec| spec.output.id == "jsonl") {
        note_hidden(&run.report, args.output.max_findings);
    }
    screen::messages("warning", &project.foreign_configs());
    warn_unused(&run.unused_allows);
    if let Some(change) = project.save_baseline()?.filter(|_| !args.output.quiet) {
        screen::message("note", &change.to_string());
    }
    report_stale(&run.stale_baseline);
    errors.extend(run.settings_errors.iter().map(Error::to_string));
    screen::messages("error", &errors);
    let is_fixed = !matches!(fixed, Status::Trouble);
    Ok(status(args, &run, errors.is_empty() && is_fixed))
}

/// Fixes the files before they are linted. What was done is no part of the report.
fn fix_first(args: &LintArgs) -> Result<Status> {
    if args.files.paths.iter().any(|path| path.as_os_str() == "-") {
        bail!("--fix writes files: fix standard input with `toolcheck fix -`");
    }
    let how = FixOptions::new().unsafe_fixes(args.unsafe_fixes).accepted(args.rules.selection.names_rules());
    let options = ProjectOptions { baseline: None, ..options(args)? };
    fix::run_on(options, &how, (fix::Doing::Write, false), args.rules.fail_on, &mut std::io::stderr().lock())
}

fn options(args: &LintArgs) -> Result<ProjectOptions> {
    let outputs = args.output.output_format.iter();
    Ok(ProjectOptions {
        files: args.files.options(),
        config: args.config.options(),
        overrides: args::overrides(&args.reading, &args.rules.selection)?,
        baseline: args.baseline.options(),
        // Reports of the program are not transcripts.
        own_files: outputs.filter_map(|spec| spec.file.clone()).collect(),
    })
}

/// Prints the settings or the names of the files, and lints none.
fn show_inputs(args: &LintArgs, project: &mut Project, out: &mut dyn Write) -> Result<Status> {
    if args.show_settings {
        settings::show(project, out)?;
    } else {
        for input in project.inputs() {
            writeln!(out, "{}", line(&input.name))?;
        }
    }
    out.flush()?;
    let errors: Vec<String> =
        project.errors().iter().chain(&project.settings_errors()).map(Error::to_string).collect();
    screen::messages("warning", &project.foreign_configs());
    screen::messages("error", &errors);
    Ok(if errors.is_empty() { Status::Clean } else { Status::Trouble })
}

fn lint(args: &LintArgs, project: &mut Project) -> Result<LintRun> {
    let summary = args.output.summary()?;
    if summary.is_some() && args.baseline.baseline.is_some() {
        bail!("a baseline hides single findings, and a summary only counts them: use one of the two");
    }
    let options = LintOptions {
        keep_source: args.output.output_format.iter().any(|spec| spec.output.needs_source),
        mark_fixes: args.output.output_format.iter().any(|spec| spec.output.shows_fixes),
        max_findings: args.output.max_findings(),
        summary,
    };
    let progress = Progress::new(&args.output, project.inputs().iter().map(Input::size).sum());
    let run = project.lint(options, &|bytes| progress.advance(bytes));
    progress.end();
    Ok(run)
}

/// The error if a search found no transcripts. A file that is named on the command line has a finding instead.
fn nothing_checked(args: &LintArgs, run: &LintRun) -> Option<String> {
    let report = &run.report;
    let is_search = !args.files.skip_unrecognised;
    if !is_search || !report.files.is_empty() || report.skipped.is_empty() || !run.errors.is_empty() {
        return None;
    }
    let hint = if args.output.verbose { "" } else { " (--verbose lists them)" };
    let files = Counted(report.skipped.len(), "file");
    Some(format!("nothing was checked: no transcript in {files}{hint}"))
}

/// Says which files are not checked against the target that the user has named, because they are not requests.
fn note_target(args: &LintArgs, report: &Report) {
    let readings = report.files.iter().flat_map(|file| &file.readings);
    let formats: BTreeSet<&str> =
        readings.filter(|reading| reading.target.is_none()).map(|reading| reading.format).collect();
    if args.reading.target.is_some() && !formats.is_empty() {
        let formats = formats.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!("--target is for requests, and not used for what is read as {formats}");
        screen::message("note", &message);
    }
    if let Some(name) = &args.reading.target {
        note_short_name(name, report);
    }
}

/// Says where the name of a provider that has several APIs is short for another one than that of what was read.
fn note_short_name(name: &str, report: &Report) {
    let Some(meant) = targets::named(name).filter(|target| *target.id != *name) else { return };
    let is_other = |format: &&str| {
        let rest = format.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
        rest && **format != *meant.id && targets::find(format).is_some()
    };
    let mut formats = report.files.iter().flat_map(|file| &file.readings).map(|reading| reading.format);
    if let Some(other) = formats.find(is_other) {
        let message = format!("`--target {name}` is {}; --target {other} is the API of {other}", meant.id);
        screen::message("note", &message);
    }
}

fn note_hidden(report: &Report, limit: usize) {
    // A summary says how many there are.
    let listed = report.files.iter().filter(|file| file.summary.is_none());
    let hidden: usize = listed.map(FileReport::left_out).sum();
    if hidden > 0 {
        let findings = Counted(hidden, "more finding");
        let message = format!("{findings} not shown: at most {limit} are printed per file (--max-findings)");
        screen::message("note", &message);
    }
}

/// Says that the key of a summary is in no row that has a finding.
fn note_key(args: &OutputArgs, report: &Report) {
    let Some(key) = &args.key else { return };
    let rows = report.files.iter().flat_map(|file| {
        let found =
            file.summary.iter().flat_map(|summary| summary.rules.values()).filter(|rule| rule.rows > 0);
        found.flat_map(|rule| &rule.samples).map(|sample| (&*file.path, &*sample.row)).collect::<Vec<_>>()
    });
    let is_line = |(path, row): (&str, &str)| {
        let line = row.strip_prefix(path).and_then(|rest| rest.strip_prefix(':'));
        line.is_some_and(|line| line.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut rows = rows.peekable();
    if rows.peek().is_some() && rows.all(is_line) {
        let key = bounded(key, 80);
        screen::message(
            "note",
            &format!("no example has `{key}` (--key), so they are named by file and line"),
        );
    }
}

/// Prints what recordings show that the rules don't know, and what is not read of them, or only how much.
fn note_recordings(report: &Report, is_verbose: bool) {
    let refused: usize = report.files.iter().map(|file| file.refusals.len()).sum();
    if !is_verbose {
        if refused > 0 {
            let requests = Counted(refused, "request");
            let message = format!(
                "the API refused {requests} for a reason that no rule reports (--verbose lists them)"
            );
            screen::message("note", &message);
        }
        return;
    }
    for file in &report.files {
        for Refusal { spot, status, message, .. } in &file.refusals {
            let place = format!("{}:{}:{}", shown(&file.path), spot.start.line, spot.start.column);
            let answer = message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
            let name = shown(&spot.name());
            let known = message.as_deref().map(recognise).unwrap_or_default();
            let why = match known.first().map(|known| known.refusal.rule) {
                Some(rule) => format!("in words of `{rule}`, of which nothing is found"),
                None => "for a reason that no rule reports".to_owned(),
            };
            let message = format!("{place} ({name}): the API refused this {why}: {status}{answer}");
            screen::message("note", &message);
        }
    }
}

fn warn_unused(unused: &[UnusedAllow]) {
    for entry in unused {
        screen::message("warning", &entry.to_string());
    }
}

fn report_stale(stale: &[StaleEntries]) {
    for entries in stale {
        screen::message("error", &entries.to_string());
    }
    if !stale.is_empty() {
        screen::message("note", "`--prune-baseline` removes stale entries from the baseline");
    }
}

fn status(args: &LintArgs, run: &LintRun, is_complete: bool) -> Status {
    let fail_on = args.rules.fail_on;
    let has_findings = [Level::Error, Level::Warning]
        .into_iter()
        .any(|level| level >= fail_on && run.report.count(level) > 0);
    let is_failing = has_findings
        || !run.stale_baseline.is_empty()
        || !run.unused_allows.is_empty() && fail_on <= Level::Warning;
    match is_complete {
        false => Status::Trouble,
        true if is_failing && !args.rules.exit_zero => Status::Findings,
        true => Status::Clean,
    }
}

/// Writes all outputs, and returns the errors of those in files.
fn write_outputs(
    lint_args: &LintArgs,
    report: &Report,
    is_nothing_read: bool,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let LintArgs { output: args, reading, rules, config, .. } = lint_args;
    let style = screen::style(args.color)
        // There is one report in a run.
        .fix_options(args::again(reading, &rules.selection, config).leak())
        .is_quiet(args.quiet || is_nothing_read)
        .with_statistics(args.statistics)
        .has_excerpts(args.has_excerpts());
    let mut errors = Vec::new();
    // Files are written first: the reader of the standard output may close it early.
    let file_style = style.color(false).has_links(false).width(Style::new().width);
    for spec in &args.output_format {
        let Some(path) = &spec.file else { continue };
        let write = |out: &mut dyn Write| (spec.output.write)(report, &file_style, out);
        if let Err(error) = toolcheck_files::write(path, write) {
            errors.push(format!("cannot write {}: {}", printable(path), reason(&error)));
        }
    }
    if let Some(spec) = args.output_format.iter().find(|spec| spec.file.is_none()) {
        (spec.output.write)(report, &style, out)?;
    }
    Ok(errors)
}

/// Checks that no two outputs go to the same place, and that none overwrites a file that the run reads.
fn check_outputs(outputs: &[OutputSpec], project: &mut Project) -> Result<()> {
    if let [first, second, ..] = outputs.iter().filter(|spec| spec.file.is_none()).collect::<Vec<_>>()[..] {
        let (first, second) = (first.output.id, second.output.id);
        bail!(
            "`{first}` and `{second}` can't both go to standard output\n\nwrite one to a file: --output-format {first},{second}=FILE"
        );
    }
    let files: Vec<&Path> = outputs.iter().filter_map(|spec| spec.file.as_deref()).collect();
    Ok(project.check_outputs(&files)?)
}

/// Prints which files were skipped, or how many.
fn note_skipped(run: &LintRun, is_verbose: bool) {
    let skipped = &run.report.skipped;
    if skipped.is_empty() {
        return;
    }
    if is_verbose {
        for SkippedFile { path, reason, .. } in skipped {
            screen::message("skipped", &format!("{}: {}", shown(path), shown(reason)));
        }
        return;
    }
    let not_json = match run.skipped_not_json {
        0 => String::new(),
        1 => " (1 is not valid JSON)".to_owned(),
        several => format!(" ({several} are not valid JSON)"),
    };
    let tables = run.unread_tables;
    if tables > 0 {
        screen::message("note", &format!("{} (--verbose lists them)", about_tables(tables)));
    }
    if skipped.len() > tables {
        let files = Counted(skipped.len() - tables, "file");
        screen::message("note", &format!("skipped {files} without a transcript{not_json}"));
    }
}
