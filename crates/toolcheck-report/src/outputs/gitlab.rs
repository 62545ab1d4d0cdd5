use std::io;

use serde::Serialize;
use toolcheck_core::Level;
use toolcheck_core::text::plain_name;

use super::{Output, repository_path, write_json};
use crate::Style;
use toolcheck_lint::fingerprint::Fingerprints;
use toolcheck_lint::report::Report;

pub(super) static OUTPUT: Output = Output::new("gitlab", "a GitLab Code Quality report", write);

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u64,
}

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let mut issues = Vec::new();
    for file in &report.files {
        let path = repository_path(&file.path);
        issues.extend(file.findings.iter().map(|finding| Issue {
            description: finding.placed_message().to_string(),
            check_name: finding.rule.as_str(),
            fingerprint: fingerprints.next(&path, finding),
            severity: match finding.level {
                Level::Error => "major",
                Level::Warning => "minor",
            },
            location: Location {
                path: plain_name(&path).into_owned(),
                lines: Lines { begin: finding.spot.start.line },
            },
        }));
    }
    write_json(&issues, out)
}
