//! A page with a table whose cells open what happened.

use std::collections::BTreeSet;
use std::io;

use toolcheck_core::text::{Counted, bounded, line as guarded};
use toolcheck_json::to_base64;

use super::picture::picture;
use super::table::{Cell, Row, Table};
use super::{RefusedRequest, Report, ScenarioRun, Status, Verdict};
use crate::markup::{Escaped, start_page, write_message};

pub(super) struct Head<'r> {
    pub(super) title: String,
    pub(super) about: String,
    pub(super) reports: &'r [Report],
}

/// The most characters of a text.
const LONGEST: usize = 2000;
/// The width of pictures in columns.
const WIDTH: usize = 76;
/// The most bytes of pictures and exchanges. What is worst comes first.
const MOST: usize = 16 << 20;

/// The pictures and exchanges of the cells of a table, by row and column.
type Details = Vec<Vec<Vec<Option<(String, String)>>>>;

pub(super) fn page(head: &Head<'_>, table: &Table<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let title = bounded(&head.title, LONGEST);
    start_page(&format!("{title} - toolcheck"), include_str!("page.css"), out)?;
    writeln!(out, "<header id=\"top\">\n<h1>{}</h1>", Escaped(&title))?;
    writeln!(out, "<p class=\"quiet\">{}</p>", Escaped(&bounded(&head.about, LONGEST)))?;
    for report in head.reports {
        summary(report, out)?;
    }
    writeln!(
        out,
        "<p class=\"quiet\">A cell opens the exchanges, what the API says and a picture. <b>fail</b>: a must is not met; \
         <b>weak</b>: a should is not met; <b>inconclusive</b>: the run does not show whether it is met; <b>broke</b>: the client crashed or took too long; <b>skip</b>: it has no way to \
         run it; 3/16: in 3 of 16 runs.</p>\n</header>\n<main>"
    )?;
    matrix(table, out)?;
    let details = details(table);
    for (number, (row, details)) in table.rows.iter().zip(&details).enumerate() {
        for (column, (cell, details)) in row.cells.iter().zip(details).enumerate() {
            if !cell.runs.is_empty() {
                article(&Opened { number, column, row, cell, name: &table.columns[column] }, details, out)?;
            }
        }
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn summary(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let unexpected = report.runs.iter().filter(|run| run.is_unexpected()).count();
    let known = report.runs.iter().filter(|run| run.is_known()).count();
    let unscored = report.runs.iter().filter(|run| !run.scored).count();
    let mut words = format!("{}, {unexpected} not as required", Counted(report.runs.len(), "run"));
    for (count, word) in [(known, "known"), (unscored, "unscored"), (report.stale.len(), "stale")] {
        if count > 0 {
            words.push_str(&format!(", {count} {word}"));
        }
    }
    let class = if unexpected + report.stale.len() > 0 { "error" } else { "clean" };
    let name = bounded(&report.name, LONGEST);
    let badge = to_base64(badge(report).as_bytes());
    writeln!(
        out,
        "<p><b>{}</b>: <span class=\"summary {class}\">{words}</span> \
         <a class=\"quiet\" download=\"toolcheck.svg\" href=\"data:image/svg+xml;base64,{badge}\">badge</a></p>",
        Escaped(&name)
    )?;
    if report.runs_left > 0 {
        let left = Counted(report.runs_left, "run");
        writeln!(out, "<p class=\"quiet\">{left} still to run: this is the report so far.</p>")?;
    }
    for entry in &report.stale {
        writeln!(out, "<p class=\"quiet\">stale: {}</p>", Escaped(&bounded(entry, LONGEST)))?;
    }
    Ok(())
}

/// A picture that says how many scenarios of the set fail.
fn badge(report: &Report) -> String {
    let failed = report.runs.iter().filter(|run| run.scored && run.is_unexpected());
    let failed: BTreeSet<&str> = failed.map(|run| &*run.scenario).collect();
    let (text, colour) = match failed.len() {
        0 => ("none fails".to_owned(), "#2e7d32"),
        count => (format!("not met in {}", Counted(count, "scenario")), "#b23c17"),
    };
    let label = format!("toolcheck {}", bounded(&report.set, 20));
    let [left, right] = [&label, &text].map(|part| part.chars().count() * 7 + 12);
    let part = |x: usize, width: usize, fill: &str, said: &str| {
        format!(
            "<rect x=\"{x}\" width=\"{width}\" height=\"20\" fill=\"{fill}\"/><text x=\"{}\" y=\"14\" textLength=\"{}\" \
             fill=\"#fff\" font-family=\"Verdana,sans-serif\" font-size=\"11\">{}</text>",
            x + 6,
            width - 12,
            Escaped(said)
        )
    };
    let parts = part(0, left, "#4a4f57", &label) + &part(left, right, colour, &text);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"20\">{parts}</svg>",
        left + right
    )
}

fn matrix(table: &Table<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"matrix\">\n<thead><tr><th scope=\"col\">scenario</th>"
    )?;
    for name in &table.columns {
        writeln!(out, "<th scope=\"col\">{}</th>", Escaped(&bounded(name, LONGEST)))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (number, row) in table.rows.iter().enumerate() {
        let mark = if row.is_scored { "" } else { " <span class=\"quiet\">unscored</span>" };
        writeln!(
            out,
            "<tr><th scope=\"row\" title=\"{}\"><code>{}</code>{mark}</th>",
            Escaped(&bounded(row.title, LONGEST)),
            Escaped(&bounded(row.scenario, LONGEST))
        )?;
        for (column, cell) in row.cells.iter().enumerate() {
            match (cell.status(), cell.words()) {
                (Some(status), Some(words)) => {
                    let known = if cell.is_known() { " known" } else { "" };
                    writeln!(
                        out,
                        "<td class=\"{status}{known}\" id=\"cell-{number}-{column}\"><a href=\"#runs-{number}-{column}\">{words}</a></td>"
                    )?;
                }
                _ => writeln!(out, "<td></td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>")
}

/// The details of each run, as far as there is room, the worst first.
fn details(table: &Table<'_>) -> Details {
    let mut details: Details = table
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| vec![None; cell.runs.len()]).collect())
        .collect();
    let mut places: Vec<(Status, usize, usize, usize)> = Vec::new();
    for (number, row) in table.rows.iter().enumerate() {
        for (column, cell) in row.cells.iter().enumerate() {
            places.extend(cell.runs.iter().enumerate().map(|(at, run)| (run.status, number, column, at)));
        }
    }
    places.sort_by_key(|(status, ..)| std::cmp::Reverse(*status));
    let mut left = MOST;
    for (_, number, column, at) in places {
        let run = table.rows[number].cells[column].runs[at];
        let found = (picture(run, WIDTH), exchanges(run));
        let Some(rest) = left.checked_sub(found.0.len() + found.1.len()) else { break };
        left = rest;
        details[number][column][at] = Some(found);
    }
    details
}

fn exchanges(run: &ScenarioRun) -> String {
    let pretty = |exchange| serde_json::to_string_pretty(exchange).unwrap_or_default() + "\n";
    run.exchanges.iter().map(pretty).collect()
}

struct Opened<'o> {
    number: usize,
    column: usize,
    row: &'o Row<'o>,
    cell: &'o Cell<'o>,
    name: &'o str,
}

fn article(
    opened: &Opened<'_>,
    details: &[Option<(String, String)>],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let Opened { number, column, row, cell, name } = opened;
    writeln!(
        out,
        "<article class=\"runs\" id=\"runs-{number}-{column}\">\n<h2><code>{}</code> · {}</h2>\n<p>{} \
         <a href=\"#cell-{number}-{column}\">Back to the table</a></p>",
        Escaped(&bounded(row.scenario, LONGEST)),
        Escaped(&bounded(name, LONGEST)),
        Escaped(&bounded(row.title, LONGEST)),
    )?;
    let mut order: Vec<usize> = (0..cell.runs.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(cell.runs[*at].status));
    for at in order {
        run(cell.runs[at], details[at].as_ref(), out)?;
    }
    writeln!(out, "</article>")
}

fn run(run: &ScenarioRun, details: Option<&(String, String)>, out: &mut dyn io::Write) -> io::Result<()> {
    let is_open = if run.status > Status::Pass { " open=\"open\"" } else { "" };
    writeln!(
        out,
        "<details class=\"run\"{is_open}>\n<summary><span class=\"status {0}\">{0}</span> {1} {2}</summary>",
        run.status,
        Escaped(&bounded(&run.format, LONGEST)),
        run.way()
    )?;
    if let Some(reason) = &run.reason {
        paragraph("", reason, out)?;
    }
    for fault in run.faults() {
        verdict(fault, out)?;
    }
    let passed: Vec<&str> =
        run.verdicts.iter().filter(|one| one.status == Status::Pass).map(|one| &*one.check).collect();
    if !passed.is_empty() {
        paragraph("passes", &passed.join(", "), out)?;
    }
    for told in run.verdicts.iter().filter(|one| one.status == Status::Info && !one.reason.is_empty()) {
        verdict(told, out)?;
    }
    if !run.outcome.is_empty() {
        if run.outcome.contains('\n') {
            writeln!(out, "<p class=\"quiet\">for the user:</p>")?;
            block(&run.outcome.chars().take(LONGEST).collect::<String>(), out)?;
        } else {
            paragraph("for the user", &run.outcome, out)?;
        }
    }
    for refused in &run.refused {
        refusal(refused, out)?;
    }
    match details {
        None => {
            writeln!(out, "<p class=\"quiet\">The exchanges are left out: the page would be too large.</p>")?
        }
        Some((picture, exchanges)) if !exchanges.is_empty() => {
            block(picture, out)?;
            writeln!(out, "<details>\n<summary>exchanges</summary>")?;
            block(exchanges, out)?;
            if run.exchanges_left_out > 0 {
                writeln!(out, "<p class=\"quiet\">and {} more</p>", run.exchanges_left_out)?;
            }
            writeln!(out, "</details>")?;
        }
        Some(_) => writeln!(out, "<p class=\"quiet\">No request was sent.</p>")?,
    }
    writeln!(out, "</details>")
}

fn verdict(verdict: &Verdict, out: &mut dyn io::Write) -> io::Result<()> {
    let Verdict { check, status, reason, known } = verdict;
    write!(
        out,
        "<p><span class=\"status {status}\">{status}</span> <code>{}</code> ",
        Escaped(&bounded(check, LONGEST))
    )?;
    write_message(reason, LONGEST, out)?;
    if let Some(known) = known {
        write!(out, " <span class=\"quiet\">(known: ")?;
        write_message(known, LONGEST, out)?;
        write!(out, ")</span>")?;
    }
    writeln!(out, "</p>")
}

/// What the API says, in its words.
fn refusal(refused: &RefusedRequest, out: &mut dyn io::Write) -> io::Result<()> {
    let RefusedRequest { rule, message, place, text, status, source } = refused;
    write!(out, "<p>The API answers {status}: <code>{}</code> at <code>", Escaped(&bounded(rule, LONGEST)))?;
    write!(out, "{}</code>: ", Escaped(&bounded(if place.is_empty() { "/" } else { place }, LONGEST)))?;
    write_message(message, LONGEST, out)?;
    match source.as_ref().map(|source| bounded(source, LONGEST)) {
        Some(source) if source.starts_with("https://") => {
            write!(out, " <a href=\"{}\">source</a>", Escaped(&source))?;
        }
        Some(source) => write!(out, " <span class=\"quiet\">({})</span>", Escaped(&source))?,
        None => {}
    }
    writeln!(out, "</p>")?;
    match text {
        Some(text) => writeln!(out, "<blockquote>{}</blockquote>", Escaped(&bounded(text, LONGEST))),
        None => writeln!(out, "<p class=\"quiet\">The exact text is unknown.</p>"),
    }
}

fn paragraph(before: &str, text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, "<p>")?;
    if !before.is_empty() {
        write!(out, "<span class=\"quiet\">{before}:</span> ")?;
    }
    write_message(text, LONGEST, out)?;
    writeln!(out, "</p>")
}

fn block(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, "<pre tabindex=\"0\">")?;
    for line in text.lines() {
        writeln!(out, "{}", Escaped(&guarded(line)))?;
    }
    writeln!(out, "</pre>")
}
