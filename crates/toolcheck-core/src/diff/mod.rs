//! What a change to a conversation lost, between any two formats.
//!
//! ```
//! use toolcheck_core::diff::{Kind, Side, diff};
//! use toolcheck_core::formats;
//! use toolcheck_json::Document;
//!
//! let before = Document::read(br#"{"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}"#);
//! let after = Document::read(br#"{"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}"#);
//! let read = |document: &Document<'static>, format| formats::find(format).unwrap().read(document.root()).unwrap();
//! let (chat, gemini) = (read(&before, "openai-chat"), read(&after, "gemini"));
//! let changes = diff(&Side::new(&chat, &before), &Side::new(&gemini, &after)).changes;
//! assert_eq!(changes.len(), 1);
//! assert_eq!(changes[0].kind, Kind::TextLost);
//! ```
//!
//! Both sides become sequences of events, in which results are bound to calls as the API binds them. What belongs
//! together is found by ids and content, in time that grows with the length of both, and the rest is a change. What a
//! format has no place for is data: [`Format::holds`](crate::Format::holds). [`files`] compares whole files.

mod align;
mod canonical;
mod changes;
mod content;
mod counterparts;
mod events;
pub mod files;
mod kinds;

mod side_by_side;

use serde::Serialize;

use crate::ir::Place;
use crate::text::Line;

pub use align::longest_increasing;
pub use events::Side;
use events::{Event, EventKind};
pub use kinds::{Kind, Level};
pub use side_by_side::{Entry, Mark, Part, PartKind, Row, SideBySide};

/// What changed between two transcripts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Diff {
    /// The changes, the worst first.
    pub changes: Vec<Change>,
    /// How much there is, and how much of it is kept.
    pub counts: Counts,
    /// Both sides next to each other, where they differ.
    pub picture: SideBySide,
    /// How many times an event was looked at. It grows as the number of events, which is what tests of the cost check.
    pub steps: usize,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What happened.
    pub kind: Kind,
    /// How bad it is.
    pub level: Level,
    /// Whether the format after has no place for what was before, so that it is only a matter of form.
    pub inexpressible: bool,
    /// The place before; `None` if it is new.
    pub before: Option<Place>,
    /// The place after; `None` if it is gone.
    pub after: Option<Place>,
    /// What it is about: the name of a tool, an id, a length; never a value.
    pub about: Line,
    /// How many parts it is about.
    pub count: usize,
}

/// How much there is of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// On the side before.
    pub before: usize,
    /// On the side after.
    pub after: usize,
    /// How much of what was before is kept.
    pub kept: usize,
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Tool calls that the client carries out.
    pub calls: Count,
    /// Their results.
    pub results: Count,
    /// Texts.
    pub texts: Count,
    /// Pieces of reasoning.
    pub reasoning: Count,
    /// Images, documents and other media.
    pub media: Count,
}

impl Counts {
    /// All counts, with their names.
    pub fn named(&self) -> [(&'static str, Count); 5] {
        [
            ("calls", self.calls),
            ("results", self.results),
            ("texts", self.texts),
            ("reasoning", self.reasoning),
            ("media", self.media),
        ]
    }

    /// Counts events on one side, or those that are kept.
    fn count<'e, 's: 'e>(
        &mut self,
        events: impl IntoIterator<Item = &'e Event<'s>>,
        part: fn(&mut Count) -> &mut usize,
    ) {
        for event in events {
            let count = match event.sort {
                EventKind::Call => &mut self.calls,
                EventKind::Result => &mut self.results,
                EventKind::Text => &mut self.texts,
                EventKind::Reasoning => &mut self.reasoning,
                EventKind::Media => &mut self.media,
                EventKind::ServerCall | EventKind::ServerResult | EventKind::Part => continue,
            };
            *part(count) += 1;
        }
    }

    /// Adds the counts of another conversation.
    pub fn add(&mut self, other: &Self) {
        let own = [&mut self.calls, &mut self.results, &mut self.texts, &mut self.reasoning, &mut self.media];
        for (own, (_, other)) in own.into_iter().zip(other.named()) {
            own.before += other.before;
            own.after += other.after;
            own.kept += other.kept;
        }
    }
}

/// Compares two transcripts.
pub fn diff<'s>(before: &Side<'_, 's>, after: &Side<'_, 's>) -> Diff {
    let is_one_family = before.family() == after.family();
    let events = [events::Events::of(before), events::Events::of(after)];
    let paired = counterparts::Paired::new(&events[0], &events[1], is_one_family);
    let (found, counts) = changes::find(before, after, &paired, is_one_family);
    let picture = SideBySide::new(&paired, &found);
    let changes = found.into_iter().map(|found| found.change).collect();
    Diff { changes, counts, picture, steps: paired.pairs.steps }
}

impl Diff {
    /// The worst level of a change; `None` if there is none.
    pub fn level(&self) -> Option<Level> {
        self.changes.iter().map(|change| change.level).max()
    }
}
