//! The plan of what fixes a record, from its findings and from which result answers which call.
//!
//! It is made once, in a fixed order, and says what is fixed, what only an unsafe fix would fix, and the new text.

mod arrange;
mod blocks;
mod gaps;
mod ids;
mod in_place;
mod moves;
mod options;
mod plan;
mod results;
mod sources;
mod turns;
mod write;

pub use self::options::{Duplicates, FixOptions, FixPlace, Orphans, Unanswered};
pub(crate) use self::plan::{Planned, REPAIRED};
pub(crate) use self::sources::{
    Way, can_fix, is_whole, is_whole_or_lines, is_written, outcome, plan_conversations, plan_request,
};

/// What was done to fix a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Action {
    /// A result that says that there is none was inserted.
    Inserted,
    /// Something was moved as it is.
    Moved,
    /// What belongs together was put into one message.
    Merged,
    /// Something was removed.
    Removed,
    /// An id was replaced, at the call and at its results.
    Renamed,
    /// A result got the id of the call that it probably answers.
    Reattached,
    /// A result became text of the user.
    BecameText,
    /// A value is written in another way.
    Rewritten,
}

impl Action {
    /// The past participle of what was done.
    pub fn as_str(self) -> &'static str {
        self.words().0
    }

    /// What to do, for a menu: "insert what is missing".
    pub fn imperative(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Inserted => ("inserted", "insert what is missing"),
            Self::Moved => ("moved", "move it to its place"),
            Self::Merged => ("merged", "merge the messages"),
            Self::Removed => ("removed", "remove it"),
            Self::Renamed => ("renamed", "give it another id"),
            Self::Reattached => ("re-attached", "give it the id of its call"),
            Self::BecameText => ("turned into text", "turn it into text"),
            Self::Rewritten => ("rewritten", "rewrite it"),
        }
    }
}
