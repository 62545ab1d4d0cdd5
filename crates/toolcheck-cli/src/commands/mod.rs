//! The subcommands.

pub(crate) mod completions;
#[cfg(feature = "serve")]
pub(crate) mod conform;
pub(crate) mod diff;
pub(crate) mod explain;
mod explain_error;
#[cfg(feature = "serve")]
mod explain_scenario;
pub(crate) mod fix;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod matrix;
#[cfg(feature = "serve")]
pub(crate) mod proxy;
pub(crate) mod render;
#[cfg(feature = "serve")]
pub(crate) mod serve;
#[cfg(feature = "lsp")]
pub(crate) mod server;
mod settings;
pub(crate) mod shapes;
pub(crate) mod show;
pub(crate) mod test;

use std::num::NonZeroUsize;

use toolcheck_core::readers::{self, NextRequest, SourceKind};
use toolcheck_core::suggest::similar;
use toolcheck_core::text::{Counted, line};
use toolcheck_json::Records;
use toolcheck_lint::{Options, Report};

/// The most titles of conversations that an error names.
const TITLES: usize = 10;

/// The error if a file has fewer records.
fn no_such_record(name: &str, number: NonZeroUsize, bytes: &[u8]) -> String {
    format!("{name} has no record {number}; it has {}", Counted(Records::new(bytes).count(), "record"))
}

/// The error if no file has the conversation that the user asked for.
fn no_such_conversation(wanted: Option<&str>, report: &Report) -> Option<String> {
    let has_any = report.files.iter().any(|file| !file.conversations.is_empty());
    let wanted = wanted.filter(|_| report.transcripts() == 0 || !has_any)?;
    let titles = report.files.iter().flat_map(|file| &file.conversations).map(|found| found.title.as_str());
    if wanted == Options::NEXT
        && !report.files.iter().any(|file| file.conversations.iter().any(|found| found.is_sent_next))
    {
        let mut read = report.files.iter().filter_map(|file| file.format);
        let is_log = |id: &str| readers::find(id).is_some_and(|one| one.kind == SourceKind::AgentLog);
        let why = match read.any(|format| is_log(format) && NextRequest::of(format).is_some()) {
            true => "nothing that is in this log is sent next",
            false => "`--next` works only for agent logs (see `toolcheck formats`), and the input is not one",
        };
        return Some(why.to_owned());
    }
    let similar = similar(wanted, titles.clone());
    let known: Vec<String> = titles.clone().take(TITLES).map(|title| format!("`{}`", line(title))).collect();
    let known = match titles.count() {
        0 => "no file contains several conversations".to_owned(),
        count if count > TITLES => format!("there are {}, {} and others", count, known.join(", ")),
        _ => format!("there are {}", known.join(", ")),
    };
    Some(format!("there is no conversation `{}`{similar}: {known}", line(wanted)))
}
