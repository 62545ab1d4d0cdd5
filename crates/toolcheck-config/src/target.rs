//! The target to check against.

use std::path::PathBuf;

use toolcheck_core::targets::Target;
use toolcheck_lint::TargetRef;

/// A target, or the file to read it from.
#[derive(Debug, Clone)]
pub enum TargetSource {
    /// A target that is ready to use.
    Loaded(TargetRef),
    /// The file that describes the user's own target.
    File(PathBuf),
}

impl From<TargetRef> for TargetSource {
    fn from(target: TargetRef) -> Self {
        Self::Loaded(target)
    }
}

impl From<&'static Target> for TargetSource {
    fn from(target: &'static Target) -> Self {
        Self::Loaded(TargetRef::BuiltIn(target))
    }
}
