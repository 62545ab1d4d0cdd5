//! What is wrong with a text.

use std::fmt;
use std::ops::Range;

use serde::de;

/// An error in a text, with its place if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    message: String,
    span: Option<Range<usize>>,
}

impl Error {
    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The bytes of the text that are wrong.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    /// The error with this place, if it has none: the innermost place says most.
    pub(crate) fn at(mut self, span: Range<usize>) -> Self {
        self.0.span.get_or_insert(span);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self(Box::new(Inner { message: message.to_string(), span: None }))
    }
}

impl From<toml::de::Error> for Error {
    fn from(error: toml::de::Error) -> Self {
        Self(Box::new(Inner { message: error.message().to_owned(), span: error.span() }))
    }
}
