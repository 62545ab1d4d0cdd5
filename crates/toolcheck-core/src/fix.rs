//! Fixes that change a mistake in its place, whatever the rest of the conversation is like.

use toolcheck_json::NodeId;

/// What fixes a finding in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// What changes.
    pub changes: Vec<Change>,
    /// What it costs; `None` if nothing.
    pub cost: Option<Cost>,
    /// What is lost instead, where [`diff`](crate::diff) finds that something of what changes is.
    pub or_lost: Option<String>,
}

/// Why a fix is not safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cost {
    /// Something of the conversation or a setting is gone: this. [`diff`](crate::diff) reports it as a loss.
    Loss(String),
    /// Nothing of them is gone, but it is a guess or a risk: a clause that says which.
    Guess(String),
}

impl Cost {
    /// What is lost, or the guess.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Loss(text) | Self::Guess(text) => text,
        }
    }

    /// What is lost.
    pub fn lost(&self) -> Option<&str> {
        match self {
            Self::Loss(text) => Some(text),
            Self::Guess(_) => None,
        }
    }

    /// What is a guess.
    pub fn guess(&self) -> Option<&str> {
        match self {
            Self::Loss(_) => None,
            Self::Guess(text) => Some(text),
        }
    }

    /// Both, which is a loss if one of them is.
    fn and(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let text = format!("{}; {}", self.as_str(), other.as_str());
        match (self, other) {
            (Self::Guess(_), Self::Guess(_)) => Self::Guess(text),
            _ => Self::Loss(text),
        }
    }
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
    /// A value becomes another one that is inside it.
    Lift(NodeId, NodeId),
    /// The lists in a list become their elements.
    Flatten(NodeId),
    /// An object gets a member with this key and this JSON.
    Add(NodeId, String, String),
    /// A member moves into another object under these keys of its own, which is made where it is missing.
    Move(NodeId, Vec<String>),
    /// The halves of characters in a string become U+FFFD.
    Halves(NodeId),
    /// A message gets another before it, which is this JSON.
    Before(NodeId, String),
}

impl Change {
    /// The value that it is about.
    pub fn node(&self) -> NodeId {
        match self {
            Self::Rename(node, _)
            | Self::Remove(node)
            | Self::Write(node, _)
            | Self::Wrap(node)
            | Self::Lift(node, _)
            | Self::Flatten(node)
            | Self::Add(node, ..)
            | Self::Move(node, _)
            | Self::Before(node, _)
            | Self::Halves(node) => *node,
        }
    }
}

const MOST_CHANGES: usize = 64;

impl Fix {
    /// Changes that lose and guess nothing.
    pub fn safe(changes: impl IntoIterator<Item = Change>) -> Self {
        Self { changes: changes.into_iter().collect(), cost: None, or_lost: None }
    }

    /// Changes that lose this.
    pub fn lossy(lost: impl Into<String>, changes: impl IntoIterator<Item = Change>) -> Self {
        Self { cost: Some(Cost::Loss(lost.into())), ..Self::safe(changes) }
    }

    /// Changes that are a guess or a risk.
    pub fn guess(guess: impl Into<String>, changes: impl IntoIterator<Item = Change>) -> Self {
        Self { cost: Some(Cost::Guess(guess.into())), ..Self::safe(changes) }
    }

    /// Changes that are a guess, with which this is lost if anything of what changes was read.
    pub fn or_lossy(
        guess: impl Into<String>,
        lost: impl Into<String>,
        changes: impl IntoIterator<Item = Change>,
    ) -> Self {
        Self { or_lost: Some(lost.into()), ..Self::guess(guess, changes) }
    }

    /// Both; `None` if they are too many.
    pub fn and(mut self, other: Self) -> Option<Self> {
        self.cost = match (self.cost, other.cost) {
            (Some(one), Some(more)) => Some(one.and(more)),
            (one, more) => one.or(more),
        };
        self.or_lost = match (self.or_lost, other.or_lost) {
            (Some(one), Some(more)) if one != more => Some(format!("{one}; {more}")),
            (one, more) => one.or(more),
        };
        for change in other.changes {
            if self.changes.len() <= MOST_CHANGES && !self.changes.contains(&change) {
                self.changes.push(change);
            }
        }
        (self.changes.len() <= MOST_CHANGES).then_some(self)
    }
}
