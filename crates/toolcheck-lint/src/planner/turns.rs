//! The messages of a turn that was split, and those that were cut off.

use foldhash::HashSet;
use toolcheck_core::RuleId;
use toolcheck_core::fix::Cost;
use toolcheck_core::ir::{Body, Executor};
use toolcheck_json::NodeId;
use toolcheck_json::edit::Piece;

use super::Action;
use super::blocks::node_of;
use super::options::Unanswered;
use super::plan::Planner;
use toolcheck_core::pairing::CallSite;

/// What stands after reasoning that nothing follows.
const REST: &str = "[The rest of this message is missing.]";

impl Planner<'_, '_> {
    /// Puts the messages of each split turn into its first one.
    pub(super) fn split_turns(&mut self) {
        let pairing = self.pairing;
        for (number, turn) in pairing.turns.iter().enumerate() {
            let messages = &self.transcript.messages[turn.messages.clone()];
            let cut = (turn.messages.start..turn.messages.end - 1)
                .find_map(|message| self.reasoning_at_end(message));
            let finding = self.finding(RuleId::SplitAssistantTurn, messages[0].place).or(cut);
            if finding.is_none() && !self.becomes_split(number) {
                continue;
            }
            let slots = messages.iter().map(|message| self.slot_of(message.place.node));
            let slots: Vec<usize> = slots.filter(|slot| !self.gone.contains(slot)).collect();
            if slots.len() < 2 {
                continue;
            }
            let joins = self.joins_texts(&slots);
            let is_possible = self.fix_style.blocks.is_some() || self.merged(&slots).is_some();
            if !is_possible || joins && finding.is_none() && !self.how.unsafe_fixes {
                self.leave(finding, "the messages have other keys too, so they cannot be one");
                continue;
            }
            let cost =
                joins.then(|| Cost::Guess("two texts become one, with a blank line between them".to_owned()));
            let at = messages[0].place.span.end.saturating_sub(1);
            if finding.is_some_and(|finding| !self.try_fix(finding, Action::Merged, at, cost)) {
                continue;
            }
            if self.fix_style.blocks.is_some() {
                let all: Option<Vec<_>> = slots.iter().map(|slot| self.blocks_of(*slot)).collect();
                self.set_blocks(slots[0], all.unwrap_or_default().concat());
            } else if let Some(members) = self.merged(&slots) {
                let first = self.messages[slots[0]];
                for (key, piece) in members {
                    self.edits.set_member(first, key, piece);
                }
            }
            for slot in &slots[1..] {
                self.gone.insert(*slot);
                self.merged_into.insert(*slot, slots[0]);
            }
        }
    }

    /// The finding of reasoning at the end of a message, if it is not the place alone that is wrong.
    fn reasoning_at_end(&self, number: usize) -> Option<usize> {
        let messages = &self.transcript.messages;
        let part = self.transcript.parts_of(&messages[number]).last()?;
        if !matches!(part.body, Body::Reasoning(_)) || !self.is_blocks() {
            return None;
        }
        // The last message of the model may have none at all then.
        let is_off = || self.transcript.request.reasoning == Some(false);
        let finding = self.finding(RuleId::MisplacedReasoning, part.place)?;
        (!is_off() || self.model_speaks_in(number + 1, messages.len())).then_some(finding)
    }

    /// Puts a text after reasoning that nothing follows.
    pub(super) fn cut_answers(&mut self) {
        let merged: HashSet<usize> =
            self.merged_into.iter().flat_map(|(from, into)| [*from, *into]).collect();
        for (number, message) in self.transcript.messages.iter().enumerate() {
            let Some(finding) = self.reasoning_at_end(number) else { continue };
            let slot = self.slot_of(message.place.node);
            if merged.contains(&slot) {
                continue;
            }
            let Some(mut blocks) = self.blocks_of(slot) else { continue };
            let at = message.place.span.end.saturating_sub(1);
            let guess = Cost::Guess("the model reads text that it did not write".to_owned());
            if self.try_text(finding, Action::Inserted, at, Some(guess)) {
                blocks.push((self.fix_style.text)(Piece::text(REST)));
                self.set_blocks(slot, blocks);
            }
        }
    }

