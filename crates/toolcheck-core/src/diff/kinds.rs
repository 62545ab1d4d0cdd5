//! The kinds of changes, and how bad they are.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::names::names;
use crate::suggest::similar;

names! {
    /// How bad a change is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// It is said in another way, and read as before.
        Form = "form",
        /// Nothing is lost, but the model reads something else.
        Change = "change",
        /// Something is gone, is altered or answers another call.
        Loss = "loss",
    }
    /// The name in reports and on the command line.
    as_str, "none of `loss`, `change` and `form`"
}

impl Level {
    /// All levels, the worst first.
    pub const ALL: [Self; 3] = [Self::Loss, Self::Change, Self::Form];
}

/// Declares the kinds, in the order of the documentation.
macro_rules! kinds {
    ($($name:ident $id:literal $summary:literal)*) => {
        /// A kind of change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $summary] $name,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The id, which never changes.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// What it is, in one line.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Self::$name => $summary,)*
                }
            }
        }
    };
}

kinds! {
    CallLost "call-lost" "A tool call is gone."
    CallAdded "call-added" "There is a new tool call."
    CallDuplicated "call-duplicated" "A tool call is there once more."
    CallChanged "call-changed" "A tool call has another name or other arguments."
    CallMoved "call-moved" "A tool call is in another place."
    ResultLost "result-lost" "The result of a tool call is gone."
    ResultAdded "result-added" "A tool call has a result that it did not have."
    ResultDuplicated "result-duplicated" "A tool call has the same result once more."
    ResultChanged "result-changed" "The result of a tool call says something else."
    ResultMoved "result-moved" "A result is in another place."
    ResultReattached "result-reattached" "A result answers another tool call."
    ResultOrphaned "result-orphaned" "A result answers no tool call any more."
    TextLost "text-lost" "A text is gone."
    TextAdded "text-added" "There is a new text."
    TextChanged "text-changed" "A text says something else."
    TextMerged "text-merged" "Several texts have become one."
    TextSplit "text-split" "A text has become several."
    TextMoved "text-moved" "A text is in another place."
    RoleChanged "role-changed" "A text has another speaker."
    ReasoningLost "reasoning-lost" "Reasoning is gone."
    ReasoningAdded "reasoning-added" "There is new reasoning."
    ReasoningChanged "reasoning-changed" "Reasoning says something else."
    ReasoningMerged "reasoning-merged" "Several pieces of reasoning have become one, or one several."
    ReasoningMoved "reasoning-moved" "Reasoning is in another place."
    SignatureLost "signature-lost" "The signature of reasoning or of a call is gone or another one."
    MediaLost "media-lost" "An image, a document or another medium is gone."
    MediaAdded "media-added" "There is a new medium."
    MediaChanged "media-changed" "A medium has other data."
    MediaMoved "media-moved" "A medium is in another place."
    ErrorFlagLost "error-flag-lost" "Nothing says any more that a tool failed."
    ErrorFlagAdded "error-flag-added" "A result is marked as failed that was not."
    IdRenamed "id-renamed" "Calls have other ids, each its own."
    IdAdded "id-added" "Calls have ids that had none."
    IdLost "id-lost" "Calls have no ids any more."
    IdCollapsed "id-collapsed" "Several calls have the same id now."
    TurnMerged "turn-merged" "Turns of the model have become one, with the results after it."
    TurnSplit "turn-split" "A turn of the model has become several, with results in between."
    MessageMerged "message-merged" "A turn is written in fewer messages."
    MessageSplit "message-split" "A turn is written in more messages."
    PartLost "part-lost" "A part that this version does not know is gone."
    PartAdded "part-added" "There is a new part that this version does not know."
    ToolLost "tool-lost" "A tool is no longer declared."
    ToolAdded "tool-added" "There is a new tool."
    ToolChanged "tool-changed" "A tool is declared with another schema."
    ParameterLost "parameter-lost" "A parameter of the request is gone."
    ParameterAdded "parameter-added" "There is a new parameter."
    ParameterRenamed "parameter-renamed" "A parameter of the request is under another key."
    ParameterChanged "parameter-changed" "A parameter of the request has another value."
    ConversationLost "conversation-lost" "A conversation of the file is gone."
    ConversationAdded "conversation-added" "There is a new conversation in the file."
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self, Error> {
        let ids = Self::ALL.iter().map(|kind| kind.id());
        let found = Self::ALL.iter().copied().find(|kind| kind.id() == id);
        found.ok_or_else(|| Error::new(format!("no such kind of change{}", similar(id, ids))))
    }
}
