use std::io;

use toolcheck_core::Level;
use toolcheck_core::text::{Counted, guard, line, shown};
use toolcheck_json::sort_by_positions;
use toolcheck_lint::report::Report;
use toolcheck_lint::summary::{RuleSummary, Summary};

use super::{BOLD, DIM, Output, colors_of, painted};
use crate::Style;

pub(super) static OUTPUT: Output =
    Output::new("summary", "counts per rule over the rows of data sets, with a few examples", write)
        .showing_fixes();

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let summary = report.summary();
    // Errors first, and what is found most often.
    let mut rules: Vec<_> = summary.rules.iter().collect();
    sort_by_positions(&mut rules, |((_, level), rule)| {
        (usize::from(*level != Level::Error), usize::MAX - rule.findings as usize)
    });
    for ((id, level), rule) in rules {
        let level = painted(level.as_str(), colors_of(*level), style);
        let RuleSummary { findings, rows, samples, .. } = rule;
        let place =
            if *rows > 0 { format!("in {}", counted(*rows, "row")) } else { "between rows".to_owned() };
        let counts = format!("{} {place}", counted(*findings, "finding"));
        writeln!(out, "{level} {}: {counts}", painted(&line(id), BOLD, style))?;
        for sample in samples {
            let place = format!("{} {}", line(&sample.row), shown(&sample.pointer));
            let place = place.trim_end();
            writeln!(out, "  {} {}", painted(place, DIM, style), guard(&sample.message))?;
        }
        writeln!(out)?;
    }
    if style.is_quiet { Ok(()) } else { close(&summary, out) }
}

fn close(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    let Summary { rows, unread, messages, tool_calls, tool_results, formats, .. } = summary;
    let formats: Vec<String> = formats.iter().map(|(id, count)| format!("{id} {count}")).collect();
    writeln!(
        out,
        "{}, {unread} not read ({}, {}, {})",
        counted(*rows, "row"),
        counted(*messages, "message"),
        counted(*tool_calls, "call"),
        counted(*tool_results, "result"),
    )?;
    if !formats.is_empty() {
        writeln!(out, "transcripts: {}", formats.join(", "))?;
    }
    let left_out: Vec<String> =
        summary.left_out.iter().map(|(what, count)| format!("{what} ({count})")).collect();
    if left_out.is_empty() { Ok(()) } else { writeln!(out, "left out: {}", line(&left_out.join(", "))) }
}

fn counted(count: u64, noun: &'static str) -> Counted {
    Counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}
