//! `toolcheck conform`: an agent loop against scenarios.

mod adapter;
mod client;
#[cfg(unix)]
mod descendants;
mod examined;
mod gateway;
mod known;
mod output;
mod output_file;
mod per_run;
pub(crate) mod process;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use toolcheck_conform::sets::{self, Set};
use toolcheck_conform::{Case, Profile, Scenario, judge, scenarios};
use toolcheck_core::suggest::unknown;
use toolcheck_core::text::{reason, shown};
use toolcheck_core::{Format, formats};
use toolcheck_project::printable;
use toolcheck_report::conform::{Report, ScenarioRun};
use toolcheck_serve::{MockLog, MockProvider};

use self::client::{Answer, Client, Limits, Task};
use self::known::Known;
use self::output_file::ReportFile;
use crate::Status;
use crate::args::{ConformArgs, StreamArg};
use crate::progress::Steps;

/// A scenario in a format.
#[derive(Clone, Copy)]
struct Planned {
    scenario: &'static Scenario,
    format: &'static Format,
    is_streamed: bool,
}

enum Driver<'c> {
    Once(Client),
    PerRun { command: &'c str, timeout: Duration, is_first: bool },
}

impl Driver<'_> {
    fn run(&mut self, task: &Task<'_>) -> Result<Answer> {
        match self {
            Self::Once(client) => client.run(task),
            Self::PerRun { command, timeout, is_first } => {
                per_run::run(command, *timeout, std::mem::take(is_first), task)
            }
        }
    }
}

pub(crate) fn run(args: &ConformArgs, out: &mut dyn Write) -> Result<Status> {
    let is_adapter = args.translation.adapter.is_some();
    let mut file = args.output_file.as_deref().map(ReportFile::new);
    if is_adapter || args.translation.gateway.is_some() {
        // It may take long, and is not begun for nothing.
        adapter::check_output(args.output_format)?;
        let run: fn(&ConformArgs, &mut dyn Write) -> Result<Status> =
            if is_adapter { adapter::run } else { gateway::run };
        let Some(file) = &mut file else { return run(args, out) };
        let mut text = Vec::new();
        let status = run(args, &mut text)?;
        file.write(&mut |out| out.write_all(&text))?;
        return Ok(status);
    }
    let set = args.set.as_deref().map(set_named).transpose()?;
    let chosen = chosen(&args.only, set)?;
    if args.list {
        output::list(&chosen, out)?;
        return Ok(Status::Clean);
    }
    let formats = formats_of(&args.format)?;
    let mut known = Known::read(args.known.as_deref())?;
    let profile = args.profile.as_deref().map(profile).transpose()?;
    let limits = Limits::of(args);
    let (command, mut driver) = match (&args.client_per_run, args.client.as_deref()) {
        (Some(command), _) => (&**command, Driver::PerRun { command, timeout: limits.run, is_first: true }),
        (None, Some(command)) => (command, Driver::Once(Client::new(command, limits)?)),
        (None, None) => {
            bail!(
                "say what to test: --client, --client-per-run, --adapter or --gateway (or --list, to list the scenarios)"
            )
        }
    };
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder)
            .map_err(|error| anyhow!("cannot create {}: {}", printable(folder), reason(&error)))?;
    }
    let set = set.unwrap_or_else(sets::newest);
    let name = args.name.as_deref().unwrap_or(command);
    let mut report = Report::new(env!("CARGO_PKG_VERSION"), set.id, name, command);
    let planned = planned(&chosen, &formats, args.stream);
    let steps = Steps::new(planned.len());
    report.runs_left = planned.len();
    for planned in planned {
        steps.next(&planned.scenario.id);
        let scenario = planned.scenario;
        if let Some(file) = file.as_mut().filter(|file| file.is_due()) {
            file.write(&mut |out| output::write(&report, args.output_format, out))?;
        }
        let mut run = one(&mut driver, planned, profile.as_ref(), args.record.as_deref())?;
        // Whoever names a scenario wants to know how it ends.
        run.scored = set.has(scenario) || args.only.contains(&scenario.id);
        known.mark(&mut run);
        report.runs.push(run);
        report.runs_left -= 1;
    }
    steps.end();
    report.stale = known.stale(&report.runs);
    match &mut file {
        Some(file) => file.write(&mut |out| output::write(&report, args.output_format, out))?,
        None => output::write(&report, args.output_format, out)?,
    }
    let is_clean = report.stale.is_empty() && !report.runs.iter().any(ScenarioRun::is_unexpected);
    Ok(if is_clean { Status::Clean } else { Status::Findings })
}

