//! `toolcheck conform`: an agent loop against scenarios.

mod client;
mod known;
mod output;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use toolcheck_conform::{Case, Outcome, Profile, Scenario, Status as Verdicts, Verdict, judge, scenarios};
use toolcheck_core::suggest::similar;
use toolcheck_core::text::{reason, shown};
use toolcheck_core::{Format, formats};
use toolcheck_serve::{MockProvider, Run as Seen};

use self::client::{Answer, Client, Task};
use self::known::Known;
use crate::Status;
use crate::args::{ConformArgs, ConformOutput, StreamArg};

/// A scenario in a format.
struct Run {
    scenario: &'static Scenario,
    format: &'static Format,
    is_streamed: bool,
    result: Result<Vec<Verdict>, Missing>,
    outcome: String,
    exchanges: Option<String>,
}

/// Why there are no verdicts.
enum Missing {
    /// The client has no way to run it.
    Skipped(String),
    /// The client crashed, answered nonsense or took too long.
    Broke(String),
}

impl Run {
    /// A run that has not begun.
    fn new(scenario: &'static Scenario, format: &'static Format, is_streamed: bool) -> Self {
        Self {
            scenario,
            format,
            is_streamed,
            result: Ok(Vec::new()),
            outcome: String::new(),
            exchanges: None,
        }
    }

    fn way(&self) -> &'static str {
        if self.is_streamed { "streamed" } else { "whole" }
    }

    /// The worst verdict in one word.
    fn status(&self) -> &'static str {
        match &self.result {
            Err(Missing::Skipped(_)) => "skip",
            Err(Missing::Broke(_)) => "broke",
            Ok(verdicts) => [Verdicts::Fail, Verdicts::Weak]
                .into_iter()
                .find(|status| verdicts.iter().any(|verdict| verdict.status == *status))
                .map_or("pass", Verdicts::as_str),
        }
    }
}

pub(crate) fn run(args: &ConformArgs, out: &mut dyn Write) -> Result<Status> {
    let chosen = chosen(&args.only)?;
    if args.list {
        output::list(&chosen, out)?;
        return Ok(Status::Clean);
    }
    let formats = formats_of(&args.format)?;
    let mut known = Known::read(args.known.as_deref())?;
    let profile = args.profile.as_deref().map(profile).transpose()?;
    let command = args.client.as_deref().unwrap_or_default();
    let mut client = Client::new(command, Duration::from_secs(args.timeout))?;
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).map_err(|error| {
            anyhow!("cannot create {}: {}", shown(&folder.display().to_string()), reason(&error))
        })?;
    }
    let mut runs = Vec::new();
    for scenario in chosen {
        for format in &formats {
            let is_in = scenario.is_about(format.id);
            for is_streamed in ways(args.stream, scenario, format.id).filter(|_| is_in) {
                let own = profile.as_ref().map(|profile| profile.apply(scenario)).transpose();
                let run = Run::new(scenario, format, is_streamed);
                runs.push(match own {
                    Ok(own) => {
                        one(&mut client, run, own.as_ref().unwrap_or(scenario), args.record.as_deref())?
                    }
                    Err(why) => Run { result: Err(Missing::Skipped(why.to_string())), ..run },
                });
            }
        }
    }
    let unexpected = runs.iter().filter(|run| known.leaves(run)).count();
    let stale = known.stale(&runs);
    match args.output_format {
        ConformOutput::Text => output::text(&runs, &known, &stale, out)?,
        ConformOutput::Json => output::json(command, &runs, &stale, out)?,
        ConformOutput::Markdown => output::markdown(&runs, out)?,
    }
    Ok(if unexpected == 0 && stale.is_empty() { Status::Clean } else { Status::Findings })
}

fn chosen(only: &[String]) -> Result<Vec<&'static Scenario>> {
    let all = scenarios::all();
    for id in only {
        if scenarios::find(id).is_none() {
            let known = all.iter().map(|scenario| scenario.id.as_str());
            bail!("no such scenario{}\n\n`toolcheck conform --list` lists all", similar(id, known));
        }
    }
    Ok(all.iter().filter(|scenario| only.is_empty() || only.contains(&scenario.id)).collect())
}

fn formats_of(ids: &[String]) -> Result<Vec<&'static Format>> {
    if ids.is_empty() {
        return Ok(formats::ALL.to_vec());
    }
    let find = |id: &String| {
        let known = formats::ALL.iter().map(|format| format.id);
        formats::find(id).ok_or_else(|| anyhow!("no such format{}", similar(id, known)))
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

/// Plays a scenario, which may be the one with the agent's own tools.
fn one(client: &mut Client, run: Run, played: &Scenario, record: Option<&Path>) -> Result<Run> {
    let format = run.format.id;
    let mut provider = MockProvider::builder().turns(played.turns.clone());
    // A conversation that goes on elsewhere is checked against the API of each path.
    if played.then_format(format).is_none() {
        provider = provider.target(format)?;
    }
    let provider = provider.start()?;
    let url = provider.url();
    let task = Task { scenario: played, format, is_streamed: run.is_streamed, url: &url };
    let answer = client.run(&task)?;
    let seen = provider.finish();
    let name = format!("{}.{format}.{}.jsonl", played.id, run.way());
    let exchanges = record.map(|folder| keep(folder, name, &seen)).transpose()?;
    let (result, outcome) = match answer {
        Answer::Ended(outcome) => {
            (Ok(judge(&Case { scenario: played, run: &seen, outcome: &outcome })), text_of(&outcome))
        }
        Answer::Skipped(why) => (Err(Missing::Skipped(why)), String::new()),
        Answer::Broke(why) => (Err(Missing::Broke(why)), String::new()),
    };
    Ok(Run { result, outcome, exchanges, ..run })
}

fn profile(path: &Path) -> Result<Profile> {
    let name = shown(&path.display().to_string());
    let read = toolcheck_files::read_named(path).and_then(toolcheck_files::text);
    let text = read.map_err(|error| anyhow!("cannot read {name}: {}", reason(&error)))?;
    Profile::read(&text).map_err(|error| anyhow!("{name}: {error}"))
}

fn text_of(outcome: &Outcome) -> String {
    format!("{}: {}", if outcome.is_done { "done" } else { "error" }, outcome.text)
}

fn keep(folder: &Path, name: String, seen: &Seen) -> Result<String> {
    toolcheck_files::write(&folder.join(&name), |out| out.write_all(seen.json_lines().as_bytes()))
        .map_err(|error| anyhow!("cannot write {}: {}", shown(&name), reason(&error)))?;
    Ok(name)
}
