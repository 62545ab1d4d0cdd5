//! Details that only some formats have and only some rules check.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toolcheck_json::{JsonStr, NodeId, SyntaxErrorKind, Value};

use super::{Named, Place};
use crate::names::names;

/// Details that only some formats have and only some rules check.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Details<'s> {
    /// The marks that divide the request for the provider's cache, in the order in which the provider counts them.
    pub cache_marks: Vec<CacheMark>,
    /// The mark of the request itself.
    pub automatic_cache_mark: Option<Box<AutomaticCacheMark>>,
    /// Whether each record of the file stands within another, so that none can be added.
    pub is_wrapped: bool,
    /// Whether it is what an agent is expected to do, and nothing goes on from it.
    pub is_expected: bool,
    /// Whether it may be what a program sends, and not what its framework has kept.
    pub may_be_input: bool,
    /// Whether all calls of a turn may have one id.
    pub shares_ids: bool,
    /// Missing keys that an object needs because of another key or object.
    pub missing_keys: Vec<MissingKey<'s>>,
    /// The namespaces of calls that no tool is in.
    pub unknown_namespaces: Vec<Named<'s>>,
    /// Items that must come last in the input but do not.
    pub early_items: Vec<Place>,
    /// References inside results to parts that do not exist.
    pub dangling_references: Vec<DanglingReference>,
    /// The calls made by a program that the provider runs.
    pub programmatic_calls: Vec<ProgrammaticCall<'s>>,
    /// The input items that have an id of their own, apart from the id that pairs a call with its result.
    pub items: Vec<Item<'s>>,
    /// The ids of the items that the request refers to and the server keeps.
    pub stored_items: Vec<Named<'s>>,
    /// Whether a call may leave out its arguments, which says that there are none.
    pub absent_arguments_are_empty: bool,
    /// Whether a result may come at any time after its call.
    pub results_may_wait: bool,
    /// Whether the log says elsewhere what the model said next, so that nothing was open at the end.
    pub is_answered: bool,
    /// Whether it is what a span sent or got, which may have failed where it ends.
    pub is_of_span: bool,
    /// The row that holds the list of its messages, if that is a record or an element of a list.
    pub row: Option<NodeId>,
    /// The parts before which another answer of the model begins, in order, where that is not in a message of its own.
    pub answers: Vec<usize>,
    /// The images embedded in the document.
    pub images: Vec<Image<'s>>,
    /// The parts that are documents, if the format distinguishes them from other media. In document order.
    pub documents: Vec<Place>,
    /// The parts that are signed reasoning with only whitespace as text. In document order.
    pub blank_reasoning: Vec<Place>,
    /// The blocks of the instructions outside the messages that have no text but white space.
    pub blank_instructions: Vec<BlankInstructions>,
    /// The parts with an empty text that carry a signature. In document order.
    pub signed_blanks: Vec<Place>,
    /// The arguments that are an object where the program that wrote them writes JSON as a text, or something else where it
    /// writes an object.
    pub arguments_of_other_type: Vec<Place>,
    /// The calls in texts that a reader has found to be malformed, in the order of the file.
    pub malformed_text_calls: Vec<MalformedTextCall>,
    /// The message blocks that contain a file.
    pub files: Vec<Place>,
    /// The arguments that came in several pieces, put together, by the number of their call's part.
    pub streamed_arguments: BTreeMap<usize, String>,
    /// The events of a protocol that come when they may not.
    pub misplaced_events: Vec<MisplacedEvent>,
    /// The values in responses of a protocol that its clients refuse.
    pub wrong_values: Vec<WrongValue>,
    /// The forms that a person has filled in for a server: the schema, and what the person entered.
    pub filled_forms: Vec<(Place, Place)>,
}

/// A block of the instructions outside the messages that has no text but white space.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BlankInstructions {
    /// The block.
    pub place: Place,
    /// Whether it has no text at all.
    pub is_empty: bool,
}

impl BlankInstructions {
    pub(crate) fn of(block: Value<'_, '_>, text: Value<'_, '_>) -> Option<Self> {
        let text = text.as_json_str().filter(|text| text.is_blank())?;
        Some(Self { place: Place::of(block), is_empty: text.is_empty() })
    }
}

impl Details<'_> {
    /// The ids of the stored items that may be calls: those of reasoning and messages say that they are none.
    pub fn stored_calls(&self) -> impl Iterator<Item = &Named<'_>> {
        self.stored_items.iter().filter(|id| !id.text.starts_with("rs_") && !id.text.starts_with("msg_"))
    }

    /// Whether the conversation refers to a stored item that may be a call.
    pub fn refers_to_stored_calls(&self) -> bool {
        self.stored_calls().next().is_some()
    }
}

/// A protocol event that is sent when it is not allowed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MisplacedEvent {
    /// The event.
    pub place: Place,
    /// Its kind in the words of the protocol.
    pub kind: String,
    /// Why it may not come.
    pub why: Misplacement,
    /// What the other side says of it, if that is known.
    pub says: Option<String>,
    /// Whether a log may show it where it is none, because both sides write at the same time.
    pub is_doubtful: bool,
}

