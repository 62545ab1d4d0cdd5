//! The error of most crates.

use std::fmt;
use std::ops::Range;

use toolcheck_json::locate;

use crate::suggest::in_place_of_list;

/// Text that cannot be read or used: the file of a target, a name that does not exist, a pattern, a schema, a script, an
/// expectation or a report.
///
/// The message may quote the text as it is; [`text::shown`](crate::text::shown) makes it safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<str>);

impl Error {
    /// An error with this message.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self(message.into())
    }

    /// What a TOML reader says about a text, after the line and the column if they are known.
    pub fn in_toml(text: &str, span: Option<Range<usize>>, message: &str) -> Self {
        let message = in_place_of_list(message);
        Self::new(match span {
            Some(span) => {
                let at = locate(text.as_bytes(), &[span.start])[0];
                format!("{}:{}: {message}", at.line, at.column)
            }
            None => message,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
