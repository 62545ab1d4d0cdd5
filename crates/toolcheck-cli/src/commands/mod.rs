//! The subcommands.

pub(crate) mod explain;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod test;