/// Why an event may not come.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misplacement {
    /// It opens something that is open.
    Open {
        /// What, in words.
        thing: String,
        /// Its id.
        id: String,
    },
    /// It belongs to something that is not open.
    NotOpen {
        /// What, in words.
        thing: String,
        /// Its id.
        id: String,
    },
    /// It ends what has parts that are still open.
    LeftOpen {
        /// What they are, in words.
        thing: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// It is the first piece of something, and lacks a key that the first piece must have.
    Unnamed {
        /// What begins, in words.
        thing: String,
        /// The key.
        key: String,
    },
    /// It begins something under an id that was used before.
    Again {
        /// What, in words.
        thing: String,
        /// Its id.
        id: String,
        /// What the other side makes of it, if it takes it.
        then: Option<String>,
    },
    /// It is sent by somebody else than what it belongs to.
    OtherSender {
        /// What that is, in words.
        thing: String,
        /// Its id.
        id: String,
    },
    /// It answers a call that was cancelled, with this id.
    Cancelled(String),
    /// It may not come while this is so.
    In(String),
}

/// A call in the text of a data set that no program can read as intended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MalformedTextCall {
    /// The tool's name, if there is one.
    pub name: Option<String>,
    /// The call, or the tag that begins it.
    pub opening: Place,
    /// What is wrong with it.
    pub malformation: Malformation,
    /// Where it is wrong.
    pub place: Place,
    /// The index of its message.
    pub message: u32,
}

/// A mark that divides a request for the provider's cache.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CacheMark {
    /// The mark.
    pub place: Place,
    /// Whether it asks for the longer of the two lifetimes; `None` if it asks for neither.
    pub is_long_lived: Option<bool>,
    /// What it is attached to.
    pub target: CacheMarkTarget,
    /// The provider's path of the marked block, if the block is in a message.
    pub path: Option<Box<str>>,
}

/// The mark of a request itself, which the provider puts on the last block.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AutomaticCacheMark {
    /// The mark.
    pub place: Place,
    /// Whether it asks for the longer of the two lifetimes; `None` if it asks for neither.
    pub is_long_lived: Option<bool>,
    /// The mark that the last block has already.
    pub own: Option<CacheMark>,
}

/// What a cache mark is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CacheMarkTarget {
    /// An ordinary block or tool.
    #[default]
    Usual,
    /// A tool that is loaded only when the model asks for it.
    DeferredTool,
    /// A message that the provider drops later.
    DroppedMessage,
    /// A block in a result, which has another mark.
    MarkedResult,
    /// A block in a result, behind which others follow.
    InsideResult,
}

/// A call made by a program that the provider runs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProgrammaticCall<'s> {
    /// The call.
    pub place: Place,
    /// The id of the provider's own call that runs the program.
    pub program: Named<'s>,
}

/// A missing key that an object needs because of another key or object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MissingKey<'s> {
    /// The case of the rule.
    pub case: &'static str,
    /// The key.
    pub key: &'static str,
    /// The object without it.
    pub place: Place,
    /// The tool that the object names.
    pub name: Option<Named<'s>>,
    /// What makes the key necessary, if that is elsewhere in the request.
    pub because: Option<Place>,
}

/// A value of another type than a protocol has.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WrongValue {
    /// The value.
    pub place: Place,
    /// Its key.
    pub key: &'static str,
    /// What it must be, in words.
    pub wants: &'static str,
    /// Whether a client is known that takes it.
    pub is_doubtful: bool,
}

/// A reference inside a result to a part that does not exist.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DanglingReference {
    /// The reference.
    pub place: Place,
    /// The provider's numbers of the message and the part.
    pub at: (u32, u32),
}

/// An input item with an id of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Item<'s> {
    /// The id.
    pub id: Named<'s>,
    /// The item's type in the words of the wire format.
    pub kind: Cow<'s, str>,
    /// Its number in the input.
    pub index: u32,
}

/// An image embedded in the document.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Image<'s> {
    /// The declared media type.
    pub media_type: Named<'s>,
    /// Its bytes in Base64.
    pub data: JsonStr<'s>,
    /// The provider's numbers of the message and the block.
    pub at: (u32, u32),
}

/// Something that a format skipped although it contains calls, results or tools.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Unread<'s> {
    /// Its place: the value of a key, or a block.
    pub place: Place,
    /// What it contains.
    pub what: UnreadKind,
    /// The key or the block's type.
    pub name: Cow<'s, str>,
    /// Whether it has a known shape of another format, rather than only a similar name.
    pub is_known: bool,
}

names! {
    /// The kind of content that was skipped.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum UnreadKind {
        /// Calls of tools.
        Calls = "tool calls",
        /// Results of calls.
        Results = "tool results",
        /// Definitions of tools.
        Tools = "tool definitions",
    }
    /// The name for messages.
    name
}

/// What is wrong with a call in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformation {
    /// It is never closed.
    Unclosed,
    /// A parameter in it is never closed.
    UnclosedParameter,
    /// Its JSON is invalid.
    Json(SyntaxErrorKind),
    /// It names no tool.
    Nameless,
    /// Its arguments are under another key than `arguments`.
    OtherKey,
}

impl Malformation {
    /// Whether the end is missing.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Unclosed | Self::UnclosedParameter)
    }
}
