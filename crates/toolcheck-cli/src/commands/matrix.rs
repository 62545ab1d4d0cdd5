//! `toolcheck matrix`: the reports on many clients as one table.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use toolcheck_core::text::{name_of, reason, shown};
use toolcheck_report::conform::{self, Report};

use crate::args::{MatrixArgs, MatrixOutput};
use crate::{Status, screen};

pub(crate) fn run(args: &MatrixArgs, out: &mut dyn Write) -> anyhow::Result<Status> {
    let mut reports = Vec::new();
    let mut is_whole = true;
    for path in &args.reports {
        match read(path) {
            Ok(report) => reports.push(report),
            Err(why) => {
                is_whole = false;
                screen::message("error", &why);
            }
        }
    }
    if reports.is_empty() {
        return Ok(Status::Trouble);
    }
    distinguish(&mut reports);
    match args.output_format {
        MatrixOutput::Html => conform::matrix_html(&reports, out),
        MatrixOutput::Json => conform::matrix_json(&reports, out),
        MatrixOutput::Markdown => conform::matrix_markdown(&reports, out),
    }?;
    Ok(if is_whole { Status::Clean } else { Status::Trouble })
}

fn read(path: &Path) -> Result<Report, String> {
    let name = shown(&name_of(path.as_os_str().as_encoded_bytes()));
    let bytes = toolcheck_files::read_named(path)
        .map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
    Report::read(&bytes)
        .map_err(|error| format!("{name} is not a report of `toolcheck conform`: {}", reason(&error)))
}

/// Numbers clients of the same name.
fn distinguish(reports: &mut [Report]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for report in reports {
        let count = counts.entry(report.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            report.name = format!("{} ({count})", report.name);
        }
    }
}
