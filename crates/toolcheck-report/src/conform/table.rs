//! Runs by scenario and by something else.

use std::collections::HashMap;

use toolcheck_json::distinct;

use super::{Report, ScenarioRun, Status};

/// Runs by scenario, and by format or client.
pub(super) struct Table<'r> {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Row<'r>>,
}

pub(super) struct Row<'r> {
    pub(super) scenario: &'r str,
    pub(super) title: &'r str,
    pub(super) is_scored: bool,
    pub(super) cells: Vec<Cell<'r>>,
}

/// The runs of a scenario in a column.
#[derive(Clone, Default)]
pub(super) struct Cell<'r> {
    pub(super) runs: Vec<&'r ScenarioRun>,
}

impl Cell<'_> {
    /// The worst status; `None` if nothing was run.
    pub(super) fn status(&self) -> Option<Status> {
        self.runs.iter().map(|run| run.status).max()
    }

    /// Whether all that failed is known.
    pub(super) fn is_known(&self) -> bool {
        let mut failed = self.runs.iter().filter(|run| run.status.counts()).peekable();
        failed.peek().is_some() && failed.all(|run| run.is_known())
    }

    /// The status in words: of how many runs, if not of all.
    pub(super) fn words(&self) -> Option<String> {
        let status = self.status()?;
        let count = |status: Status| self.runs.iter().filter(|run| run.status == status).count();
        // What cannot be run says nothing of the others.
        let all =
            if status == Status::Skip { self.runs.len() } else { self.runs.len() - count(Status::Skip) };
        let share = if count(status) < all { format!(" {}/{all}", count(status)) } else { String::new() };
        Some(format!("{status}{share}{}", if self.is_known() { " (known)" } else { "" }))
    }
}

pub(super) fn of_formats(report: &Report) -> Table<'_> {
    let formats = distinct(report.runs.iter().map(|run| &run.format));
    let columns: Vec<String> = formats.into_iter().cloned().collect();
    let places: HashMap<String, usize> =
        columns.iter().enumerate().map(|(at, column)| (column.clone(), at)).collect();
    let runs = report.runs.iter().map(|run| (places.get(&run.format).copied().unwrap_or_default(), run));
    table(columns, runs)
}

pub(super) fn of_clients(reports: &[Report]) -> Table<'_> {
    let columns = reports.iter().map(|report| report.name.clone()).collect();
    let runs =
        reports.iter().enumerate().flat_map(|(at, report)| report.runs.iter().map(move |run| (at, run)));
    table(columns, runs)
}

/// A table of runs, each with the number of its column.
fn table<'r>(columns: Vec<String>, runs: impl Iterator<Item = (usize, &'r ScenarioRun)>) -> Table<'r> {
    let mut rows: Vec<Row<'r>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (column, run) in runs {
        let place = *places.entry(&run.scenario).or_insert_with(|| {
            rows.push(Row {
                scenario: &run.scenario,
                title: &run.title,
                is_scored: false,
                cells: vec![Cell::default(); columns.len()],
            });
            rows.len() - 1
        });
        rows[place].is_scored |= run.scored;
        rows[place].cells[column].runs.push(run);
    }
    Table { columns, rows }
}
