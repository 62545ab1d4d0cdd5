//! `toolcheck fix`: fixes files in place, or the standard input.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value as Json, json};
use toolcheck_core::text::{Counted, line, reason, shown};
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::fix::{Action, Applied, Cost, Skipped};
use toolcheck_lint::{FileReport, FixOptions, Fixed, fix, fix_opened};
use toolcheck_project::{FileOptions, Input, Limits, LintOptions, Project, ProjectOptions, Source};
use toolcheck_report::fixed::plan_v1;
use toolcheck_report::unified;

use crate::args::{self, FixArgs};
use crate::{Status, screen};

/// The endings of files that are compressed, which are not written.
const COMPRESSED: [&str; 2] = [".gz", ".zst"];

/// What is done with what was planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// The files are written.
    Write,
    /// The plan is printed.
    Plan,
    /// What would change is printed.
    Diff,
}

pub(crate) fn run(args: &FixArgs, out: &mut dyn Write) -> Result<Status> {
    let options = ProjectOptions {
        files: FileOptions { paths: args.paths.clone(), ..FileOptions::default() },
        config: args.config.options(),
        overrides: args::overrides(&args.reading, &args.selection)?,
        ..ProjectOptions::default()
    };
    let doing = match (args.fixes.plan, args.fixes.diff) {
        (true, _) => Doing::Plan,
        (_, true) => Doing::Diff,
        _ => Doing::Write,
    };
    run_on(options, &args.options(), (doing, args.fixes.show_values), args.fail_on, out)
}

/// Fixes the files of a project.
pub(crate) fn run_on(
    options: ProjectOptions,
    how: &FixOptions,
    (doing, shows_values): (Doing, bool),
    fail_on: Level,
    out: &mut dyn Write,
) -> Result<Status> {
    let mut project = Project::open(options)?;
    let mut run = Repairs {
        doing,
        shows_values,
        fail_on,
        status: Status::Clean,
        plans: Vec::new(),
        unsafe_left: 0,
        is_silent: true,
    };
    let clean = if doing == Doing::Plan { HashSet::new() } else { clean_and_large(&mut project) };
    for input in project.inputs().to_vec() {
        if clean.contains(&input.name) {
            continue;
        }
        if let Source::File(path) = &input.source {
            if input.is_linked {
                let name = shown(&input.name);
                let why =
                    "not changed, because a glob found it through a link: name it to change what it links to";
                screen::message("note", &format!("{name}: {why}"));
                continue;
            }
            if let Some(error) = not_a_file(path) {
                let name = shown(&input.name);
                run.trouble(&format!(
                    "cannot fix {name}: {error}: `toolcheck fix -` reads the standard input"
                ));
                continue;
            }
        }
        let Some(settings) = project.settings(&input) else { continue };
        let bytes = match input.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                run.trouble(&error.to_string());
                continue;
            }
        };
        let opened = toolcheck_project::open(&bytes, settings.container(), Limits::default());
        let fixed = match opened {
            Some(opened) => {
                let note = format!("{}: a {} is not changed", shown(&input.name), opened.name);
                screen::message("note", &note);
                fix_opened(&input.name, &bytes, &opened, &settings.options(), how)
            }
            None => fix(&input.name, &bytes, &settings.options(), how),
        };
        if !input.is_named && fixed.before.transcripts == 0 {
            continue;
        }
        run.finish(&input, &bytes, &fixed, out)?;
    }
    if doing == Doing::Plan {
        let plan = json!({"version": 1, "files": run.plans});
        writeln!(out, "{plan:#}")?;
    }
    out.flush()?;
    run.end(project.inputs().len());
    let errors: Vec<String> =
        project.errors().iter().chain(&project.settings_errors()).map(ToString::to_string).collect();
    screen::messages("warning", &project.foreign_configs());
    screen::messages("error", &errors);
    Ok(if errors.is_empty() { run.status } else { Status::Trouble })
}

/// Why a path is nothing that can be written in place: a pipe, which would be waited for, or a device.
fn not_a_file(path: &Path) -> Option<String> {
    let error = toolcheck_files::check(path).err()?;
    matches!(error.kind(), ErrorKind::InvalidInput).then(|| reason(&error))
}

/// Files of at least as many bytes in all are linted first, which takes several threads.
const LARGE: u64 = 16 << 20;

/// The names of the files without findings, if there is so much to read that it is worth knowing.
fn clean_and_large(project: &mut Project) -> HashSet<String> {
    let inputs = project.inputs();
    let is_large = inputs.iter().map(Input::size).sum::<u64>() >= LARGE;
    let is_no_file = |input: &Input| match &input.source {
        Source::Stdin => true,
        Source::File(path) => not_a_file(path).is_some(),
    };
    if !is_large || inputs.iter().any(is_no_file) {
        return HashSet::new();
    }
    let run = project
        .lint(LintOptions { keep_source: false, mark_fixes: false, max_findings: 1, summary: None }, &|_| {});
    let is_clean = |file: &FileReport| {
        let hidden = file.allowed + file.in_baseline + file.left_out();
        file.transcripts > 0 && file.findings.is_empty() && hidden == 0
    };
    run.report.files.iter().filter(|file| is_clean(file)).map(|file| file.path.clone()).collect()
}

struct Repairs {
    doing: Doing,
    shows_values: bool,
    fail_on: Level,
    status: Status,
    plans: Vec<Json>,
    unsafe_left: usize,
    /// Whether nothing was said of any file.
    is_silent: bool,
}

impl Repairs {
    fn trouble(&mut self, message: &str) {
        screen::message("error", message);
        self.status = Status::Trouble;
    }

