use std::io;

use toolcheck_core::text::Counted;

use super::Report;
use super::page::{Head, page};
use super::table::{of_clients, of_formats};

/// Writes a page with a table of scenarios and formats. It needs no network and no scripts.
pub fn html(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let head = Head {
        title: format!("{}: agent loop in scenarios", report.name),
        about: format!("set {}, toolcheck {}, client: {}", report.set, report.toolcheck, report.client),
        reports: std::slice::from_ref(report),
    };
    page(&head, &of_formats(report), out)
}

/// Writes a page with a table of scenarios and clients.
pub fn matrix_html(reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
    let head = Head {
        title: format!("{} in scenarios", Counted(reports.len(), "agent loop")),
        about: "each cell is the worst of all formats".to_owned(),
        reports,
    };
    page(&head, &of_clients(reports), out)
}
