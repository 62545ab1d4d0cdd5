//! The ids of rules. The rules themselves are in `toolcheck-lint`; the data of targets and shapes names them here.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! rule_ids {
    ($($variant:ident $id:literal)*) => {
        /// The id of a rule: the thing that it flags, readable after "allow". It never changes.
        ///
        /// Ids are ordered as their texts.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RuleId {
            $(
                #[doc = concat!("`", $id, "`")]
                $variant,
            )*
        }

        impl RuleId {
            /// All ids, in their order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            const TEXTS: &[&str] = &[$($id),*];
        }
    };
}

// One line for each rule, sorted.
rule_ids! {
    AbandonedCall "abandoned-call"
    AlteredArguments "altered-arguments"
    AlteredReasoning "altered-reasoning"
    ArgumentsSchemaMismatch "arguments-schema-mismatch"
    BlankLine "blank-line"
    BlankText "blank-text"
    CompletionAfterFailure "completion-after-failure"
    ConflictingParameters "conflicting-parameters"
    DetachedReasoning "detached-reasoning"
    DroppedReasoning "dropped-reasoning"
    DroppedText "dropped-text"
    DroppedToolCall "dropped-tool-call"
    DuplicateItemId "duplicate-item-id"
    DuplicateKey "duplicate-key"
    DuplicateToolCallId "duplicate-tool-call-id"
    DuplicateToolDefinition "duplicate-tool-definition"
    DuplicateToolResult "duplicate-tool-result"
    EmptyContent "empty-content"
    EmptyToolCalls "empty-tool-calls"
    EmptyToolList "empty-tool-list"
    EndlessLoop "endless-loop"
    FirstMessageRole "first-message-role"
    ForeignShape "foreign-shape"
    IgnoredRetryAfter "ignored-retry-after"
    InvalidArgumentsJson "invalid-arguments-json"
    InvalidCacheMark "invalid-cache-mark"
    InvalidResultContent "invalid-result-content"
    InvalidToolName "invalid-tool-name"
    InvalidToolSchema "invalid-tool-schema"
    InvalidUtf8 "invalid-utf8"
    InvalidValue "invalid-value"
    InvalidWeight "invalid-weight"
    LateToolResult "late-tool-result"
    LoneSurrogate "lone-surrogate"
    MalformedItemId "malformed-item-id"
    MalformedJson "malformed-json"
    MalformedServerCallId "malformed-server-call-id"
    MalformedTextCall "malformed-text-call"
    MalformedToolCallId "malformed-tool-call-id"
    MediaTypeMismatch "media-type-mismatch"
    MergedAssistantTurns "merged-assistant-turns"
    MismatchedResultKind "mismatched-result-kind"
    MisplacedEvent "misplaced-event"
    MisplacedMedia "misplaced-media"
    MisplacedMessage "misplaced-message"
    MisplacedPrefix "misplaced-prefix"
    MisplacedReasoning "misplaced-reasoning"
    MisplacedToolResult "misplaced-tool-result"
    MissingAssistantMessage "missing-assistant-message"
    MissingContainer "missing-container"
    MissingField "missing-field"
    MissingParameter "missing-parameter"
    MissingReasoning "missing-reasoning"
    MissingToolCallId "missing-tool-call-id"
    MissingToolDefinitions "missing-tool-definitions"
    MixedContent "mixed-content"
    MixedToolProtocols "mixed-tool-protocols"
    ModifiedReasoning "modified-reasoning"
    OrphanServerResult "orphan-server-result"
    OrphanToolResult "orphan-tool-result"
    OversizedCommand "oversized-command"
    OversizedContent "oversized-content"
    ParallelCallsInSerialProtocol "parallel-calls-in-serial-protocol"
    PolicyViolation "policy-violation"
    RanUnfinishedArguments "ran-unfinished-arguments"
    ReorderedToolResults "reordered-tool-results"
    RepeatedFailingCall "repeated-failing-call"
    ResultSchemaMismatch "result-schema-mismatch"
    RetriedRefusal "retried-refusal"
    ReusedToolCallId "reused-tool-call-id"
    ShellFileWrite "shell-file-write"
    SplitAssistantTurn "split-assistant-turn"
    SplitToolResults "split-tool-results"
    SwappedResults "swapped-results"
    TemplateDoubles "template-doubles"
    TemplateLoses "template-loses"
    TemplateMisbinds "template-misbinds"
    TemplatePrintsNone "template-prints-none"
    TemplateRefuses "template-refuses"
    TemplateUntrained "template-untrained"
    TooManyTools "too-many-tools"
    ToolNameMismatch "tool-name-mismatch"
    TrailingAssistant "trailing-assistant"
    TrailingWhiteSpace "trailing-white-space"
    UnansweredServerCall "unanswered-server-call"
    UnansweredToolCall "unanswered-tool-call"
    UndeclaredServerTool "undeclared-server-tool"
    UnheardToolError "unheard-tool-error"
    UnknownContentType "unknown-content-type"
    UnknownField "unknown-field"
    UnknownRole "unknown-role"
    UnknownTool "unknown-tool"
    UnknownToolReference "unknown-tool-reference"
    UnreadContent "unread-content"
    UnrecognisedFormat "unrecognised-format"
    UnresolvedReference "unresolved-reference"
    UnsignedReasoning "unsigned-reasoning"
    UnsupportedMedia "unsupported-media"
    WrongArgumentsType "wrong-arguments-type"
    WrongType "wrong-type"
}

impl RuleId {
    /// The id in kebab case, as users write it.
    pub const fn as_str(self) -> &'static str {
        Self::TEXTS[self as usize]
    }

    /// Its place in [`Self::ALL`].
    pub const fn number(self) -> usize {
        self as usize
    }

    /// The id that is written so; `None` if no rule has it.
    pub fn find(text: &str) -> Option<Self> {
        Self::TEXTS.binary_search(&text).ok().map(|number| Self::ALL[number])
    }
}

/// Compares with what a user wrote, or a test.
impl PartialEq<&str> for RuleId {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

/// Reads an id without a copy of its text.
struct Text;

impl serde::de::Visitor<'_> for Text {
    type Value = RuleId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a rule")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RuleId, E> {
        RuleId::find(text).ok_or_else(|| E::custom(format_args!("unknown rule `{text}`")))
    }
}