    /// Says what holds for all files.
    fn end(&self, files: usize) {
        if self.unsafe_left > 0 {
            let more = Counted(self.unsafe_left, "more finding");
            let more = format!("{more} can be fixed with --unsafe-fixes, which lose or guess something");
            screen::message("note", &more);
        } else if self.is_silent && self.doing == Doing::Write && self.status == Status::Clean {
            // Silence could also mean that nothing was looked at.
            screen::message("note", &format!("nothing to fix in {}", Counted(files, "file")));
        }
    }

    /// Prints what would change, without what was said unless it is asked for.
    fn write_diff(&self, name: &str, before: &[u8], after: &[u8], out: &mut dyn Write) -> Result<()> {
        let write = if self.shows_values { unified::write } else { unified::write_without_values };
        Ok(write(name, before, after, out)?)
    }

    /// Writes what was fixed, or shows it.
    fn finish(&mut self, input: &Input, bytes: &[u8], fixed: &Fixed<'_>, out: &mut dyn Write) -> Result<()> {
        self.unsafe_left += fixed.skipped.iter().filter(|left| left.cost.is_some()).count();
        let shows = self.doing != Doing::Write;
        if self.doing == Doing::Plan {
            self.plans.push(plan_v1(&input.name, bytes, fixed));
        } else if self.doing == Doing::Diff {
            self.write_diff(&input.name, bytes, &fixed.bytes, out)?;
        }
        match &input.source {
            Source::Stdin if !shows => {
                self.is_silent = false;
                out.write_all(&fixed.bytes)?;
                out.flush()?;
                screen::message("note", &summary(fixed));
                costs(fixed).for_each(|cost| screen::message("note", &cost));
            }
            Source::File(path) if !shows && !fixed.is_unchanged() => {
                let name = shown(&input.name);
                if COMPRESSED.iter().any(|ending| input.name.ends_with(ending)) {
                    self.trouble(&format!(
                        "{name}: a compressed file is not changed: pipe it through `toolcheck fix -`"
                    ));
                    return Ok(());
                }
                if let Err(error) = toolcheck_files::replace(path, Some(bytes), &fixed.bytes) {
                    self.trouble(&format!("cannot write {name}: {}", reason(&error)));
                    return Ok(());
                }
                self.is_silent = false;
                writeln!(out, "{name}: {}", summary(fixed))?;
                for cost in costs(fixed) {
                    writeln!(out, "  {cost}")?;
                }
            }
            // A diff is a patch and nothing else.
            _ if self.doing == Doing::Diff => {
                costs(fixed)
                    .for_each(|cost| screen::message("note", &format!("{}:{cost}", shown(&input.name))));
            }
            _ => {}
        }
        let is_failing = is_failing(fixed.report(), self.fail_on);
        if is_failing && self.doing != Doing::Plan {
            for left in left_over(fixed, self.fail_on) {
                screen::message("left", &format!("{}:{left}", shown(&input.name)));
            }
        }
        if (is_failing || shows && !fixed.is_unchanged()) && self.status == Status::Clean {
            self.status = Status::Findings;
        }
        Ok(())
    }
}

fn is_failing(report: &FileReport, fail_on: Level) -> bool {
    [Level::Error, Level::Warning].into_iter().any(|level| level >= fail_on && report.count(level) > 0)
}

/// What is left, with why: once for all of a rule with the same reason.
fn left_over(fixed: &Fixed<'_>, fail_on: Level) -> Vec<String> {
    let mut groups: Vec<(&Skipped, usize)> = Vec::new();
    let mut known: HashMap<(RuleId, &str), usize> = HashMap::new();
    for left in fixed.skipped.iter().filter(|left| left.level >= fail_on) {
        let number = *known.entry((left.rule, &left.reason)).or_insert(groups.len());
        match groups.get_mut(number) {
            Some((_, count)) => *count += 1,
            None => groups.push((left, 1)),
        }
    }
    let line_of = |(left, count): (&Skipped, usize)| {
        let Skipped { rule, spot, reason, .. } = left;
        let more = if count > 1 { format!(", {count} times") } else { String::new() };
        format!("{}:{}: {rule}{more}: {}", spot.start.line, spot.start.column, line(reason))
    };
    groups.into_iter().map(line_of).collect()
}

/// What was done in one line: "2 results inserted, 1 moved; nothing lost".
fn summary(fixed: &Fixed<'_>) -> String {
    if fixed.applied.is_empty() {
        return "nothing to fix".to_owned();
    }
    let mut counts: BTreeMap<Action, usize> = BTreeMap::new();
    for done in &fixed.applied {
        *counts.entry(done.action).or_default() += 1;
    }
    let done: Vec<String> =
        counts.iter().map(|(action, count)| format!("{count} {}", action.as_str())).collect();
    let costs = || fixed.applied.iter().filter_map(|done| done.cost.as_ref());
    let lost = match costs().filter(|cost| cost.lost().is_some()).count() {
        0 => "nothing lost".to_owned(),
        count => format!("{count} with a loss"),
    };
    let guessed = match costs().filter(|cost| cost.guess().is_some()).count() {
        0 => String::new(),
        count => format!(", {count} with a guess"),
    };
    format!("{} fixed ({}); {lost}{guessed}", Counted(fixed.applied.len(), "finding"), done.join(", "))
}

/// What unsafe fixes have lost or guessed, each with its place.
fn costs(fixed: &Fixed<'_>) -> impl Iterator<Item = String> {
    fixed.applied.iter().filter_map(|Applied { rule, spot, cost, .. }| {
        let text = match cost.as_ref()? {
            Cost::Loss(lost) => format!("lost: {lost}"),
            Cost::Guess(guess) => guess.clone(),
        };
        Some(format!("{}:{}: {rule}: {}", spot.start.line, spot.start.column, line(&text)))
    })
}
