//! The rules whose findings can be fixed, and how.

use toolcheck_core::formats::{self, Format};
use toolcheck_core::readers::{self, Conversation, Mend};

/// A rule with what its safe fix does and what its unsafe one does. Either may be empty.
type Entry = (&'static str, &'static str, &'static str);

static FIXED: &[Entry] = &[
    (
        "blank-text",
        "A blank block beside others is removed.",
        "A marked one too, and a message that has nothing else.",
    ),
    ("conflicting-parameters", "", "The key that the other forbids is removed, if it need not be there."),
    ("detached-reasoning", "", "The reasoning is removed."),
    (
        "duplicate-item-id",
        "An item that is the same again is removed.",
        "Of two different items, the second loses its id.",
    ),
    (
        "duplicate-key",
        "The first of two equal values is removed.",
        "Of two different values, the last stays, as with most parsers.",
    ),
    (
        "duplicate-tool-call-id",
        "The later call and its result get an id of their own.",
        "The same, where a program or stored items may refer to the id.",
    ),
    ("duplicate-tool-definition", "A definition that is the same again is removed.", ""),
    (
        "duplicate-tool-result",
        "A second result that is the same again is removed, and so is one that only says that there is none.",
        "Of two different results, the content of the second is put after that of the first; `--duplicates` keeps the `first` or the `last`.",
    ),
    (
        "empty-content",
        "A message that has nothing to say is removed, an empty list beside calls too, and an empty result says `(no output)`.",
        "A message with other keys is removed too.",
    ),
    ("empty-tool-calls", "The key is removed.", ""),
    ("empty-tool-list", "The key is removed.", ""),
    ("first-message-role", "", "What the model says before the user does is removed, if it is only text."),
    (
        "invalid-arguments-json",
        "An empty text becomes `{}`.",
        "Any other text is kept inside `{\"INVALID_JSON\": …}`.",
    ),
    ("invalid-cache-mark", "The mark is removed; of too many, the first ones.", ""),
    (
        "invalid-tool-schema",
        "A value that is only quoted wrongly, a key with other separators or case, and a constant that is missing are written as they should be.",
        "A key that may not be there is removed, and what is nearly the same as an allowed word becomes that.",
    ),
    (
        "invalid-value",
        "The value becomes the one that is known to be meant.",
        "A value that is nearly the same as an allowed one becomes that.",
    ),
    (
        "late-tool-result",
        "The result is moved back over what the user said.",
        "The result is moved back over what the model said before it saw the result.",
    ),
    ("lone-surrogate", "U+FFFD stands for each half of a character.", ""),
    (
        "malformed-item-id",
        "The id is removed: an item needs none.",
        "The same, where the server may know the item by its id.",
    ),
    (
        "malformed-tool-call-id",
        "The call and its results get an id that is made from the old one.",
        "The same, where a program or stored items may refer to the id.",
    ),
    ("media-type-mismatch", "The type becomes that of the data.", ""),
    (
        "misplaced-tool-result",
        "Results are put before the other content of their turn.",
        "A result is moved out of a message of the model.",
    ),
    (
        "missing-field",
        "A key that is there under another name is renamed, and a constant is added.",
        "Arguments that are missing become `{}`, and a key becomes the only one that is missing.",
    ),
    (
        "missing-parameter",
        "A key that is there under another name is renamed.",
        "A key becomes the only one that is missing.",
    ),
    (
        "orphan-tool-result",
        "",
        "The result gets the id of the unanswered call in whose place it is, or becomes text of the user; `--orphans drop` removes it.",
    ),
    ("reordered-tool-results", "Results that name their calls are put into the order of the calls.", ""),
    (
        "reused-tool-call-id",
        "The later call and its result get an id of their own.",
        "The same, where a program or stored items may refer to the id.",
    ),
    (
        "split-assistant-turn",
        "The messages are merged into the first.",
        "Two texts are joined with a blank line, where a message has only one string.",
    ),
    ("split-tool-results", "The results are put into the first message of their turn.", ""),
    ("tool-name-mismatch", "A result that names its call gets the name of the call's tool.", ""),
    ("trailing-assistant", "", "The message is removed."),
    ("trailing-white-space", "The white space is removed.", ""),
    (
        "unanswered-tool-call",
        "A result is inserted that says that there is none.",
        "The same in a data set, where a model would learn from it. `--unanswered drop` removes the call.",
    ),
    (
        "unknown-content-type",
        "A type that is known to be meant, or is only written in other case or separators.",
        "A type that is nearly the same as an allowed one becomes that.",
    ),
    (
        "unknown-field",
        "A key that is known to be meant is renamed, and one without a value is removed.",
        "Any other key is removed, or becomes a key that is nearly the same.",
    ),
    ("unknown-role", "The role becomes the one that is known to be meant.", ""),
    ("unsigned-reasoning", "", "The reasoning is removed."),
    ("wrong-arguments-type", "Text becomes the object that it spells, or an object its text.", ""),
    (
        "wrong-type",
        "A value that is only quoted wrongly is written as it should be, a single element is put into a list, and `null` is removed where nothing need be.",
        "",
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
    let (_, safe, lossy) = FIXED.iter().find(|(id, ..)| *id == rule)?;
    let lossy = if lossy.is_empty() { String::new() } else { format!("With `--unsafe-fixes`: {lossy}") };
    let parts: Vec<&str> = [*safe, &*lossy].into_iter().filter(|part| !part.is_empty()).collect();
    Some(parts.join("\n"))
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
    fn every_rule_is_there_once_and_says_what_is_done() {
        for pair in FIXED.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} is in order", pair[1].0);
        }
        for (id, safe, lossy) in FIXED {
            assert!(rules::find(id).is_some(), "{id}");
            assert!(!(safe.is_empty() && lossy.is_empty()), "{id}");
            assert!(describe(id).is_some_and(|text| text.ends_with('.')), "{id}");
        }
    }
}
