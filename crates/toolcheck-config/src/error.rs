//! The error of this crate.

use std::fmt;

use toolcheck_json::Position;

/// The maximum length of a message, which may quote a key or value of any length.
pub(crate) const MAX_MESSAGE: usize = 640;

/// An error in a configuration, target, baseline or pattern: its first problem with its place, and
/// [all others](Self::all).
///
/// Displayed, it is one line without the other errors: `line:column: message`, or only the message if there is no
/// place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    position: Option<Position>,
    message: String,
    /// The other errors, in the order of the file.
    others: Vec<Error>,
}

impl Error {
    /// An error without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { position: None, message: message.into(), others: Vec::new() }
    }

    /// An error at a place in a text.
    pub(crate) fn at(position: Position, message: impl Into<String>) -> Self {
        Self { position: Some(position), ..Self::new(message) }
    }

    /// The error with others that come after it in the file.
    pub(crate) fn with_others(self, others: Vec<Self>) -> Self {
        Self { others, ..self }
    }

    /// The line and column; `None` if the error is about a pattern and not about a file.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// This error and the others of the file, in its order.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.position {
            write!(f, "{}:{}: ", at.line, at.column)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
