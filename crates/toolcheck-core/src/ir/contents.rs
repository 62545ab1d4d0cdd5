//! What a transcript contains, as a set of flags.

use super::{Body, Executor};

/// A set of the things that a transcript may contain.
///
/// It is built while a transcript is read. A check of reasoning, for example, can then skip a transcript without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Contents(u32);

impl Contents {
    /// Something every transcript has.
    pub const ANYTHING: Self = Self(1 << 0);
    /// Calls that the client runs.
    pub const CALLS: Self = Self(1 << 1);
    /// Results that the client provides.
    pub const RESULTS: Self = Self(1 << 2);
    /// Calls that the provider runs.
    pub const SERVER_CALLS: Self = Self(1 << 3);
    /// Results that the provider adds itself.
    pub const SERVER_RESULTS: Self = Self(1 << 4);
    /// Text that the other side reads, which may contain calls in plain text.
    pub const TEXT: Self = Self(1 << 5);
    /// The model's reasoning.
    pub const REASONING: Self = Self(1 << 6);
    /// Images, sounds, documents and files.
    pub const MEDIA: Self = Self(1 << 7);
    /// Parts without content.
    pub const EMPTY_PARTS: Self = Self(1 << 8);
    /// Tools, declared or referred to anywhere in the request, or something else in place of the tool list.
    pub const TOOLS: Self = Self(1 << 9);
    /// Parameters of the request: a tool choice, reasoning settings, a container.
    pub const PARAMETERS: Self = Self(1 << 10);
    /// Items with ids of their own, or the id of a response that the request continues.
    pub const ITEMS: Self = Self(1 << 11);
    /// Marks that divide the request for the provider's cache.
    pub const CACHE_MARKS: Self = Self(1 << 12);
    /// Faults in the JSON text. They belong to the document, not to the transcript.
    pub const FAULTS: Self = Self(1 << 13);
    /// The model's response, if it is recorded next to the request. It belongs to the exchange, not to the transcript.
    pub const ANSWER: Self = Self(1 << 14);

    /// What happened between the requests of a recording. It belongs to the exchange, not to the transcript.
    pub const EXCHANGE: Self = Self(1 << 15);

    /// Ids of what the server keeps: a response, a conversation or items that the request goes on from.
    pub const KEPT: Self = Self(1 << 16);

    /// The union of both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The union with `other` if `is_there`, and otherwise the set itself.
    pub const fn and_if(self, is_there: bool, other: Self) -> Self {
        if is_there { self.and(other) } else { self }
    }

    /// Whether the sets have anything in common.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

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
