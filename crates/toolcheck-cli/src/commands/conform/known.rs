//! Failures that are known.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde::Deserialize;
use toolcheck_core::text::{reason, shown};
use toolcheck_report::conform::{Run, Status};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    #[serde(default)]
    known: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    scenario: String,
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
        let name = shown(&path.display().to_string());
        let read = toolcheck_files::read_named(path).and_then(toolcheck_files::text);
        let text = read.map_err(|error| anyhow!("cannot read {name}: {}", reason(&error)))?;
        toml::from_str(&text).with_context(|| name)
    }

    /// Marks what fails and is known to.
    pub(super) fn mark(&mut self, run: &mut Run) {
        let (scenario, format) = (&run.scenario, &run.format);
        for verdict in run.verdicts.iter_mut().filter(|verdict| verdict.status == Status::Fail) {
            let entry =
                self.known.iter_mut().find(|entry| entry.is_about((scenario, format), &verdict.check));
            if let Some(entry) = entry {
                entry.is_met = true;
                verdict.known = Some(entry.reason.clone());
            }
        }
    }

    /// The entries of scenarios that were run, and for which nothing failed.
    pub(super) fn stale(&self, runs: &[Run]) -> Vec<String> {
        let was_run = |entry: &Entry| {
            let mut judged = runs.iter().filter(|run| !matches!(run.status, Status::Skip | Status::Broke));
            judged.any(|run| {
                run.scenario == entry.scenario
                    && entry.format.as_deref().is_none_or(|format| format == run.format)
            })
        };
        let stale = self.known.iter().filter(|entry| !entry.is_met && was_run(entry));
        stale
            .map(|entry| {
                let check = entry.check.as_deref().unwrap_or("any check");
                let issue = entry.issue.as_deref().map_or_else(String::new, |issue| format!(" ({issue})"));
                format!("{} {check}: {}{issue}", entry.scenario, entry.reason)
            })
            .collect()
    }
}

impl Entry {
    fn is_about(&self, (scenario, format): (&str, &str), check: &str) -> bool {
        self.scenario == scenario
            && self.check.as_deref().is_none_or(|own| own == check)
            && self.format.as_deref().is_none_or(|own| own == format)
    }
}
