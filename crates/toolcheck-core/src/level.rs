//! How bad a finding is.

use crate::names::names;

names! {
    /// How bad a finding is. There are only two levels, to keep reports easy to act on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// Worth reading: the target accepts it, or nobody is sure, and it does harm.
        Warning = "warning",
        /// The target refuses it, or a call or a result is lost.
        Error = "error",
    }
    /// The level's name in reports and on the command line.
    as_str, "neither `error` nor `warning`"
}
