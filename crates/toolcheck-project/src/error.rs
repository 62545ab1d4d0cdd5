//! The error of this crate.

use std::fmt;
use std::path::{Path, PathBuf};

use toolcheck_core::text::{reason, shown};
use toolcheck_json::Position;

/// An input, a configuration or an option that cannot be used.
///
/// The message is safe to print: it has no control characters but the line breaks between its own lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    faults: Vec<SettingsFault>,
}

/// What is wrong in a file of settings, for editors, which show it there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SettingsFault {
    /// The file.
    pub path: PathBuf,
    /// The place; `None` if it is the file as a whole.
    pub position: Option<Position>,
    /// The message, on one line that is safe to print.
    pub message: String,
}

/// The separator between the errors of one file.
const SEPARATOR: &str = "\nerror: ";

impl Error {
    /// Creates an error. Text that the message quotes must already be on one line: line breaks are the message's own.
    pub(crate) fn new(message: impl AsRef<str>) -> Self {
        let lines: Vec<String> = message.as_ref().split('\n').map(shown).collect();
        Self { message: lines.join("\n"), faults: Vec::new() }
    }

    /// The errors in a file of settings, each on its own line, like all other errors.
    pub(crate) fn in_file(path: &Path, name: &str, error: &toolcheck_config::Error) -> Self {
        let lines: Vec<String> = error.all().map(|error| format!("{name}:{error}")).collect();
        let fault = |error: &toolcheck_config::Error| SettingsFault {
            path: path.to_owned(),
            position: error.position(),
            message: shown(error.message()),
        };
        Self { faults: error.all().map(fault).collect(), ..Self::new(lines.join(SEPARATOR)) }
    }

    /// A file of settings that can't be used as a whole.
    pub(crate) fn of_file(path: &Path, name: &str, message: &str) -> Self {
        let fault = SettingsFault { path: path.to_owned(), position: None, message: shown(message) };
        Self { faults: vec![fault], ..Self::new(format!("{name}: {message}")) }
    }

    /// The same with words before it.
    pub(crate) fn after(self, words: &str) -> Self {
        Self { message: format!("{words}{}", self.message), ..self }
    }

    /// The same with the faults that are behind it.
    pub(crate) fn with_faults_of(mut self, cause: Self) -> Self {
        self.faults.extend(cause.faults);
        self
    }

    pub(crate) fn on_one_line(&self) -> String {
        self.message.replace(SEPARATOR, "; ")
    }

    pub(crate) fn first_line(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// The same with what is wrong where the file is named, if nothing is wrong inside of it.
    pub(crate) fn with_faults(self, faults: impl FnOnce(&Self) -> Vec<SettingsFault>) -> Self {
        let faults = if self.faults.is_empty() { faults(&self) } else { self.faults };
        Self { faults, ..self }
    }

    /// What is wrong in files of settings; empty if it is about something else, such as an option.
    pub fn faults(&self) -> &[SettingsFault] {
        &self.faults
    }

    pub(crate) fn caused(message: impl fmt::Display, cause: &(dyn std::error::Error + 'static)) -> Self {
        // A cause may quote a path as it is.
        Self::new(format!("{message}: {}", shown(&reason(cause))))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
