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
