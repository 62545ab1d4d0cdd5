//! The rules whose findings can be fixed, and how.

use toolcheck_core::formats::{self, Format};
use toolcheck_core::readers::{self, Conversation, Mend};

/// A rule with what its safe fix does and what its unsafe one does, of which either may be empty, and why neither is
/// possible where the target refuses what is found and nothing more special is known.
type Entry = (&'static str, &'static str, &'static str, &'static str);

static FIXED: &[Entry] = &[
    (
        "blank-text",
        "A blank block beside others is removed.",
        "A marked one too, and a message that has nothing else.",
        "the message has nothing else, and the conversation needs the message",
    ),
    (
        "conflicting-parameters",
        "",
        "The key that the other forbids is removed, if it need not be there.",
        "either of the two may be meant, or one of them must be there",
    ),
    (
        "detached-reasoning",
        "",
        "The reasoning is removed.",
        "the reasoning is not a part of a message of a known form",
    ),
    (
        "duplicate-item-id",
        "An item that is the same again is removed.",
        "Of two different items, the second loses its id.",
        "the items are not in a list",
    ),
    (
        "duplicate-key",
        "The first of two equal values is removed.",
        "Of two different values, the last stays, as with most parsers.",
        "the key is there more than twice",
    ),
    (
        "duplicate-tool-call-id",
        "The later call and its result get an id of their own.",
        "The same, where a program or stored items may refer to the id.",
        "the later call has no result of its own, so that it is not known whose the result is",
    ),
    (
        "duplicate-tool-definition",
        "A definition that is the same again is removed.",
        "",
        "the two definitions differ, and nobody knows which is meant",
    ),
    (
        "duplicate-tool-result",
        "A second result that is the same again is removed, and so is one that only says that there is none.",
        "Of two different results, the content of the second is put after that of the first; `--duplicates` keeps the `first` or the `last`.",
        "the two results differ and cannot be joined; `--duplicates first` or `last` keeps one",
    ),
    (
        "empty-content",
        "A message that has nothing to say is removed, an empty list beside calls too, and an empty result says `(no output)`.",
        "A message with other keys is removed too.",
        "nobody knows what it was to say, and the conversation needs the message",
    ),
    ("empty-tool-calls", "The key is removed.", "", "the list is not in a message of a known form"),
    ("empty-tool-list", "The key is removed.", "", "the list is not where a request has its tools"),
    (
        "first-message-role",
        "",
        "What the model says before the user does is removed, if it is only text.",
        "what the model says first is more than text, and what follows belongs to it",
    ),
    (
        "invalid-arguments-json",
        "An empty text becomes `{}`.",
        "Any other text is kept inside `{\"INVALID_JSON\": …}`.",
        "the arguments are not a text",
    ),
    (
        "invalid-cache-mark",
        "The mark is removed; of too many, the first ones.",
        "",
        "which of the marks is meant is not known",
    ),
    (
        "invalid-result-content",
        "An object becomes the text of its JSON, and a text the block with it, where the API takes nothing else.",
        "",
        "it takes more than another spelling",
    ),
    (
        "invalid-tool-schema",
        "A value that is only quoted wrongly, a key with other separators or case, and a constant that is missing are written as they should be.",
        "A key that may not be there is removed, and what is nearly the same as an allowed word becomes that.",
        "what the schema is to say is not known",
    ),
    (
        "invalid-value",
        "The value becomes the one that is known to be meant.",
        "A value that is nearly the same as an allowed one becomes that.",
        "which allowed value is meant is not known",
    ),
    (
        "late-tool-result",
        "The result is moved back over what the user said.",
        "The result is moved back over what the model said before it saw the result.",
        "the turn of its call has no place for the result",
    ),
    (
        "lone-surrogate",
        "U+FFFD stands for each half of a character.",
        "",
        "the text is not written as JSON here",
    ),
    (
        "malformed-item-id",
        "The id is removed: an item needs none.",
        "The same, where the server may know the item by its id.",
        "the id is not a member of an item",
    ),
    (
        "malformed-tool-call-id",
        "The call and its results get an id that is made from the old one.",
        "The same, where a program or stored items may refer to the id.",
        "the call with the id has no result of its own, or the id is not text",
    ),
    ("media-type-mismatch", "The type becomes that of the data.", "", "what the data are is not known"),
    (
        "misplaced-tool-result",
        "Results are put before the other content of their turn.",
        "A result is moved out of a message of the model.",
        "the call of the result is not in the turn before it",
    ),
    (
        "missing-field",
        "A key that is there under another name is renamed, and a constant is added.",
        "Arguments that are missing become `{}`, and a key becomes the only one that is missing.",
        "what the key is to hold is not known",
    ),
    (
        "missing-parameter",
        "A key that is there under another name is renamed.",
        "A key becomes the only one that is missing.",
        "what the parameter is to be is not known",
    ),
    (
        "missing-tool-call-id",
        "A key with the id of the other half is renamed.",
        "",
        "no id is made up for a call or a result that has none",
    ),
    (
        "orphan-tool-result",
        "",
        "The result gets the id of the unanswered call in whose place it is, or becomes text of the user; `--orphans drop` removes it.",
        "the result is not in a message of a known form",
    ),
    (
        "reordered-tool-results",
        "Results that name their calls are put into the order of the calls.",
        "",
        "the results do not name their calls",
    ),
    (
        "reused-tool-call-id",
        "The later call and its result get an id of their own.",
        "The same, where a program or stored items may refer to the id.",
        "the later call has no result of its own, so that it is not known whose the result is",
    ),
    (
        "split-assistant-turn",
        "The messages are merged into the first.",
        "Two texts are joined with a blank line, where a message has only one string.",
        "the messages are not of a known form",
    ),
    (
        "split-tool-results",
        "The results are put into the first message of their turn.",
        "",
        "the results are not in messages of a known form",
    ),
    (
        "tool-name-mismatch",
        "A result that names its call gets the name of the call's tool.",
        "",
        "the result does not name its call, so that either name may be right",
    ),
    ("trailing-assistant", "", "The message is removed.", "the message is not in a list"),
    ("trailing-white-space", "The white space is removed.", "", "the text is not written as one string"),
    (
        "unanswered-tool-call",
        "A result is inserted that says that there is none.",
        "The same in a data set, where a model would learn from it. `--unanswered drop` removes the call.",
        "the call is at the open end, where its tool may still be running",
    ),
    (
        "unknown-content-type",
        "A type that is known to be meant, or is only written in other case or separators.",
        "A type that is nearly the same as an allowed one becomes that.",
        "which known type is meant is not known",
    ),
    (
        "unknown-field",
        "A key that is known to be meant is renamed, and one without a value is removed.",
        "Any other key is removed, or becomes a key that is nearly the same.",
        "what it says is to be said in another way",
    ),
    (
        "unknown-role",
        "The role becomes the one that is known to be meant.",
        "",
        "which known role is meant is not known",
    ),
    (
        "unread-content",
        "A key that only is spelled in another way is renamed.",
        "",
        "there is no fix for what cannot be read",
    ),
    (
        "unsigned-reasoning",
        "",
        "The reasoning is removed.",
        "the reasoning is not a part of a message of a known form",
    ),
    (
        "wrong-arguments-type",
        "Text becomes the object that it spells, or an object its text.",
        "",
        "the arguments are not the JSON of an object",
    ),
    (
        "wrong-type",
        "A value that is only quoted wrongly is written as it should be, an object as JSON in a string and a text as its block where nothing else is taken, a single element is put into a list, and `null` is removed where nothing need be.",
        "",
        "it takes more than another spelling",
    ),
];

