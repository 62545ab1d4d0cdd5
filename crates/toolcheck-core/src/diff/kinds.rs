//! The kinds of changes, and how bad they are.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::names::names;
use crate::suggest::unknown;

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
    as_str, "not one of `loss`, `change` and `form`"
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
    CallLost "call-lost" "A tool call was removed."
    CallAdded "call-added" "A tool call was added."
    CallDuplicated "call-duplicated" "A tool call was duplicated."
    CallChanged "call-changed" "The name or the arguments of a tool call changed."
    CallMoved "call-moved" "A tool call was moved."
    ResultLost "result-lost" "The result of a tool call was removed."
    ResultAdded "result-added" "A tool call was given a result."
    ResultDuplicated "result-duplicated" "The result of a tool call was duplicated."
    ResultChanged "result-changed" "The content of a result changed."
    ResultMoved "result-moved" "A result was moved."
    ResultReattached "result-reattached" "A result answers a different tool call."
    ResultOrphaned "result-orphaned" "A result no longer answers a tool call."
    TextLost "text-lost" "A text was removed."
    TextAdded "text-added" "A text was added."
    TextChanged "text-changed" "A text changed."
    TextMerged "text-merged" "Texts were merged into one."
    TextSplit "text-split" "A text was split."
    TextMoved "text-moved" "A text was moved."
    RoleChanged "role-changed" "A text has a different role."
    ReasoningLost "reasoning-lost" "Reasoning was removed."
    ReasoningAdded "reasoning-added" "Reasoning was added."
    ReasoningChanged "reasoning-changed" "Reasoning changed."
    ReasoningMerged "reasoning-merged" "Reasoning was merged or split."
    ReasoningMoved "reasoning-moved" "Reasoning was moved."
    SignatureLost "signature-lost" "The signature of reasoning or of a call was removed or changed."
    MediaLost "media-lost" "An image, document or other medium was removed."
    MediaAdded "media-added" "An image, document or other medium was added."
    MediaChanged "media-changed" "An image, document or other medium has different data."
    MediaMoved "media-moved" "An image, document or other medium was moved."
    ErrorFlagLost "error-flag-lost" "The mark that a tool failed was removed."
    ErrorFlagAdded "error-flag-added" "A result was marked as failed."
    IdRenamed "id-renamed" "Call ids were renamed consistently."
    IdAdded "id-added" "Calls without ids were given ids."
    IdLost "id-lost" "Calls no longer have ids."
    IdCollapsed "id-collapsed" "Several calls now have the same id."
    TurnMerged "turn-merged" "Turns of the model were merged, with their results after them."
    TurnSplit "turn-split" "A turn of the model was split, with results in between."
    MessageMerged "message-merged" "A turn is written in fewer messages."
    MessageSplit "message-split" "A turn is written in more messages."
    PartLost "part-lost" "A part of an unknown type was removed."
    PartAdded "part-added" "A part of an unknown type was added."
    ToolLost "tool-lost" "A tool is no longer declared."
    ToolAdded "tool-added" "A tool was added."
    ToolChanged "tool-changed" "The description, the schema or `strict` of a tool changed."
    ParameterLost "parameter-lost" "A parameter of the request was removed."
    ParameterAdded "parameter-added" "A parameter of the request was added."
    ParameterRenamed "parameter-renamed" "A parameter of the request was moved to another key."
    ParameterChanged "parameter-changed" "The value of a parameter changed."
    ConversationLost "conversation-lost" "A conversation was removed from the file."
    ConversationAdded "conversation-added" "A conversation was added to the file."
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
        found.ok_or_else(|| Error::new(unknown("kind of change", id, ids)))
    }
}
