//! What a check says of a run, whether or not it must be so.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    Met,
    /// It is not, for this reason.
    Broken(String),
    /// The run does not show it, for this reason.
    Inconclusive(String),
}

impl Judgement {
    /// This one, unless nothing is wrong: then another.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Met { other() } else { self }
    }
}

/// What is wrong, if something is.
impl From<Option<String>> for Judgement {
    fn from(wrong: Option<String>) -> Self {
        wrong.map_or(Self::Met, Self::Broken)
    }
}