/// Whether a finding of this rule can be fixed, at least in some cases.
#[must_use]
pub fn is_fixable(rule: &str) -> bool {
    FIXED.iter().any(|(id, ..)| *id == rule)
}

/// What `toolcheck fix` does to findings of this rule, in Markdown; `None` if nothing.
#[must_use]
pub fn describe(rule: &str) -> Option<String> {
    let (_, safe, lossy, _) = FIXED.iter().find(|(id, ..)| *id == rule)?;
    let lossy = if lossy.is_empty() { String::new() } else { format!("With `--unsafe-fixes`: {lossy}") };
    let parts: Vec<&str> = [*safe, &*lossy].into_iter().filter(|part| !part.is_empty()).collect();
    Some(parts.join("\n"))
}

/// Why a finding of this rule is not fixed where others are.
pub(crate) fn otherwise(rule: &str) -> &'static str {
    FIXED.iter().find(|(id, ..)| *id == rule).map_or("there is no fix here", |(.., otherwise)| otherwise)
}

/// Whether the help of a finding of this rule is what there is to do, and is said in its reason.
pub(crate) fn is_told(rule: &str) -> bool {
    matches!(
        rule,
        "unknown-field"
            | "missing-field"
            | "missing-parameter"
            | "wrong-type"
            | "invalid-result-content"
            | "invalid-tool-schema"
    )
}

/// Rules without a fix for which there is more to say.
static WITHOUT_FIX: &[(&str, &str)] = &[
    ("foreign-shape", "there is no fix: a conversation is not translated to another API"),
    ("unknown-tool", "there is no fix: no tool is made up"),
    ("unrecognised-format", "there is no fix for what cannot be read"),
];

/// Why a finding of a rule without a fix is left.
pub(crate) fn without_fix(rule: &str) -> &'static str {
    WITHOUT_FIX.iter().find(|(id, _)| *id == rule).map_or("there is no fix for this rule", |(_, why)| why)
}

/// The format of a conversation's messages, and how its file is written.
pub(crate) fn writer_of(conversation: &Conversation<'_>) -> Option<(&'static Format, Option<&'static Mend>)> {
    let id = conversation.transcript.format?.id;
    match readers::find(id) {
        Some(reader) => reader.mend().map(|mend| (mend.format, Some(mend))),
        None => Some((formats::find(id)?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::{FIXED, describe};
    use crate::rules;

    #[test]
    fn rules_without_a_fix_exist_and_have_none() {
        for (id, _) in super::WITHOUT_FIX {
            assert!(rules::find(id).is_some() && describe(id).is_none(), "{id}");
        }
    }

    #[test]
    fn every_rule_is_there_once_and_says_what_is_done() {
        for pair in FIXED.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} is in order", pair[1].0);
        }
        for (id, safe, lossy, otherwise) in FIXED {
            assert!(rules::find(id).is_some(), "{id}");
            assert!(!(safe.is_empty() && lossy.is_empty()), "{id}");
            assert!(!otherwise.is_empty() && !otherwise.ends_with('.'), "{id}");
            assert!(describe(id).is_some_and(|text| text.ends_with('.')), "{id}");
        }
    }
}
