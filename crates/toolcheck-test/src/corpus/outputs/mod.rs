//! The outputs of a corpus run: one file each.
//!
//! To add an output, add a file and two lines here.

mod json;
mod junit;
mod text;

use std::io;
use std::path::Path;

use toolcheck_core::text::{name_of, shown};
use toolcheck_report::Style;
use toolcheck_report::outputs::repository_path;

use super::{CaseResult, CorpusResults, Failure};
use crate::expected::Difference;

/// A way to write the results of a corpus.
#[derive(Debug)]
#[non_exhaustive]
pub struct Output {
    /// The id on the command line.
    pub id: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Writes the results.
    pub write: fn(&CorpusResults, &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// All outputs, by id.
pub static ALL: &[&Output] = &[&json::OUTPUT, &junit::OUTPUT, &text::OUTPUT];

/// The output with this id.
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}

/// The output `text`, without colors.
pub(super) fn text(run: &CorpusResults) -> String {
    let mut text = Vec::new();
    let written = (text::OUTPUT.write)(run, &Style::default(), &mut text);
    written.map(|()| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// A failure as lines: those of a difference begin with `-` or `+`.
fn lines(result: &CaseResult, failure: &Failure) -> Vec<String> {
    let path = path_shown(&result.path);
    match failure {
        Failure::Findings(difference) => {
            let mut lines = difference.lines(&path);
            if difference.as_expected > 0 {
                lines.push(format!("and {} as expected", difference.as_expected));
            }
            lines
        }
        Failure::NoExpectation { path: named, found } => {
            let named = path_shown(named);
            let mut lines = vec![format!("missing expectation: {named}")];
            lines.extend(Difference::of(&[], found).lines(&path));
            lines
        }
        Failure::BrokenExpectation(why) => vec![why.clone()],
        Failure::SharedExpectation(other) => {
            vec![format!("shares its expectation with {}: rename one of them", shown(other))]
        }
        Failure::NoCase => vec!["no case for this expectation".to_owned()],
        Failure::Conversation(lines) => lines.iter().map(|line| shown(line)).collect(),
    }
}

fn kind(failure: &Failure) -> &'static str {
    match failure {
        Failure::Findings(_) => "findings",
        Failure::NoExpectation { .. } => "no-expectation",
        Failure::BrokenExpectation(_) => "broken-expectation",
        Failure::SharedExpectation(_) => "shared-expectation",
        Failure::NoCase => "no-case",
        Failure::Conversation(_) => "conversation",
    }
}

/// A path that is safe to print.
pub(super) fn path_shown(path: &Path) -> String {
    shown(&repository_path(&name_of(path.as_os_str().as_encoded_bytes())))
}
