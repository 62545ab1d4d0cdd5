//! The edits of a plan, made from the final order of the parts.

use toolcheck_core::RuleId;
use toolcheck_core::fix::Cost;
use toolcheck_core::ir::{Arguments, Call, Place, Role};
use toolcheck_core::pairing::CallSite;
use toolcheck_core::readers::NewRecord;
use toolcheck_core::targets::ArgumentType;
use toolcheck_json::edit::Piece;
use toolcheck_json::{Document, NodeId, Value};

use super::blocks::Blocks;
use super::plan::Planner;
use super::{Action, ids};

/// How many records after a new one are looked at for the one that follows it.
const NEAR: usize = 64;

impl<'s> Planner<'_, 's> {
    /// Writes down what is planned for the list.
    pub(super) fn settle(&mut self) {
        let document = self.document;
        self.close_gaps();
        self.settle_lists();
        for slot in self.blocks.changed() {
            let (Some(key), false) = (self.fix_style.blocks, self.gone.contains(&slot)) else { continue };
            let Some(blocks) = self.blocks_of(slot) else { continue };
            let message = self.messages[slot];
            match document.value(message).get(key) {
                // What was to stand in its place is one of the blocks, or stands for nothing.
                Some(list) if list.is_array() => {
                    self.values.remove(&list.id());
                    self.edits.set_elements(list.id(), blocks);
                }
                Some(content) => {
                    let written = self.values.remove(&content.id());
                    let written = written.as_ref().map(|written| (content.id(), written));
                    let blocks = blocks.into_iter().map(|block| rewritten(block, written));
                    self.edits.replace(content.id(), Piece::List(blocks.collect()));
                }
                None => self.edits.set_member(message, key, Piece::List(blocks)),
            }
        }
        self.blocks = Blocks::default();
        for (node, piece) in std::mem::take(&mut self.values) {
            self.edits.replace(node, piece);
        }
        for (object, member) in std::mem::take(&mut self.members_gone) {
            self.edits.remove_member(object, member);
        }
        let is_same = self.gone.is_empty() && self.before.is_empty();
        if !(is_same && self.after.is_empty() && self.instead.is_empty()) {
            let mut elements = Vec::with_capacity(self.slots.len());
            for (slot, node) in self.slots.iter().enumerate() {
                elements.extend(self.before.remove(&slot));
                if !self.gone.contains(&slot) || self.instead.contains_key(&slot) {
                    let shown = self.instead.get(&slot).map_or(*node, |other| self.slots[*other]);
                    elements.push(Piece::Node(shown));
                }
                elements.extend(self.after.remove(&slot).unwrap_or_default());
            }
            // A conversation without a message is no better.
            if !elements.is_empty() {
                self.edits.set_elements(self.list, elements);
            }
        }
        self.gone.clear();
        self.instead.clear();
    }

    /// A message in a record of its own, after the record in another slot, or after a new one with the id `before`.
    pub(super) fn record(&self, message: Piece, after: usize, id: Piece, before: Option<Piece>) -> Piece {
        let Some(file_style) = self.file_style else { return message };
        let added = NewRecord::new(message, self.document.value(self.slots[after]), id);
        (file_style.record)(added.after_new(before))
    }

    /// Another message in the record of a slot, with what each message of the program has.
    pub(super) fn in_same_record(&self, message: Piece, slot: usize) -> Piece {
        self.with_stamps(message, self.document.value(self.messages[slot]))
    }

    /// A message with what each message of the program has, from another one.
    pub(super) fn with_stamps(&self, message: Piece, old: Value<'_, '_>) -> Piece {
        let (Piece::Object(mut members), Some(file_style)) = (message.clone(), self.file_style) else {
            return message;
        };
        let kept =
            file_style.stamps.iter().filter_map(|key| Some(((*key).into(), Piece::Node(old.get(key)?.id()))));
        members.extend(kept);
        Piece::Object(members)
    }

    /// A message in a record, with an id that nothing else has.
    pub(super) fn recorded(&self, message: Piece, after: usize) -> Piece {
        let id = self.new_record_id(after, 0);
        self.record(message, after, id, None)
    }

    /// A message in the place of the record in a slot, after the last record of its turn: it follows the last one that stays,
    /// or the last such message, and what followed that turn follows it.
    pub(super) fn linked(&mut self, message: Piece, slot: usize, last: usize) -> Piece {
        let anchor = (0..=last).rev().find(|other| !self.gone.contains(other)).unwrap_or(0);
        let before = (anchor..=last).rev().find_map(|slot| self.said_after.get(&slot)).cloned();
        let own = self.new_record_id(slot, 0);
        let id = self.link(last, &[last], own);
        self.said_after.insert(last, id.clone());
        self.record(message, anchor, id, before)
    }

    /// An id for a record after another one: a function of what that record is.
    pub(super) fn new_record_id(&self, after: usize, number: usize) -> Piece {
        let link = self.file_style.and_then(|file_style| file_style.links);
        let old = link.and_then(|(key, _)| self.document.value(self.slots[after]).get_str(key));
        Piece::text(&ids::record_id(&old.unwrap_or_default(), number))
    }

    /// Has what followed the record in one of `slots` follow a new record that comes after `slot`, and returns the new
    /// record's id. If something up to what the model says next follows a record that is lost, the new one takes its id.
    pub(super) fn link(&mut self, slot: usize, calls: &[usize], new: Piece) -> Piece {
        let Some((id_key, parent_key)) = self.file_style.and_then(|file_style| file_style.links) else {
            return new;
        };
        let document = self.document;
        let end = self.next_answer(slot).unwrap_or(self.slots.len()).min(slot + NEAR);
        let near = self.slots.iter().take(end + 1).skip(slot + 1).map(|next| document.value(*next));
        let parents: Vec<Value<'_, '_>> =
            near.filter_map(|next| next.get(parent_key)).filter(|parent| !parent.is_null()).collect();
        if parents.is_empty() {
            return new;
        }
        let follows = |call: &usize, parent: &Value<'_, '_>| {
            document.value(self.slots[*call]).get(id_key).is_some_and(|id| id.raw() == parent.raw())
        };
        let follower = parents.iter().position(|parent| calls.iter().any(|call| follows(call, parent)));
        let before = &parents[..follower.unwrap_or(parents.len())];
        let ids = self.record_ids(id_key);
        if let Some(lost) = before.iter().find(|parent| ids.insert(parent.raw())) {
            self.values.remove(&lost.id());
            return Piece::Node(lost.id());
        }
        if let Some(follower) = follower {
            self.values.insert(parents[follower].id(), new.clone());
        }
        new
    }

    /// The next slot with a message of the model.
    fn next_answer(&mut self, slot: usize) -> Option<usize> {
        let before = self.answers_before(slot + 1).len();
        self.answers.as_ref()?.get(before).copied()
    }

    /// The slots before one with a message of the model.
    pub(super) fn answers_before(&mut self, slot: usize) -> &[usize] {
        if self.answers.is_none() {
            let answers = self.transcript.messages.iter().filter(|message| message.role == Role::Assistant);
            let mut slots: Vec<usize> = answers.map(|answer| self.slot_of(answer.place.node)).collect();
            slots.sort_unstable();
            self.answers = Some(slots);
        }
        let answers = self.answers.as_deref().unwrap_or_default();
        &answers[..answers.partition_point(|answer| *answer < slot)]
    }

    /// Records of other kinds between a call and its result name the call too, such as that of its start.
    pub(super) fn rename_between(&mut self, call: &CallSite<'_, '_>, old: NodeId, new: &str) {
        let file_style = self.file_style.filter(|file_style| file_style.has_kinds);
        let answer = self.pairing.answer_of(call).map(|answer| self.slot_of(answer.part.place.node));
        let (Some(key), Some(end), Some(_)) = (self.fix_style.result_id, answer, file_style) else { return };
        let start = self.slot_of(call.part.place.node) + 1;
        let old = self.document.value(old).raw();
        let named = |slot: usize| self.document.value(self.messages[slot]).get(key);
        let mut named: Vec<(usize, Value<'_, '_>)> = (start.max(end.saturating_sub(NEAR))..end)
            .filter_map(|slot| Some((slot, named(slot).filter(|named| named.raw() == old)?)))
            .collect();
        let is_result =
            |(slot, _): &(usize, Value<'_, '_>)| self.is_result(&Piece::Node(self.messages[*slot]));
        // What is before the result of another call with the id is about that, unless all results come last.
        let last = named.iter().rposition(is_result).map_or(0, |last| last + 1);
        if last < named.len() {
            named.drain(..last);
        } else {
            let before = &self.pairing.calls_of_turn(call.turn);
            let is_twin = |other: &&CallSite<'_, '_>| {
                let id = other.call.id.as_ref().map(|id| self.document.value(id.place.node).raw());
                other.number < call.number && id == Some(old)
            };
            let twins = before.iter().filter(is_twin).count();
            named = named.into_iter().filter(|one| !is_result(one)).skip(twins).take(1).collect();
        }
        self.values.extend(named.into_iter().map(|(_, named)| (named.id(), Piece::text(new))));
    }

    /// The id of the record in a slot, where records follow each other by their ids.
    pub(super) fn record_id(&self, slot: usize) -> Option<Value<'_, '_>> {
        let (id_key, _) = self.file_style.and_then(|file_style| file_style.links)?;
        self.document.value(self.slots[slot]).get(id_key)
    }

    /// Has a record that moves follow the one in a slot, or `last`, which has moved there before it, and what followed that
    /// follow the record. Returns its slot.
    pub(super) fn relink(&mut self, from: usize, slot: usize, last: Option<usize>) -> usize {
        let Some((id_key, parent_key)) = self.file_style.and_then(|file_style| file_style.links) else {
            return from;
        };
        let document = self.document;
        let member = |slot: &usize, key: &str| document.value(self.slots[*slot]).get(key);
        let ids = (member(&from, id_key), member(&slot, id_key), member(&from, parent_key));
        let (Some(own), Some(anchor), Some(parent)) = ids else { return from };
        // The record on the way from the anchor to this one that follows the anchor.
        let mut next = parent;
        for before in (slot + 1..from).rev() {
            let followed = self.followed(next);
            if followed != anchor.raw()
                && member(&before, id_key).is_some_and(|id| id.raw() == followed)
                && let Some(parent) = member(&before, parent_key)
            {
                next = parent;
            }
        }
        if from < slot {
            let near = slot + 1..(slot + NEAR).min(self.slots.len());
            let mut after = near.filter_map(|after| member(&after, parent_key));
            next = after.find(|parent| parent.raw() == anchor.raw()).unwrap_or(parent);
        }
        let new_parent = last.and_then(|last| member(&last, id_key)).unwrap_or(anchor);
        if self.followed(next) == anchor.raw() && next.id() != parent.id() {
            self.values.insert(next.id(), Piece::Node(own.id()));
        }
        self.values.insert(parent.id(), Piece::Node(new_parent.id()));
        from
    }

    /// Arguments in the form that the target takes.
    pub(super) fn arguments(&mut self, part: Place, call: &Call<'_>) {
        let Some(place) = call.arguments.place() else { return };
        if let Some(finding) = self.finding(RuleId::InvalidArgumentsJson, part)
            && let Arguments::Text(text, _) = call.arguments
            && text.is_text()
        {
            let text = text.decode();
            let (json, cost) = if text.trim().is_empty() { ("{}".to_owned(), None) } else { wrapped(&text) };
            if self.try_arguments(finding, place, cost) {
                self.values.insert(place.node, Piece::text(&json));
            }
        }
        let Some(finding) = self.finding(RuleId::WrongArgumentsType, place) else { return };
        let Ok(raw) = std::str::from_utf8(&self.document.bytes()[place.span.range()]) else { return };
        let as_is = |json: String| Piece::Raw(json.into_bytes());
        let (piece, cost) = match (self.target.arguments.shape, &call.arguments) {
            (Some(ArgumentType::Text), Arguments::Object(_)) => (Piece::text(raw), None),
            (Some(ArgumentType::Text), Arguments::Other(_)) => {
                let (json, cost) = wrapped(raw);
                (Piece::text(&json), cost)
            }
            (Some(ArgumentType::Object), Arguments::Null(_)) => (as_is("{}".to_owned()), None),
            (Some(ArgumentType::Object), Arguments::Other(_)) => {
                let (json, cost) = wrapped(raw);
                (as_is(json), cost)
            }
            (Some(ArgumentType::Object), Arguments::Text(text, _)) if text.is_text() => {
                let text = text.decode();
                as_object(&text).map_or_else(
                    || {
                        let (json, cost) = wrapped(&text);
                        (as_is(json), cost)
                    },
                    |object| (object, None),
                )
            }
            _ => return,
        };
        if self.try_arguments(finding, place, cost) {
            self.values.insert(place.node, piece);
        }
    }

    /// Whether to write arguments anew. Only what is wrapped in a text of its own has a cost.
    fn try_arguments(&mut self, finding: usize, place: Place, cost: Option<Cost>) -> bool {
        match cost {
            None => self.try_fix(finding, Action::Rewritten, place.span.start, None),
            cost => self.try_text(finding, Action::Rewritten, place.span.start, cost),
        }
    }
}

/// A piece with another one in the place of a value.
fn rewritten(piece: Piece, written: Option<(NodeId, &Piece)>) -> Piece {
    match (piece, written) {
        (Piece::Node(node), Some((old, new))) if node == old => new.clone(),
        (Piece::Object(members), Some(_)) => {
            Piece::Object(members.into_iter().map(|(key, value)| (key, rewritten(value, written))).collect())
        }
        (piece, _) => piece,
    }
}

/// What are no arguments as the JSON of an object around them, with what that costs.
fn wrapped(text: &str) -> (String, Option<Cost>) {
    let lost = "the original form of the arguments (they are wrapped in an object)".to_owned();
    (serde_json::json!({"INVALID_JSON": text}).to_string(), Some(Cost::Loss(lost)))
}

fn as_object(text: &str) -> Option<Piece> {
    if text.trim().is_empty() {
        return Some(Piece::Raw(b"{}".to_vec()));
    }
    let document = Document::read(text.as_bytes());
    let is_object = document.root().is_object() && document.faults().is_empty();
    // A line break in it would end a record of JSON Lines.
    let is_one_line = !text.contains(['\n', '\r']);
    (is_object && is_one_line).then(|| Piece::Raw(document.root().raw().to_vec()))
}
