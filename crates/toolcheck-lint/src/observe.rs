//! What is read while a file is linted, for those who show it.

use toolcheck_core::readers::Conversation;
use toolcheck_core::response::Choice;
use toolcheck_json::{Document, Record, Value};

use crate::finding::Finding;

pub use crate::rule::Context;
pub use toolcheck_core::pairing::{CallSite, PairedWith, Pairing, ResultSite, Turn};

/// An observer of a file while it is linted.
pub trait Observer {
    /// The next transcript is this conversation of a file that holds several.
    fn conversation(&mut self, _conversation: &Conversation<'_>) {}

    /// The rules have looked at a transcript. `known` of its messages are also in an earlier request of the file.
    /// `is_clean` says that it is not part of an exchange, and that nothing was found in its record so far.
    fn transcript(&mut self, _context: &Context<'_, '_>, _known: usize, _is_clean: bool) {}

    /// The last transcript is the request of an exchange, and this is its response.
    fn response(&mut self, _response: &Response<'_, '_>) {}

    /// These are the conversations of a file that holds several, or of one of its records, with the findings in them.
    fn conversations(
        &mut self,
        _record: &Record<'_>,
        _document: &Document<'_>,
        _conversations: &[Conversation<'_>],
        _findings: &[Finding],
    ) {
    }

    /// A record has been linted, with these findings.
    fn record(&mut self, _record: &Record<'_>, _document: &Document<'_>, _findings: &[Finding]) {}
}

impl Observer for () {}

/// The response to a request.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response<'r, 's> {
    /// What is recorded; `None` if nothing is.
    pub value: Option<Value<'r, 's>>,
    /// The answers in it; none if it is an error, or something else.
    pub answers: &'r [Choice],
    /// The HTTP status; `None` if it is not recorded.
    pub status: Option<u16>,
}
