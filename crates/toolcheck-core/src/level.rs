//! How bad a finding is.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// How bad a finding is. There are only two levels, to keep reports easy to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth reading: the target accepts it, or nobody is sure, and it does harm.
    Warning,
    /// The target refuses it, or a call or a result is lost.
    Error,
}

impl Level {
    /// The level's name in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Level {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "warning" => Ok(Self::Warning),
            "error" => Ok(Self::Error),
            _ => Err(Error::new(format!("`{name}` is neither `error` nor `warning`"))),
        }
    }
}
