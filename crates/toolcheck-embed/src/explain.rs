//! What an API's error means.

use toolcheck_lint::{lint, lint_opened};
use toolcheck_open::Limits;
use toolcheck_report::explained::Explained;

use crate::open::open;

/// What an API's error means and, if there is a request, what in it causes the error.
///
/// ```
/// use toolcheck_embed::explain_error;
///
/// let explained = explain_error("messages: at least one message is required", Some(br#"{"messages": []}"#));
/// assert!(explained.is_explained());
/// ```
#[must_use]
pub fn explain_error(error: &str, request: Option<&[u8]>) -> Explained {
    let Some(bytes) = request else { return Explained::new(error) };
    let opened = open(bytes, None, Limits::default());
    Explained::with_request(error, |options| match &opened {
        Some(opened) => lint_opened("request", bytes, opened, options),
        None => lint("request", bytes, options),
    })
}
