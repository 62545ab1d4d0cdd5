//! What a history keeps of the text and the reasoning of a response.

use std::ops::Range;

use foldhash::HashSet;
use toolcheck_core::ir::{Body, Message, Part, Role};
use toolcheck_core::response::{self, ChoiceReasoning};
use toolcheck_core::text;

use super::{HistoryMatch, brings_results};
use crate::finding::Draft;
use crate::rule::Context;

/// What a history keeps of the reasoning of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasoningChange {
    /// It is there, there was none, or nobody can tell.
    Kept,
    Dropped,
    /// There is an empty text in its place.
    Emptied,
    PartlyDropped,
    Unsigned,
    SignedOtherwise,
    Reworded,
}

impl HistoryMatch<'_> {
    /// The messages of the history that stand for the answer.
    pub(crate) fn turn(&self, cx: &Context<'_, '_>) -> Range<usize> {
        let new = cx.transcript.messages.get(self.first_new..).unwrap_or_default();
        let length = new.iter().take_while(|message| message.role == Role::Assistant).count();
        self.first_new..self.first_new + length
    }

    /// Whether the answer called tools that are all in the history, and the model goes on from their results: no user
    /// has spoken since.
    pub(crate) fn is_current(&self, cx: &Context<'_, '_>) -> bool {
        let is_kept = !self.answer.calls.is_empty() && self.count() == self.answer.calls.len();
        let after = cx.transcript.messages.get(self.turn(cx).end..).unwrap_or_default();
        let is_said =
            |one: &Message<'_>| one.role == Role::User && !brings_results(cx.transcript.parts_of(one));
        self.answer.is_whole && !self.is_later && is_kept && !after.iter().any(is_said)
    }

    /// Whether the turn has something that nobody reads, such as a reference to what the provider keeps.
    pub(crate) fn is_unclear(&self, cx: &Context<'_, '_>) -> bool {
        let is_opaque = |part: &Part<'_>| matches!(part.body, Body::Opaque);
        let parts =
            |number: usize| cx.transcript.messages.get(number).map(|message| cx.transcript.parts_of(message));
        // What may be anything does not start a turn.
        let before = self.first_new.checked_sub(1).and_then(parts).and_then(<[_]>::last);
        before.is_some_and(is_opaque)
            || self.turn(cx).filter_map(parts).any(|parts| parts.iter().any(is_opaque))
    }

    /// The text of the turn in the history.
    pub(crate) fn text(&self, cx: &Context<'_, '_>) -> String {
        let mut said = String::new();
        for number in self.turn(cx) {
            for part in cx.transcript.parts_of(&cx.transcript.messages[number]) {
                if let Body::Text(text) = &part.body {
                    text.string.decode_into(&mut said);
                }
            }
        }
        said
    }

    /// Points at the reasoning in the response, and names the first call of the turn.
    pub(crate) fn point_at_reasoning(&self, finding: &mut Draft) {
        if let Some(block) = self.answer.reasoning.iter().chain(&self.answer.details).next() {
            finding.label_at(
                block.place,
                self.answer.spot_of_reasoning.clone(),
                "the reasoning in the response",
            );
        }
        if let Some(call) = self.answer.calls.first() {
            finding.tool_call_id = call.call.id.as_deref().map(text::kept);
        }
    }

    /// What the history keeps of the answer's reasoning.
    pub(crate) fn thoughts<'s>(&'s self, cx: &Context<'_, '_>) -> ReasoningChange {
        let told = |blocks: &'s [ChoiceReasoning]| -> Vec<&'s ChoiceReasoning> {
            blocks.iter().filter(|block| !is_blank(block)).collect()
        };
        let (mut given, details) = (told(&self.answer.reasoning), told(&self.answer.details));
        if given.is_empty() {
            given.clone_from(&details);
        }
        if given.is_empty() || !self.is_current(cx) || self.turn(cx).is_empty() || self.is_unclear(cx) {
            return ReasoningChange::Kept;
        }
        let mut stored = Vec::new();
        let mut kept_details = Vec::new();
        let mut is_emptied = false;
        for number in self.turn(cx) {
            let message = &cx.transcript.messages[number];
            is_emptied |= message.has_empty_reasoning;
            kept_details.extend(response::details(message, cx.document));
            let parts = cx.transcript.parts_of(message).iter();
            stored.extend(parts.filter_map(|part| response::reasoning(cx.transcript, part, cx.document)));
        }
        is_emptied |= !stored.is_empty();
        stored.retain(|block| !is_blank(block));
        kept_details.retain(|block| !is_blank(block));
        if !kept_details.is_empty() {
            // They are what the model gets: the text beside them repeats what they say.
            return compare(if details.is_empty() { &given } else { &details }, &kept_details);
        }
        if stored.is_empty() {
            // Some servers and clients have the reasoning in the text.
            let text = letters(&[&self.text(cx)]);
            let reasons = letters(&given.iter().map(|block| &*block.text).collect::<Vec<_>>());
            return match () {
                () if !reasons.is_empty() && text.contains(&reasons) => ReasoningChange::Kept,
                () if is_emptied => ReasoningChange::Emptied,
                () => ReasoningChange::Dropped,
            };
        }
        compare(&given, &stored)
    }
}

fn compare(given: &[&ChoiceReasoning], stored: &[ChoiceReasoning]) -> ReasoningChange {
    let signatures = |blocks: &mut dyn Iterator<Item = &ChoiceReasoning>| -> HashSet<String> {
        blocks.filter_map(|block| block.signature.clone()).filter(|signature| !signature.is_empty()).collect()
    };
    let signed = signatures(&mut given.iter().copied());
    let found = signatures(&mut stored.iter());
    let said = letters(&given.iter().map(|block| &*block.text).collect::<Vec<_>>());
    let kept = letters(&stored.iter().map(|block| &*block.text).collect::<Vec<_>>());
    let is_known = |signature: &String| signed.contains(signature);
    if signed.iter().all(|signature| found.contains(signature)) {
        // A text may be left out beside its signature.
        return match () {
            () if kept == said || !signed.is_empty() && kept.is_empty() => ReasoningChange::Kept,
            () if said.is_empty() => ReasoningChange::Kept,
            () if !kept.is_empty() && said.contains(&kept) => ReasoningChange::PartlyDropped,
            () => ReasoningChange::Reworded,
        };
    }
    match () {
        () if found.is_empty() => ReasoningChange::Unsigned,
        () if found.iter().all(is_known) => ReasoningChange::PartlyDropped,
        () => ReasoningChange::SignedOtherwise,
    }
}

fn is_blank(block: &ChoiceReasoning) -> bool {
    block.text.trim().is_empty() && block.signature.as_deref().is_none_or(str::is_empty)
}

fn letters(texts: &[&str]) -> String {
    texts.iter().flat_map(|text| text.chars()).filter(|letter| !letter.is_whitespace()).collect()
}
