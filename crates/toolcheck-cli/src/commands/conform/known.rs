//! Failures that are known.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use toolcheck_conform::adapter::conversations;
use toolcheck_conform::scenarios;
use toolcheck_core::formats;
use toolcheck_core::suggest::unknown;
use toolcheck_core::text::reason;
use toolcheck_project::printable;
use toolcheck_report::conform::{ScenarioRun, Status};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    #[serde(default)]
    known: Vec<KnownFailure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFailure {
    /// The scenario or conversation; any, if none is named.
    scenario: Option<String>,
    /// The check that fails; all of the scenario, if none is named.
    check: Option<String>,
    format: Option<String>,
    reason: String,
    issue: Option<String>,
    #[serde(skip)]
    is_met: bool,
}

impl Known {
    pub(super) fn read(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let name = printable(path);
        let read = toolcheck_files::read_named(path).and_then(toolcheck_files::text);
        let text = read.map_err(|error| anyhow!("cannot read {name}: {}", reason(&error)))?;
        let known: Self = toml::from_str(&text).with_context(|| name.clone())?;
        // The same file may be for a client and for an adapter.
        let scenarios = scenarios::all().iter().map(|scenario| &*scenario.id);
        let ids: Vec<&str> = scenarios.chain(conversations().iter().map(|own| &*own.id)).collect();
        let formats: Vec<&str> = formats::ALL.iter().map(|format| format.id).collect();
        for entry in &known.known {
            for (noun, id, all) in [("scenario", &entry.scenario, &ids), ("format", &entry.format, &formats)]
            {
                if let Some(id) = id.as_deref().filter(|id| !all.contains(id)) {
                    bail!("{name}: {}", unknown(noun, id, all.iter().copied()));
                }
            }
        }
        Ok(known)
    }

    /// Marks what fails or is inconclusive, and is known to.
    pub(super) fn mark(&mut self, run: &mut ScenarioRun) {
        let (scenario, format) = (&run.scenario, &run.format);
        for verdict in run.verdicts.iter_mut().filter(|verdict| verdict.status.counts()) {
            if self.covers(scenario, &verdict.check, format) {
                verdict.known = self.reason(scenario, &verdict.check, format).map(str::to_owned);
            }
        }
    }

    /// Whether a failure is known. Its entry is met then.
    pub(super) fn covers(&mut self, scenario: &str, check: &str, format: &str) -> bool {
        let entry = self.known.iter_mut().find(|entry| entry.is_about(scenario, check, format));
        entry.map(|entry| entry.is_met = true).is_some()
    }

    pub(super) fn reason(&self, scenario: &str, check: &str, format: &str) -> Option<&str> {
        let entry = self.known.iter().find(|entry| entry.is_about(scenario, check, format));
        entry.map(|entry| entry.reason.as_str())
    }

    /// The entries of scenarios that were run, and for which nothing failed.
    pub(super) fn stale(&self, runs: &[ScenarioRun]) -> Vec<String> {
        let judged = runs.iter().filter(|run| !matches!(run.status, Status::Skip | Status::Broke));
        self.stale_of(&judged.map(|run| (&*run.scenario, &*run.format)).collect::<Vec<_>>())
    }

    /// The entries about one of these scenarios and formats that were not met.
    pub(super) fn stale_of(&self, judged: &[(&str, &str)]) -> Vec<String> {
        let was_run =
            |entry: &KnownFailure| judged.iter().any(|(scenario, format)| entry.is_of(scenario, format));
        let stale = self.known.iter().filter(|entry| !entry.is_met && was_run(entry));
        stale
            .map(|entry| {
                let scenario = entry.scenario.as_deref().unwrap_or("any");
                let check = entry.check.as_deref().unwrap_or("any check");
                let issue = entry.issue.as_deref().map_or_else(String::new, |issue| format!(" ({issue})"));
                format!("{scenario} {check}: {}{issue}", entry.reason)
            })
            .collect()
    }
}

impl KnownFailure {
    fn is_about(&self, scenario: &str, check: &str, format: &str) -> bool {
        self.is_of(scenario, format) && self.check.as_deref().is_none_or(|own| own == check)
    }

    fn is_of(&self, scenario: &str, format: &str) -> bool {
        self.scenario.as_deref().is_none_or(|own| own == scenario)
            && self.format.as_deref().is_none_or(|own| own == format)
    }
}
