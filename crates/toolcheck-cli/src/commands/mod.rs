//! The subcommands.

pub(crate) mod completions;
pub(crate) mod explain;
mod explain_error;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod man;
mod settings;
pub(crate) mod show;
pub(crate) mod test;

/// A number and its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
