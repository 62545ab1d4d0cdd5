//! The outputs of an outline: one file each.
//!
//! To add an output, add a file and two lines here.

mod html;
mod markdown;
mod request;
pub(crate) mod text;

use std::io;

use crate::Style;
use crate::show::Outline;

/// A way to write an outline.
#[derive(Debug)]
#[non_exhaustive]
pub struct Output {
    /// The id on the command line.
    pub id: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Whether it prints the request that a conversation is, rather than an outline.
    pub is_request: bool,
    /// Writes an outline.
    pub write: fn(&Outline, &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// All outputs, by id.
pub static ALL: &[&Output] = &[&html::OUTPUT, &markdown::OUTPUT, &request::OUTPUT, &text::OUTPUT];

/// The output with this id.
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}
