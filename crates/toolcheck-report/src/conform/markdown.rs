use std::io;

use toolcheck_core::text::{Counted, bounded};

use super::Report;
use super::table::{Table, of_clients, of_formats};
use crate::outputs::markdown::{code, inline};

/// The most characters of a name.
const LONGEST: usize = 200;

/// Writes a table of scenarios and formats.
pub fn markdown(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    table(&of_formats(report), out)?;
    left(std::slice::from_ref(report), out)?;
    stale(std::slice::from_ref(report), out)
}

/// Writes a table of scenarios and clients.
pub fn matrix_markdown(reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
    table(&of_clients(reports), out)?;
    left(reports, out)?;
    stale(reports, out)
}

fn left(reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
    for report in reports.iter().filter(|report| report.runs_left > 0) {
        let (name, runs) = (inline(&bounded(&report.name, LONGEST)), Counted(report.runs_left, "run"));
        writeln!(out, "\n{name}: {runs} still to come")?;
    }
    Ok(())
}

fn table(table: &Table<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let columns = table.columns.iter().map(|name| format!(" {} |", inline(&bounded(name, LONGEST))));
    writeln!(out, "| scenario |{}", columns.collect::<String>())?;
    writeln!(out, "| --- |{}", " --- |".repeat(table.columns.len()))?;
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| format!(" {} |", cell.words().unwrap_or_default()));
        let mark = if row.is_scored { "" } else { " (unscored)" };
        let name = code(&bounded(row.scenario, LONGEST));
        writeln!(out, "| {name}{mark} |{}", cells.collect::<String>())?;
    }
    Ok(())
}

fn stale(reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
    for report in reports.iter().filter(|report| !report.stale.is_empty()) {
        writeln!(
            out,
            "\nListed as known failures, but no longer failing ({}):\n",
            inline(&bounded(&report.name, LONGEST))
        )?;
        for entry in &report.stale {
            writeln!(out, "- {}", inline(&bounded(entry, LONGEST)))?;
        }
    }
    Ok(())
}
