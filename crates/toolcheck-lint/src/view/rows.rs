//! What rows of data sets may have that requests may not.

use foldhash::HashSet;
use toolcheck_core::call_marks;
use toolcheck_core::ir::{Body, Part, Role, TranscriptKind};
use toolcheck_core::pairing::{PairedWith, ResultSite, Turn};
use toolcheck_core::readers::{is_graded_row, is_of_dataset, is_prompt_row};
use toolcheck_json::NodeId;

use crate::rule::Context;

impl Context<'_, '_> {
    /// Whether a result answers a call that the assistant wrote in plain text. Such calls have no ids, so in a
    /// recording or a data set their results have none either. In a request, the API requires the id.
    pub(crate) fn answers_text_call(&self, site: &ResultSite<'_, '_>) -> bool {
        if self.is_request() || site.paired_with != PairedWith::NoCall {
            return false;
        }
        let Some(before) = site.turn.checked_sub(1) else { return false };
        let turn = &self.pairing.turns[before].messages;
        // Only some templates have the id in the text.
        if let Some(id) = &site.result.call_id {
            let messages = self.transcript.messages[turn.clone()].iter();
            let says_id = |part: &Part<'_>| {
                matches!(part.body, Body::Text(text)
                    if call_marks::hold_call(text.string) && text.string.decode().contains(&*id.text))
            };
            return messages.flat_map(|message| self.transcript.parts_of(message)).any(says_id);
        }
        let is_before = |message: u32| (message as usize) < turn.start;
        let is_in = |message: u32| turn.contains(&(message as usize));
        let text_calls = self.text_calls();
        // Both lists are in the order of the file.
        let (calls, malformed) = (&text_calls.calls, &text_calls.malformed);
        let call = calls.get(calls.partition_point(|call| is_before(call.message)));
        let block = malformed.get(malformed.partition_point(|block| is_before(block.message)));
        call.is_some_and(|call| is_in(call.message))
            || block.is_some_and(|block| is_in(block.message))
            || self.turns_with_words.get_or_init(|| self.find_turns_with_words()).contains(&before)
    }

    /// The turns of the model with a call in the words of a template, before results.
    fn find_turns_with_words(&self) -> HashSet<usize> {
        let parts = |turn: &Turn| {
            let messages = self.transcript.messages[turn.messages.clone()].iter();
            messages.flat_map(|message| self.transcript.parts_of(message))
        };
        let is_result = |part: &Part<'_>| matches!(part.body, Body::Result(_));
        let holds_call =
            |part: &Part<'_>| matches!(part.body, Body::Text(text) if call_marks::hold_call(text.string));
        let turns = self.pairing.turns.windows(2).enumerate();
        let has_words = |turns: &[Turn]| {
            turns[0].role == Role::Assistant
                && parts(&turns[1]).next().is_some_and(is_result)
                && parts(&turns[0]).any(holds_call)
        };
        turns.filter(|(_, turns)| has_words(turns)).map(|(turn, _)| turn).collect()
    }

    /// Whether it is a row of a prompt and what a grader needs to judge an answer to it.
    pub(crate) fn is_graded_row(&self) -> bool {
        let ends_with_user = || self.transcript.messages.last().is_some_and(|last| last.role == Role::User);
        self.is_training_example()
            && ends_with_user()
            && is_graded_row(self.document.value(self.transcript.place.node))
    }

    /// Whether the messages are all that a row has, and the row is certainly one of a data set: lists of messages are in logs,
    /// too.
    pub(crate) fn is_row(&self) -> bool {
        let is_known = || self.transcript.format.is_some_and(is_of_dataset);
        let is_whole = self.transcript.place.node == NodeId::ROOT || self.transcript.details.row.is_some();
        is_whole && (self.kind == TranscriptKind::Dataset || self.policy.is_none() || is_known())
    }

    /// Whether the answer to the messages of a row may be elsewhere in it, or is left to the model. A target that trains on the
    /// messages alone does not look elsewhere.
    pub(crate) fn is_prompt_row(&self) -> bool {
        let list = self.transcript.place.node;
        let row = self.document.value(self.transcript.details.row.unwrap_or(list));
        self.target().kind != Some(TranscriptKind::Dataset) && is_prompt_row(row, self.document.value(list))
    }
}
