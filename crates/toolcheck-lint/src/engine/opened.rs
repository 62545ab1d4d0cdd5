//! Linting what is inside a file that was opened, such as a recording of HTTP traffic.

use toolcheck_core::ir::TranscriptKind;
use toolcheck_json::origins::Opened;

use super::{lint_with, text};
use crate::observe::Observer;
use crate::options::Options;
use crate::relocation::relocate;
use crate::report::{FileReport, Source};

/// Lints what is inside a file. `source` is the file's own text, in which the findings get their places.
pub fn lint_opened(path: &str, source: &[u8], opened: &Opened, options: &Options) -> FileReport {
    lint_opened_with(path, source, opened, options, &mut ())
}

/// The same, and shows an observer what is read, at its places in the made text.
pub fn lint_opened_with(
    path: &str,
    source: &[u8],
    opened: &Opened,
    options: &Options,
    observer: &mut dyn Observer,
) -> FileReport {
    let kind = if opened.is_table { TranscriptKind::Dataset } else { options.kind };
    let inner = options.clone().keeps_source(false).kind(kind);
    let mut report = if opened.exchanges == 0 {
        FileReport::empty(path, kind)
    } else {
        lint_with(path, &opened.text, &inner, observer)
    };
    report.format = Some(opened.id).filter(|_| !opened.is_other());
    report.is_meant_as_request |= opened.unread.is_some() && !opened.is_other();
    opened.left_out.iter().for_each(|left| report.count_not_read(*left));
    relocate(&mut report, opened, source);
    // An archive is shown by the texts in it.
    let source = opened.source(source);
    if text::reports_unrecognised(options) {
        if let Some(lacking) = opened.not_built {
            report.findings.extend(text::not_built(source, lacking, opened, options));
        } else if let Some(at) = opened.broken_at {
            report.findings.extend(text::broken(source, at, opened, options));
        } else if opened.exchanges == 0 && opened.unread.is_none() {
            report.findings.extend(text::without_requests(source, opened, options));
        }
        if let Some(unread) = &opened.unread {
            report.findings.extend(text::unread(source, unread, opened, options));
        }
    }
    if let Some(notation) = &opened.notation {
        report.findings.splice(..0, text::notation(source, notation, options));
    }
    if options.keeps_source {
        report.source = Source::of_findings(source, &report.findings);
    }
    report
}
