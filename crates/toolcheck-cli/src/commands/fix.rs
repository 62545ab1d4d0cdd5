//! `toolcheck fix`: fixes files in place, or the standard input.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value as Json, json};
use toolcheck_config::allow::fix_others;
use toolcheck_core::text::{Counted, line, reason, shown};
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::finding::Spot;
use toolcheck_lint::fix::{Action, Applied, Cost, FixPlace, Skipped};
use toolcheck_lint::{FileReport, FixOptions, Fixed, fix_nothing, fix_opened};
use toolcheck_project::{FileOptions, Input, Limits, LintOptions, Project, ProjectOptions, Source};
use toolcheck_report::fixed::plan_v1;
use toolcheck_report::unified;

use crate::args::{self, FixArgs};
use crate::{Status, screen};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Write,
    Plan,
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

pub(crate) fn run_on(
    options: ProjectOptions,
    how: &FixOptions,
    (doing, shows_values): (Doing, bool),
    fail_on: Level,
    out: &mut dyn Write,
) -> Result<Status> {
    let mut project = Project::open(options)?;
    let mut run = Repairs {
        how,
        asked: asked(how),
        not_asked: 0,
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
        let name = shown(&input.name);
        if let Source::File(path) = &input.source
            && let Some(error) = not_a_file(path)
        {
            run.trouble(&format!("cannot fix {name}: {error}: `toolcheck fix -` reads standard input"));
            continue;
        }
        let Some(settings) = project.settings(&input) else { continue };
        let (bytes, why_unchanged) = match input.read_to_fix() {
            Ok(bytes) => bytes,
            Err(error) => {
                run.trouble(&error.to_string());
                continue;
            }
        };
        let opened = toolcheck_project::open(&bytes, settings.container(), Limits::default());
        let fixed = match (opened, why_unchanged) {
            (Some(opened), _) => {
                screen::message("note", &format!("{name}: the {} is not changed", opened.name));
                fix_opened(&input.name, &bytes, &opened, &settings.options(), how)
            }
            (None, Some(why)) => {
                let fixed = fix_nothing(&input.name, &bytes, &settings.options(), how, why);
                if !fixed.before.findings.is_empty() {
                    screen::message("note", &format!("{name}: {why}"));
                }
                fixed
            }
            (None, None) => {
                let allows = settings.config.config.allows.iter();
                let allows: Vec<_> = allows.filter(|allow| allow.is_for(&input.real)).cloned().collect();
                fix_others(&allows, (&input.name, &bytes), &settings.options(), how)
            }
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

/// What the user names to be fixed, in words.
struct Asked {
    words: String,
    rule: Option<RuleId>,
    place: Option<FixPlace>,
    is_found: bool,
}

/// The places, or else the rules, that are to be fixed alone.
fn asked(how: &FixOptions) -> Vec<Asked> {
    let rules: Vec<String> = how.only_rules().iter().map(|rule| format!("`{rule}`")).collect();
    let of_rules = if rules.is_empty() { String::new() } else { format!(" of {}", rules.join(" or ")) };
    let places = how.only_places().iter().map(|place| Asked {
        words: format!("no finding{of_rules} at {place}"),
        rule: None,
        place: Some(place.clone()),
        is_found: false,
    });
    let rules = how.only_rules().iter().map(|rule| Asked {
        words: format!("no finding of `{rule}`"),
        rule: Some(*rule),
        place: None,
        is_found: false,
    });
    if how.only_places().is_empty() { rules.collect() } else { places.collect() }
}

struct Repairs<'r> {
    how: &'r FixOptions,
    /// What is to be fixed alone; empty for all.
    asked: Vec<Asked>,
    /// How many other findings are left that make the exit status.
    not_asked: usize,
    doing: Doing,
    shows_values: bool,
    fail_on: Level,
    status: Status,
    plans: Vec<Json>,
    unsafe_left: usize,
    /// Whether nothing was said of any file.
    is_silent: bool,
}

impl Repairs<'_> {
    fn trouble(&mut self, message: &str) {
        screen::message("error", message);
        self.status = Status::Trouble;
    }

    /// Says what holds for all files.
    fn end(&self, files: usize) {
        let mut missing = self.asked.iter().filter(|asked| !asked.is_found).peekable();
        if missing.peek().is_some() {
            missing.for_each(|asked| screen::message("warning", &asked.words));
        } else if self.not_asked > 0 {
            let others = Counted(self.not_asked, "other finding");
            screen::message("note", &format!("{others} left: `toolcheck lint` shows what is left"));
        }
        if self.unsafe_left > 0 {
            let more = Counted(self.unsafe_left, "more finding");
            let more = format!("{more} can be fixed with --unsafe-fixes, which lose or guess something");
            screen::message("note", &more);
        } else if self.is_silent
            && self.asked.iter().all(|asked| asked.is_found)
            && self.doing == Doing::Write
            && self.status == Status::Clean
            && files > 0
        {
            // Silence could also mean that nothing was looked at.
            screen::message("note", &format!("nothing to fix in {}", Counted(files, "file")));
        }
    }

    /// Notes which of what was asked for is there, and how much else is left.
    fn compare(&mut self, fixed: &Fixed<'_>) {
        for asked in self.asked.iter_mut().filter(|asked| !asked.is_found) {
            asked.is_found = fixed.before.findings.iter().any(|finding| {
                asked.rule.is_none_or(|rule| rule == finding.rule)
                    && asked.place.as_ref().is_none_or(|place| place.has(&finding.spot))
                    && self.how.asks_for(finding.rule, &finding.spot)
            });
        }
        let is_bad = |level: Level| level >= self.fail_on;
        let all = fixed.report().findings.iter().filter(|finding| is_bad(finding.level)).count();
        let asked = fixed.skipped.iter().filter(|left| is_bad(left.level)).count();
        self.not_asked += all.saturating_sub(asked);
    }

    /// Writes what was fixed, or shows it.
    fn finish(&mut self, input: &Input, bytes: &[u8], fixed: &Fixed<'_>, out: &mut dyn Write) -> Result<()> {
        self.compare(fixed);
        self.unsafe_left += fixed.skipped.iter().filter(|left| left.cost.is_some()).count();
        let shows = self.doing != Doing::Write;
        if self.doing == Doing::Plan {
            self.plans.push(plan_v1(&input.name, bytes, fixed));
        } else if self.doing == Doing::Diff {
            let write = if self.shows_values { unified::write } else { unified::write_without_values };
            write(&input.name, bytes, &fixed.bytes, out)?;
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
                if let Err(error) = toolcheck_files::replace(path, Some(bytes), &fixed.bytes) {
                    let is_large = error.kind() == ErrorKind::FileTooLarge;
                    let hint = if is_large { ": pipe it through `toolcheck fix -`" } else { "" };
                    self.trouble(&format!("cannot write {name}: {}{hint}", reason(&error)));
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
        // What was asked for by name is told of whatever its level.
        let least = if self.asked.is_empty() { Some(self.fail_on) } else { None };
        if self.doing != Doing::Plan {
            for left in left_over(fixed, least, !shows) {
                self.is_silent = false;
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

/// What is left of at least this level, or that would be fixed whatever its level, with why: once for all of a rule with the same reason. Its place is that in the file
/// as it is now, or as it was if nothing is written.
fn left_over(fixed: &Fixed<'_>, least: Option<Level>, is_written: bool) -> Vec<String> {
    let is_wanted = |left: &&Skipped| left.is_wanted && left.cost.is_none();
    let is_told = |left: &&Skipped| least.is_none_or(|least| left.level >= least) || is_wanted(left);
    let left = fixed.skipped.iter().filter(is_told);
    grouped(left.map(|left| {
        let spot = if is_written { &left.spot } else { &left.was };
        (left.rule, spot, left.reason.to_string())
    }))
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

/// What unsafe fixes have lost or guessed: once for all of a rule with the same loss, with the place of the first.
fn costs(fixed: &Fixed<'_>) -> impl Iterator<Item = String> {
    let costs = fixed.applied.iter().filter_map(|Applied { rule, spot, cost, .. }| {
        let text = match cost.as_ref()? {
            Cost::Loss(lost) => format!("lost: {lost}"),
            Cost::Guess(guess) => guess.clone(),
        };
        Some((*rule, spot, text))
    });
    grouped(costs).into_iter()
}

/// Lines about places, one for all of a rule with the same text.
fn grouped<'s>(all: impl Iterator<Item = (RuleId, &'s Spot, String)>) -> Vec<String> {
    let mut groups: Vec<(RuleId, &Spot, usize)> = Vec::new();
    let mut known: HashMap<(RuleId, String), usize> = HashMap::new();
    let mut texts = Vec::new();
    for (rule, spot, text) in all {
        match known.entry((rule, text)) {
            Entry::Occupied(entry) => groups[*entry.get()].2 += 1,
            Entry::Vacant(entry) => {
                texts.push(line(&entry.key().1).to_string());
                entry.insert(groups.len());
                groups.push((rule, spot, 1));
            }
        }
    }
    let line_of = |((rule, spot, count), text): ((RuleId, &Spot, usize), String)| {
        let more = if count > 1 { format!(", {count} times") } else { String::new() };
        format!("{}:{}: {rule}{more}: {text}", spot.start.line, spot.start.column)
    };
    groups.into_iter().zip(texts).map(line_of).collect()
}
