//! What an API's error means.

use toolcheck_lint::Options;
use toolcheck_report::explained::Explained;

use crate::linter::Linter;

/// What an API's error means and, if there is a request, what in it causes the error.
/// If it is known which API has returned it, [`Linter::explain_error`] says more.
///
/// ```
/// use toolcheck_embed::explain_error;
///
/// let explained = explain_error("messages: at least one message is required", Some(br#"{"messages": []}"#));
/// assert!(explained.is_explained());
/// ```
pub fn explain_error(error: &str, request: Option<&[u8]>) -> Explained {
    Linter::new("request", Options::new(), []).explain_error(error, request)
}
