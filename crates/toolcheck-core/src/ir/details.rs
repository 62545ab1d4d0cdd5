//! What single formats have and single rules look at.

use std::borrow::Cow;

use toolcheck_json::JsonStr;

use super::{Named, Place};

/// What single formats have and single rules look at.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Details<'s> {
    /// The marks that divide the request for the provider's cache, in the order in which they count.
    pub cache_marks: Vec<CacheMark>,
    /// Keys that an object needs because of another one, and does not have.
    pub missing_keys: Vec<MissingKey<'s>>,
    /// Items that must come last in the input, and do not.
    pub early_items: Vec<Place>,
    /// References inside results to parts that the results do not have.
    pub dangling_references: Vec<DanglingReference>,
    /// The calls that a program made which the provider runs.
    pub programmatic_calls: Vec<ProgrammaticCall<'s>>,
    /// The items of the input that have ids of their own, which do not pair calls.
    pub items: Vec<Item<'s>>,
    /// Whether the conversation refers to items that the server holds, one of which may be a call.
    pub refers_to_stored_items: bool,
    /// The images that are written out in the text.
    pub images: Vec<Image<'s>>,
    /// Which parts are documents, where the format tells them from other media. In the order of the text.
    pub documents: Vec<Place>,
    /// Which parts are signed reasoning whose text is only white space. In the order of the text.
    pub blank_reasoning: Vec<Place>,
    /// The blocks of messages that hold a file.
    pub files: Vec<Place>,
}

/// A mark that divides a request for the provider's cache.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CacheMark {
    /// The mark.
    pub place: Place,
    /// Whether it asks for the longer of the two lives.
    pub is_long_lived: bool,
    /// What it stands on.
    pub bearer: Bearer,
    /// The path by which the provider names the block that bears it, where that is in a message.
    pub path: Option<Box<str>>,
}

/// What a mark for the cache stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Bearer {
    /// A block or a tool like any other.
    #[default]
    Usual,
    /// A tool that is loaded only once the model asks for it.
    DeferredTool,
    /// A message that the provider drops again later.
    PassingMessage,
}

/// A call that a program made which the provider runs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProgrammaticCall<'s> {
    /// Where the call stands.
    pub place: Place,
    /// The id of the provider's own call that runs the program.
    pub program: Named<'s>,
}

/// A key that an object needs because of another one, and does not have.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MissingKey<'s> {
    /// Which of the cases of the rule it is.
    pub case: &'static str,
    /// The key.
    pub key: &'static str,
    /// The object without it.
    pub place: Place,
    /// The tool that the object names.
    pub name: Option<Named<'s>>,
    /// What makes the key necessary, where that stands elsewhere in the request.
    pub because: Option<Place>,
}

/// A reference inside a result to a part that the result does not have.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DanglingReference {
    /// The reference.
    pub place: Place,
    /// The provider's numbers of the message and the part.
    pub at: (u32, u32),
}

/// An item of the input with an id of its own.
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

/// An image that is written out in the text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Image<'s> {
    /// The media type that it says it is of.
    pub media_type: Named<'s>,
    /// Its bytes in Base64.
    pub data: JsonStr<'s>,
    /// The provider's numbers of the message and the block.
    pub at: (u32, u32),
}

/// Something that a format passed over although it holds a call, a result or tools.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Unread<'s> {
    /// Where it is: the value of a key, or a block.
    pub place: Place,
    /// What it holds.
    pub what: What,
    /// The key or the block's type.
    pub name: Cow<'s, str>,
    /// Whether it is a known shape of another format, and not only a name that sounds like one.
    pub is_known: bool,
}

/// What is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// Calls of tools.
    Calls,
    /// Results of calls.
    Results,
    /// Definitions of tools.
    Tools,
}

impl What {
    /// In words, for a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "tool calls",
            Self::Results => "tool results",
            Self::Tools => "tool definitions",
        }
    }
}
