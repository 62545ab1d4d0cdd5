//! What a transcript contains, as a set of flags.

use super::{Body, Executor};

/// A set of the things that a transcript may contain.
///
/// Reading a transcript makes one, so that what looks at reasoning, say, need not walk through a transcript without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Contents(u16);

impl Contents {
    /// What every transcript has.
    pub const ANYTHING: Self = Self(1 << 0);
    /// Calls that the client runs.
    pub const CALLS: Self = Self(1 << 1);
    /// Results that the client brings.
    pub const RESULTS: Self = Self(1 << 2);
    /// Calls that the provider runs.
    pub const SERVER_CALLS: Self = Self(1 << 3);
    /// Results that the provider brings.
    pub const SERVER_RESULTS: Self = Self(1 << 4);
    /// Text that the other side reads, which may contain calls in plain text.
    pub const TEXT: Self = Self(1 << 5);
    /// The model's reasoning.
    pub const REASONING: Self = Self(1 << 6);
    /// Images, sounds, documents and files.
    pub const MEDIA: Self = Self(1 << 7);
    /// Parts without any content.
    pub const EMPTY_PARTS: Self = Self(1 << 8);
    /// Tools, wherever they are declared or referred to, or something in place of their list.
    pub const TOOLS: Self = Self(1 << 9);
    /// Parameters of the request: a tool choice, how the model reasons, a container.
    pub const PARAMETERS: Self = Self(1 << 10);
    /// Items with ids of their own, and the id of a response that the request continues.
    pub const ITEMS: Self = Self(1 << 11);
    /// Marks that divide the request for the provider's cache.
    pub const CACHE_MARKS: Self = Self(1 << 12);
    /// Faults of the JSON text. The document has them, not the transcript.
    pub const FAULTS: Self = Self(1 << 13);
    /// What the model had answered, where that is recorded beside the request. The exchange has it, not the transcript.
    pub const ANSWER: Self = Self(1 << 14);

    /// The things of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set with `other`, where that is there.
    #[must_use]
    pub const fn and_if(self, is_there: bool, other: Self) -> Self {
        if is_there { self.and(other) } else { self }
    }

    /// Whether the sets have anything in common.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What a part is.
    pub(super) fn of_part(body: &Body<'_>) -> Self {
        let by = |executor, client, server| if executor == Executor::Client { client } else { server };
        match body {
            Body::Text(_) => Self::TEXT,
            Body::Call(call) => by(call.executor, Self::CALLS, Self::SERVER_CALLS),
            Body::Result(result) => by(result.executor, Self::RESULTS, Self::SERVER_RESULTS),
            Body::Reasoning(_) => Self::REASONING,
            Body::Media => Self::MEDIA,
            Body::Empty => Self::EMPTY_PARTS,
            Body::Opaque => Self::ANYTHING,
        }
    }
}