    /// Puts what a message says behind its calls before them.
    pub(super) fn put_texts_first(&mut self) {
        let is_text = |body: &Body<'_>| matches!(body, Body::Text(_) | Body::Media);
        for message in &self.transcript.messages {
            let parts = self.transcript.parts_of(message);
            let is_call =
                |body: &Body<'_>| matches!(body, Body::Call(call) if call.executor == Executor::Client);
            let Some(first) = parts.iter().position(|part| is_call(&part.body)) else { continue };
            let behind = parts[first..].iter().filter(|part| is_text(&part.body));
            let behind: HashSet<NodeId> = behind.map(|part| part.place.node).collect();
            let found = parts[first..].iter().find_map(|part| self.finding(RuleId::MixedContent, part.place));
            let slot = self.slot_of(message.place.node);
            let Some((finding, blocks)) = found.zip(self.blocks_of(slot)) else { continue };
            let call = parts[first].place;
            let is_behind = |piece: &Piece| node_of(piece).is_some_and(|node| behind.contains(&node));
            let (texts, mut rest): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_behind);
            let at = rest.iter().position(|piece| node_of(piece) == Some(call.node));
            if let Some(at) = at.filter(|_| self.try_fix(finding, Action::Moved, call.span.start, None)) {
                rest.splice(at..at, texts);
                self.set_blocks(slot, rest);
            }
        }
    }

    /// Whether a turn is in several messages, of which one that is not the last is answered after the turn: results that
    /// are inserted for the others show that it is one turn.
    fn becomes_split(&self, turn: usize) -> bool {
        let calls = self.pairing.calls_of_turn(turn);
        let (Some(first), Some(last)) = (calls.first(), calls.last()) else { return false };
        let is_safe = self.how.unsafe_fixes
            || !self.is_dataset() && !self.is_signed_after(first.message.place.span.end.saturating_sub(1));
        if first.message_number == last.message_number
            || self.how.unanswered != Unanswered::Answer
            || !is_safe
            || self.is_row
        {
            return false;
        }
        let answer = |call: &CallSite<'_, '_>| self.pairing.answer_of(call).map(|site| site.turn);
        let is_missing =
            |call: &CallSite<'_, '_>| self.finding(RuleId::UnansweredToolCall, call.part.place).is_some();
        calls.iter().any(|call| call.message_number != last.message_number && answer(call) == Some(turn + 1))
            && calls.iter().any(is_missing)
            && calls.iter().all(|call| is_missing(call) || answer(call) == Some(turn + 1))
    }

    /// Whether several texts of some messages must become one string.
    fn joins_texts(&self, slots: &[usize]) -> bool {
        let Some((_, text_key)) = self.fix_style.calls else { return false };
        let contents =
            slots.iter().filter_map(|slot| self.document.value(self.messages[*slot]).get(text_key));
        let texts = contents.filter(|content| content.as_json_str().is_none_or(|text| !text.is_empty()));
        let has_several = texts.filter(|content| !content.is_null()).count() > 1;
        (!self.fix_style.takes_lists && has_several)
            || self.fix_style.thoughts.iter().any(|key| self.joined(slots, key).is_some())
    }

    /// The strings that some messages have under a key beside their text as one, if there are several.
    fn joined(&self, slots: &[usize], key: &str) -> Option<String> {
        let own = slots.iter().filter_map(|slot| self.document.value(self.messages[*slot]).get_str(key));
        let strings: Vec<_> = own.filter(|string| !string.is_empty()).collect();
        (strings.len() > 1).then(|| strings.join("\n\n"))
    }

    /// The members that the first of some messages gets, so that it is all of them; `None` if they contradict.
    fn merged(&self, slots: &[usize]) -> Option<Vec<(String, Piece)>> {
        let (calls_key, text_key) = self.fix_style.calls?;
        let values: Vec<_> = slots.iter().map(|slot| self.document.value(self.messages[*slot])).collect();
        let first = values.first()?;
        let lists = values.iter().filter_map(|value| value.get(calls_key));
        let calls = lists.flat_map(|list| list.elements()).map(|call| Piece::Node(call.id())).collect();
        let mut members: Vec<(String, Piece)> = vec![(calls_key.to_owned(), Piece::List(calls))];
        let mut texts = Vec::new();
        for value in values.iter().filter_map(|value| value.get(text_key)) {
            match value.as_json_str() {
                Some(text) if text.is_empty() => {}
                Some(_) => texts.push((value.id(), vec![(self.fix_style.text)(Piece::Node(value.id()))])),
                None if value.is_null() => {}
                None => {
                    texts.push((value.id(), value.elements().map(|block| Piece::Node(block.id())).collect()))
                }
            }
        }
        let own = first.get(text_key).map(toolcheck_json::Value::id);
        match &texts[..] {
            [] => {}
            [(only, _)] if Some(*only) == own => {}
            [(only, _)] => members.push((text_key.to_owned(), Piece::Node(*only))),
            several if !self.fix_style.takes_lists => {
                let texts: Option<Vec<_>> =
                    several.iter().map(|(id, _)| self.document.value(*id).as_str()).collect();
                members.push((text_key.to_owned(), Piece::text(&texts?.join("\n\n"))));
            }
            several => {
                let blocks = several.iter().flat_map(|(_, blocks)| blocks.clone()).collect();
                members.push((text_key.to_owned(), Piece::List(blocks)));
            }
        }
        let thoughts = self.fix_style.thoughts.iter();
        let joined: Vec<_> = thoughts.filter_map(|key| Some((*key, self.joined(slots, key)?))).collect();
        members.extend(joined.iter().map(|(key, text)| ((*key).to_owned(), Piece::text(text))));
        for value in &values[1..] {
            for member in value.members() {
                let key = member.key_text()?.into_owned();
                let is_empty = member.is_null() || member.as_json_str().is_some_and(|text| text.is_empty());
                let is_done = || joined.iter().any(|(known, _)| *known == key);
                if key == calls_key || key == text_key || is_empty || is_done() {
                    continue;
                }
                match first.get(&key) {
                    Some(own) if own.raw() == member.raw() => {}
                    Some(own) if !own.is_null() && !own.as_json_str().is_some_and(|text| text.is_empty()) => {
                        return None;
                    }
                    _ if members.iter().any(|(known, _)| *known == key) => return None,
                    _ => members.push((key, Piece::Node(member.id()))),
                }
            }
        }
        Some(members)
    }
}
