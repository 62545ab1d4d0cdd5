//! The error of this crate.

use std::fmt;

/// A name, a pattern or a schema that is not valid.
///
/// The message may quote the text as it is; [`shown`](toolcheck_core::text::shown) makes it safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<str>);

impl Error {
    /// An error with this message.
    pub(crate) fn new(message: impl Into<Box<str>>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