fn planned(chosen: &[&'static Scenario], formats: &[&'static Format], asked: StreamArg) -> Vec<Planned> {
    let mut all = Vec::new();
    for &scenario in chosen {
        let is_in = |format: &&&Format| scenario.is_about(format.id);
        for &format in formats.iter().filter(is_in) {
            all.extend(ways(asked, scenario, format.id).map(|is_streamed| Planned {
                scenario,
                format,
                is_streamed,
            }));
        }
    }
    all
}

fn set_named(id: &str) -> Result<&'static Set> {
    let known = || sets::all().iter().map(|set| set.id);
    sets::find(id).ok_or_else(|| {
        anyhow!("{}\n\nsets: {}", unknown("set", id, known()), known().collect::<Vec<_>>().join(", "))
    })
}

fn chosen(only: &[String], set: Option<&Set>) -> Result<Vec<&'static Scenario>> {
    let all = scenarios::all();
    for id in only {
        if scenarios::find(id).is_none() {
            let known = all.iter().map(|scenario| scenario.id.as_str());
            bail!("{}\n\n`toolcheck conform --list` lists all", unknown("scenario", id, known));
        }
        if let Some(set) = set.filter(|set| !set.scenarios.contains(id)) {
            bail!("the set {} has no scenario `{id}`", set.id);
        }
    }
    let is_asked = |scenario: &&Scenario| {
        set.is_none_or(|set| set.has(scenario)) && (only.is_empty() || only.contains(&scenario.id))
    };
    Ok(all.iter().filter(is_asked).collect())
}

fn formats_of(ids: &[String]) -> Result<Vec<&'static Format>> {
    if ids.is_empty() {
        return Ok(formats::ALL.to_vec());
    }
    let find = |id: &String| {
        let known = formats::ALL.iter().map(|format| format.id);
        formats::find(id).ok_or_else(|| anyhow!(unknown("format", id, known)))
    };
    ids.iter().map(find).collect()
}

fn ways(asked: StreamArg, scenario: &Scenario, format: &str) -> impl Iterator<Item = bool> + use<> {
    let is_asked = move |is_streamed: &bool| match asked {
        StreamArg::Both => true,
        StreamArg::Whole => !is_streamed,
        StreamArg::Streamed => *is_streamed,
    };
    let only_streamed = scenario.wants_stream(format);
    [false, true].into_iter().filter(is_asked).filter(move |is_streamed| *is_streamed || !only_streamed)
}

/// Plays a scenario, with a profile as the one with the agent's own tools.
fn one(
    driver: &mut Driver<'_>,
    planned: Planned,
    profile: Option<&Profile>,
    record: Option<&Path>,
) -> Result<ScenarioRun> {
    let Planned { scenario, format, is_streamed } = planned;
    let mut run = ScenarioRun::new(&scenario.id, &scenario.title, format.id, is_streamed);
    let own = match profile.map(|profile| profile.apply(scenario)).transpose() {
        Ok(own) => own,
        Err(why) => {
            output::enter(&mut run, Answer::Skipped(why.to_string()), |_| Vec::new());
            return Ok(run);
        }
    };
    let scenario = own.as_ref().unwrap_or(scenario);
    let mut provider = MockProvider::builder().turns(scenario.turns.clone());
    // A conversation that goes on elsewhere is checked against the API of each path.
    if scenario.then_format(format.id).is_none() {
        provider = provider.target(format.id)?;
    }
    let provider = provider.start()?;
    let url = provider.url();
    let name = format!("{}.{}.{}", scenario.id, format.id, if is_streamed { "streamed" } else { "whole" });
    let error = record.map(|folder| folder.join(format!("{name}.error.txt")));
    let task = Task { scenario, format: format.id, is_streamed, url: &url, record: error.as_deref() };
    let answer = driver.run(&task)?;
    let seen = provider.finish();
    run.file = record.map(|folder| keep(folder, format!("{name}.jsonl"), &seen)).transpose()?;
    output::enter(&mut run, answer, |outcome| judge(&Case { scenario, run: &seen, outcome }));
    output::keep(&mut run, &seen);
    Ok(run)
}

fn profile(path: &Path) -> Result<Profile> {
    let name = printable(path);
    let read = toolcheck_files::read_named(path).and_then(toolcheck_files::text);
    let text = read.map_err(|error| anyhow!("cannot read {name}: {}", reason(&error)))?;
    Profile::read(&text).map_err(|error| anyhow!("{name}: {error}"))
}

fn keep(folder: &Path, name: String, seen: &MockLog) -> Result<String> {
    toolcheck_files::write(&folder.join(&name), |out| out.write_all(seen.json_lines().as_bytes()))
        .map_err(|error| anyhow!("cannot write {}: {}", shown(&name), reason(&error)))?;
    Ok(name)
}
