//! What a run of scenarios says.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value as Json, json};
use toolcheck_conform::{Scenario, Status};
use toolcheck_core::text::{Counted, guard, line};
use toolcheck_report::outputs::write_json;

use super::known::Known;
use super::{Missing, Run};

pub(super) fn list(scenarios: &[&Scenario], out: &mut dyn Write) -> io::Result<()> {
    let width = scenarios.iter().map(|scenario| scenario.id.len()).max().unwrap_or_default();
    for scenario in scenarios {
        writeln!(out, "{:width$}  {}", scenario.id, scenario.title)?;
    }
    Ok(())
}

pub(super) fn text(runs: &[Run], known: &Known, stale: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs {
        *counts.entry(run.status()).or_default() += 1;
        let name = format!("{} {} {}", run.scenario.id, run.format.id, run.way());
        match &run.result {
            Err(Missing::Skipped(why)) => writeln!(out, "skip {name}: {}", line(why))?,
            Err(Missing::Broke(why)) => writeln!(out, "broke {name}: {}", line(why))?,
            Ok(verdicts) => {
                for verdict in verdicts {
                    if matches!(verdict.status, Status::Pass | Status::Info) {
                        continue;
                    }
                    let why =
                        known.reason_of(run, verdict.check.id).filter(|_| verdict.status == Status::Fail);
                    let why = why.map_or_else(String::new, |why| format!(" (known: {})", line(why)));
                    let said = format!(
                        "{} {name}: {}: {}{why}",
                        verdict.status.as_str(),
                        verdict.check.id,
                        verdict.reason
                    );
                    writeln!(out, "{}", guard(&said))?;
                }
            }
        }
    }
    for entry in stale {
        writeln!(out, "stale {}: it no longer fails", line(entry))?;
    }
    let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    writeln!(out, "{}: {}", Counted(runs.len(), "run"), counts.join(", "))
}

pub(super) fn json(client: &str, runs: &[Run], stale: &[String], out: &mut dyn Write) -> io::Result<()> {
    let of_run = |run: &Run| {
        let (verdicts, why): (Vec<Json>, Option<&str>) = match &run.result {
            Err(Missing::Skipped(why) | Missing::Broke(why)) => (Vec::new(), Some(why)),
            Ok(verdicts) => {
                let verdict = verdicts.iter().map(|verdict| {
                    json!({"check": verdict.check.id, "status": verdict.status.as_str(), "reason": verdict.reason})
                });
                (verdict.collect(), None)
            }
        };
        json!({
            "scenario": run.scenario.id, "format": run.format.id, "stream": run.is_streamed,
            "status": run.status(), "reason": why, "verdicts": verdicts, "outcome": run.outcome,
            "exchanges": run.exchanges,
        })
    };
    let runs: Vec<Json> = runs.iter().map(of_run).collect();
    write_json(&json!({"version": 1, "client": client, "runs": runs, "stale": stale}), out)
}

pub(super) fn markdown(runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<(&str, BTreeMap<String, &str>)> = Vec::new();
    for run in runs {
        let column = format!("{} {}", run.format.id, run.way());
        if !columns.contains(&column) {
            columns.push(column.clone());
        }
        match rows.last_mut().filter(|(id, _)| *id == run.scenario.id) {
            Some((_, cells)) => drop(cells.insert(column, run.status())),
            None => rows.push((&run.scenario.id, BTreeMap::from([(column, run.status())]))),
        }
    }
    writeln!(out, "| scenario | {} |", columns.join(" | "))?;
    writeln!(out, "| --- |{}", " --- |".repeat(columns.len()))?;
    for (id, cells) in rows {
        let cells = columns.iter().map(|column| cells.get(column).copied().unwrap_or(""));
        writeln!(out, "| `{id}` | {} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}
