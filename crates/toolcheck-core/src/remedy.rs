//! Changes that fix a mistake in the place where it is, whatever the rest of the conversation is like.

use toolcheck_json::NodeId;

/// What fixes a finding in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remedy {
    /// What changes.
    pub changes: Vec<Change>,
    /// What is lost or guessed; `None` if nothing is.
    pub lost: Option<String>,
}

/// A change in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A member gets another key.
    Rename(NodeId, String),
    /// A member is removed from its object, or an element from its list.
    Remove(NodeId),
    /// A value becomes this JSON, which is on one line.
    Write(NodeId, String),
    /// A value becomes the only element of a list.
    Wrap(NodeId),
    /// An object gets a member with this key and this JSON.
    Add(NodeId, String, String),
    /// A member moves into another object under these keys of its own, which is made where it is missing.
    Move(NodeId, Vec<String>),
    /// The halves of characters in a string become U+FFFD.
    Halves(NodeId),
}

impl Change {
    /// The value that it is about.
    #[must_use]
    pub fn node(&self) -> NodeId {
        match self {
            Self::Rename(node, _)
            | Self::Remove(node)
            | Self::Write(node, _)
            | Self::Wrap(node)
            | Self::Add(node, ..)
            | Self::Move(node, _)
            | Self::Halves(node) => *node,
        }
    }
}

/// The most changes that fix one finding.
const MOST_CHANGES: usize = 64;

impl Remedy {
    /// Changes that lose and guess nothing.
    #[must_use]
    pub fn safe(changes: impl IntoIterator<Item = Change>) -> Self {
        Self { changes: changes.into_iter().collect(), lost: None }
    }

    /// Changes that lose or guess this.
    #[must_use]
    pub fn lossy(lost: impl Into<String>, changes: impl IntoIterator<Item = Change>) -> Self {
        Self { changes: changes.into_iter().collect(), lost: Some(lost.into()) }
    }

    /// Both; `None` if they are too many.
    #[must_use]
    pub fn and(mut self, other: Self) -> Option<Self> {
        self.lost = match (self.lost, other.lost) {
            (Some(one), Some(more)) if one == more => Some(one),
            (Some(one), Some(more)) => Some(format!("{one}; {more}")),
            (one, more) => one.or(more),
        };
        self.changes.extend(other.changes);
        (self.changes.len() <= MOST_CHANGES).then_some(self)
    }
}
