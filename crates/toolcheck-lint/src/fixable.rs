//! The rules whose findings can be mended, and how.

use toolcheck_core::Level;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::readers::{self, Conversation, Mend};
use toolcheck_json::Document;

use crate::finding::{Finding, Fixable, Spot};

/// A rule with what its safe fix does and what its unsafe one does. Either may be empty.
type Entry = (&'static str, &'static str, &'static str);

static FIXED: &[Entry] = &[
    ("blank-text", "A blank block beside others is removed.", ""),
    (
        "duplicate-tool-call-id",
        "The later call and its result get an id of their own.",
        "The same, where a program or stored items may refer to the id.",
    ),
    (
        "duplicate-tool-result",
        "A second result that is the same again is removed, and so is one that only says that there is none.",
        "Of two different results, the content of the second is put after that of the first; `--duplicates` keeps the `first` or the `last`.",
    ),
    ("empty-tool-calls", "The key is removed.", ""),
    ("empty-tool-list", "The key is removed.", ""),
    (
        "invalid-arguments-json",
        "An empty text becomes `{}`.",
        "Any other text is kept inside `{\"INVALID_JSON\": …}`.",
    ),
    (
        "late-tool-result",
        "The result is moved back over what the user said.",
        "The result is moved back over what the model said before it saw the result.",
    ),
    (
        "malformed-tool-call-id",
        "The call and its results get an id that is made from the old one.",
        "The same, where a program or stored items may refer to the id.",
    ),
    (
        "misplaced-tool-result",
        "Results are put before the other content of their turn.",
        "A result is moved out of a message of the model.",
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
    (
        "unanswered-tool-call",
        "A result is inserted that says that there is none.",
        "The same in a data set, where a model would learn from it. `--unanswered drop` removes the call.",
    ),
    ("wrong-arguments-type", "Text becomes the object that it spells, or an object its text.", ""),
];

/// Rules whose safe fix is the exception.
const MOSTLY_UNSAFE: [&str; 1] = ["invalid-arguments-json"];

/// Says of each finding in a record of messages how it may be mended. `is_log` is for files that no API judges, where
/// warnings are mended too.
pub(crate) fn mark(findings: &mut [Finding], document: &Document<'_>, kind: TranscriptKind, is_log: bool) {
    for finding in findings.iter_mut().filter(|finding| is_log || finding.level == Level::Error) {
        let Some((id, safe, _)) = FIXED.iter().find(|(id, ..)| *id == finding.rule) else { continue };
        // A model would learn from what is made up.
        let is_made_up = kind == TranscriptKind::Dataset && *id == "unanswered-tool-call";
        // Of two different results, one would be lost.
        let raw = |spot: &Spot| document.value(spot.node).raw();
        let differs = *id == "duplicate-tool-result"
            && finding.labels.iter().all(|label| raw(&label.spot) != raw(&finding.spot));
        let is_safe = !differs && !safe.is_empty() && !MOSTLY_UNSAFE.contains(id) && !is_made_up;
        finding.fix = Some(if is_safe { Fixable::Safe } else { Fixable::Unsafe });
    }
}

/// Whether a finding of this rule can be mended, at least in some cases.
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

/// Whether a conversation in a file that holds several can be mended.
pub(crate) fn can_mend(conversation: &Conversation<'_>) -> bool {
    writer_of(conversation).is_some()
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
