use std::io;

use serde_json::{Value as Json, json};

use super::table::{Cell, of_clients};
use super::{Report, VERSION};
use crate::outputs::write_json;

/// Writes a report as JSON: see `schemas/conform.v1.schema.json`.
///
/// # Errors
///
/// It cannot be written, here and below.
pub fn json(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    write_json(report, out)
}

/// Writes the worst statuses of many clients, and what each consists of, without the exchanges.
pub fn matrix_json(reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
    let table = of_clients(reports);
    let clients = reports.iter().map(|report| {
        let Report { name, client, set, toolcheck, stale, runs_left, .. } = report;
        json!({
            "name": name, "client": client, "set": set, "toolcheck": toolcheck, "stale": stale, "runs_left": runs_left,
        })
    });
    let cell = |cell: &Cell<'_>| -> Json {
        let Some(status) = cell.status() else { return Json::Null };
        let runs = cell.runs.iter().map(|run| {
            let faults = run.faults().map(|fault| {
                json!({"check": fault.check, "status": fault.status, "reason": fault.reason, "known": fault.known})
            });
            json!({
                "format": run.format, "stream": run.stream, "status": run.status, "reason": run.reason,
                "verdicts": faults.collect::<Vec<_>>(), "refused": run.refused,
            })
        });
        json!({"status": status, "known": cell.is_known(), "runs": runs.collect::<Vec<_>>()})
    };
    let rows = table.rows.iter().map(|row| {
        json!({
            "scenario": row.scenario, "title": row.title, "scored": row.is_scored,
            "cells": row.cells.iter().map(cell).collect::<Vec<_>>(),
        })
    });
    let rows: Vec<Json> = rows.collect();
    write_json(&json!({"version": VERSION, "clients": clients.collect::<Vec<_>>(), "scenarios": rows}), out)
}
