//! The subcommands.

pub(crate) mod explain;
mod explain_error;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod test;
