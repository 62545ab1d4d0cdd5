//! Recordings and archives.

use toolcheck_lint::{Options, lint};
use toolcheck_open::{Container, Limits, Opened};

/// Opens a text that holds requests inside something else, as this kind if one is given; `None` if it is no such text and
/// none was given.
pub fn open(bytes: &[u8], container: Option<&'static Container>, limits: Limits) -> Option<Opened> {
    let opened = toolcheck_open::open_as(container, bytes, limits);
    let Some(container) = container else { return opened };
    opened
        .filter(|opened| opened.exchanges > 0 || opened.not_built.is_some() || container.is_one(bytes))
        .or_else(|| {
            let format = || lint("", bytes, &Options::new().max_findings(0)).format;
            let other = toolcheck_open::open(bytes, limits).map(|other| other.id).or_else(format);
            Some(container.not_one(other))
        })
}
