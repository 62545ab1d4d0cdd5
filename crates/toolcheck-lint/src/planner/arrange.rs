//! Where the results of each turn belong.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};
use toolcheck_core::RuleId;
use toolcheck_core::fix::Cost;
use toolcheck_core::fix_style::{Missing, named_message, with_keys_of};
use toolcheck_core::ir::{Named, Role};
use toolcheck_json::NodeId;
use toolcheck_json::edit::Piece;

use super::Action;
use super::blocks::node_of;
use super::options::Unanswered;
use super::plan::{LEARNT, MADE_UP, Planner};
use super::results::IN_NO_BLOCK;
use toolcheck_core::pairing::{CallSite, ResultSite};

/// Why a call gets no result.
const STAND_IN: &str = "an unmatched result in its place may be the missing one";

/// What the result of a call costs that could have another one.
const WHICH: &str = "it is a guess which of the calls of one tool has no result";

/// A result in the order in which the results of a turn are to be.
#[derive(Debug, Clone)]
pub(super) enum Unit {
    InPlace(usize),
    /// One that comes from elsewhere.
    Moved(usize),
    /// One that is written for the call with this number.
    New(usize, Piece),
}

impl Planner<'_, '_> {
    /// Puts the results of each turn where they belong.
    pub(super) fn results(&mut self) {
        let mut turns = BTreeSet::new();
        let pairing = self.pairing;
        for call in &pairing.calls {
            if self.finding(RuleId::UnansweredToolCall, call.part.place).is_some() {
                turns.insert(call.turn);
            }
        }
        for site in &pairing.results {
            let rules = [
                RuleId::LateToolResult,
                RuleId::ReorderedToolResults,
                RuleId::SplitToolResults,
                RuleId::TemplateMisbinds,
            ];
            let Some(call) = site.paired_with.call() else { continue };
            let is_found = |rule: &RuleId| self.finding(*rule, site.part.place).is_some();
            if rules.iter().any(is_found) || self.misplaced(site).is_some() {
                turns.insert(pairing.calls[call].turn);
            }
        }
        for turn in turns {
            let units = self.units(turn);
            if units.iter().any(|unit| !matches!(unit, Unit::InPlace(_))) || self.is_blocks() {
                self.place(turn, units);
            }
        }
    }

    pub(super) fn is_blocks(&self) -> bool {
        self.fix_style.blocks.is_some()
    }

    /// The results of a turn in the order in which they are to be.
    fn units(&mut self, turn: usize) -> Vec<Unit> {
        let pairing = self.pairing;
        let calls = pairing.calls_of_turn(turn);
        let is_settled = |site: &&ResultSite<'_, '_>| {
            let call = site.paired_with.call().map(|call| &pairing.calls[call]);
            call.is_some_and(|call| call.turn == turn && pairing.is_in_place(call, site))
                && site.message.role != Role::Assistant
                && pairing.is_first_answer(site)
        };
        let mut in_place: Vec<&ResultSite<'_, '_>> = calls
            .iter()
            .filter_map(|call| pairing.answer_of(call))
            .filter(|site| is_settled(site) && !self.results_gone.contains(&site.number))
            .collect();
        let in_call_order = in_place.clone();
        toolcheck_json::sort_by_position(&mut in_place, |site| site.part_number);
        let reordered = in_place.iter().find_map(|site| {
            let of_api = self.finding(RuleId::ReorderedToolResults, site.part.place);
            let found = of_api.or_else(|| self.finding(RuleId::TemplateMisbinds, site.part.place));
            Some((site.part.place, found?))
        });
        let have_ids = in_place.iter().all(|site| site.result.call_id.is_some());
        if let Some((place, finding)) = reordered.filter(|_| have_ids)
            && self.try_fix(finding, Action::Moved, place.span.start, None)
        {
            self.reorder(&in_place, &in_call_order);
            in_place = in_call_order;
        }
        let settled: HashSet<usize> = in_place.iter().map(|site| site.number).collect();
        // What comes after each result that stays, and before all of them.
        let mut inserted: HashMap<Option<usize>, Vec<Unit>> = HashMap::default();
        let mut after = None;
        let moves_late = self.late_turns(turn);
        for call in calls {
            let answer = pairing.answer_of(call);
            if let Some(own) = answer.map(|answer| answer.number).filter(|own| settled.contains(own)) {
                after = Some(own);
                continue;
            }
            let unit = match answer {
                Some(site) if self.results_gone.contains(&site.number) => None,
                Some(site) => self.moved(call, site, &moves_late),
                None => self.written(call),
            };
            inserted.entry(after).or_default().extend(unit);
        }
        let mut units = inserted.remove(&None).unwrap_or_default();
        for site in in_place {
            units.push(Unit::InPlace(site.number));
            units.extend(inserted.remove(&Some(site.number)).unwrap_or_default());
        }
        units
    }

    /// The turns of which late results are moved to a turn of calls. One finding stands for all of a turn.
    fn late_turns(&mut self, turn: usize) -> BTreeSet<usize> {
        let pairing = self.pairing;
        let mut turns = BTreeSet::new();
        for call in pairing.calls_of_turn(turn) {
            let Some(site) = pairing.answer_of(call) else { continue };
            let finding = self.finding(RuleId::LateToolResult, site.part.place);
            let Some(finding) = finding.filter(|finding| !self.in_place.contains(finding)) else { continue };
            if self.is_in_no_block(site) {
                self.leave(Some(finding), IN_NO_BLOCK);
                continue;
            }
            // The model's own words in between were said without the result.
            let from = call.message_number.min(site.message_number) + 1;
            let to = call.message_number.max(site.message_number);
            let has_spoken = site.turn > turn && self.model_speaks_in(from, to);
            let risk = if has_spoken {
                Some("text that the model wrote before it saw the result now appears after it")
            } else {
                let is_unbound = site.turn < turn && site.result.call_id.is_none();
                is_unbound.then_some("only the name of the tool tells which call the result answers")
            };
            let cost = risk.map(|risk| Cost::Guess(risk.to_owned()));
            let at = call.part.place.span.end.min(site.part.place.span.start);
            if self.try_fix(finding, Action::Moved, at, cost) {
                turns.insert(site.turn);
            }
        }
        turns
    }

    /// A result for a call that has none.
    fn written(&mut self, call: &CallSite<'_, '_>) -> Option<Unit> {
        let finding = self.finding(RuleId::UnansweredToolCall, call.part.place)?;
        if self.how.unanswered != Unanswered::Answer || self.pairing.has_stand_in(call) {
            let is_answered = self.how.unanswered == Unanswered::Answer;
            self.leave(
                Some(finding),
                if is_answered { STAND_IN } else { "no result is inserted because of `--unanswered`" },
            );
            return None;
        }
        if self.is_row {
            self.leave(Some(finding), LEARNT);
            return None;
        }
        let old = || call.call.id.as_ref().map(|id| Piece::Node(id.place.node));
        let id = self.new_ids.get(&call.number).map(|new| Piece::text(new)).or_else(old);
        let name = call.call.name.as_ref().map(|name| Piece::Node(name.place.node));
        let caller =
            self.document.value(call.part.place.node).get("caller").map(|caller| Piece::Node(caller.id()));
        let missing = Missing::new(call.call.kind, self.how.said_instead()).id(id).name(name).caller(caller);
        let has_names = call.call.id.is_none() && self.answers_have_names();
        let needs_id = call.call.id.is_none() && self.fix_style.call_id.is_some() && !has_names;
        let made_up = || Cost::Guess(MADE_UP.to_owned());
        let written = if has_names { named_message(&missing) } else { (self.fix_style.result)(&missing) };
        let Some(piece) = written.map(|piece| self.like_others(piece, call)) else {
            if needs_id && !self.how.unsafe_fixes {
                self.try_fix(finding, Action::Inserted, call.part.place.span.end, Some(made_up()));
                return None;
            }
            self.leave(Some(finding), "this format has no placeholder for the result of such a call");
            return None;
        };
        let risk = || Cost::Guess("a model would learn from the invented result".to_owned());
        let unclear = || self.is_one_of_several(call).then(|| Cost::Guess(WHICH.to_owned()));
        let cost = self.is_dataset().then(risk).or_else(|| needs_id.then(made_up)).or_else(unclear);
        let at = call.part.place.span.end;
        self.try_fix(finding, Action::Inserted, at, cost).then_some(Unit::New(call.number, piece))
    }

    /// Whether the first result of the conversation has the name of its tool and no id, as chat templates read it.
    pub(super) fn answers_have_names(&self) -> bool {
        let first = self.pairing.results.first().filter(|site| self.is_slot(site));
        first.is_some_and(|site| site.result.call_id.is_none() && site.result.name.is_some())
    }

    /// A result as the first of the conversation is written.
    fn like_others(&self, piece: Piece, call: &CallSite<'_, '_>) -> Piece {
        let first = self.pairing.results.first().filter(|site| self.is_slot(site));
        let id = first.and_then(|site| site.result.call_id.as_ref());
        let Some((first, id)) = first.zip(id) else { return piece };
        let other = self.document.value(first.part.place.node);
        with_keys_of(piece, other, id.place.node, self.document.value(call.part.place.node))
    }

    /// Whether another call of its turn has a result, and neither an id nor the name of a tool says which of them it answers.
    fn is_one_of_several(&self, call: &CallSite<'_, '_>) -> bool {
        fn text<'n>(name: &'n Option<Named<'_>>) -> Option<&'n str> {
            name.as_ref().map(|name| &*name.text)
        }
        let own = text(&call.call.name);
        let is_unclear = |other: &CallSite<'_, '_>| {
            let of_other = text(&other.call.name);
            let answer = self.pairing.answer_of(other).map(|answer| answer.result);
            answer.is_some_and(|answer| {
                answer.call_id.is_none() && (of_other == own || text(&answer.name) != of_other)
            })
        };
        self.pairing.calls_of_turn(call.turn).iter().any(is_unclear)
    }

    /// Puts results that are in their place into the order of their calls.
    fn reorder(&mut self, now: &[&ResultSite<'_, '_>], wanted: &[&ResultSite<'_, '_>]) {
        for (old, new) in now.iter().zip(wanted) {
            let slot = self.slot_of(old.part.place.node);
            if self.is_slot(old) {
                self.instead.insert(slot, self.slot_of(new.part.place.node));
            }
        }
        if now.iter().any(|site| self.is_slot(site)) {
            return;
        }
        let Some(first) = now.first().map(|site| self.slot_of(site.part.place.node)) else { return };
        let Some(mut blocks) = self.blocks_of(first) else { return };
        let mut next = wanted.iter().map(|site| Piece::Node(site.part.place.node));
        let own: HashSet<NodeId> = now.iter().map(|site| site.part.place.node).collect();
        let is_one = |block: &Piece| matches!(block, Piece::Node(node) if own.contains(node));
        for block in blocks.iter_mut().filter(|block| is_one(block)) {
            if let Some(other) = next.next() {
                *block = other;
            }
        }
        self.set_blocks(first, blocks);
    }

    /// Puts the results of a turn where they belong.
    fn place(&mut self, turn: usize, mut units: Vec<Unit>) {
        if let Some(key) = self.file_style.and_then(|file_style| file_style.result_in_call) {
            for unit in units {
                if let Unit::New(call, piece) = unit {
                    self.edits.set_member(self.pairing.calls[call].part.place.node, key, piece);
                }
            }
            return;
        }
        if self.file_style.is_some_and(|file_style| file_style.is_alone) {
            self.place_records(turn, units);
            return;
        }
        let anchor = self.anchor(turn);
        self.fill_gaps(turn, &mut units);
        let units = self.place_early(turn, units);
        if self.is_blocks() {
            self.place_blocks(turn, anchor, units);
            return;
        }
        let mut slot = anchor;
        let is_linked = self.file_style.is_some_and(|file_style| file_style.links.is_some());
        let mut linked: BTreeMap<usize, Vec<Piece>> = BTreeMap::new();
        let mut moved = BTreeMap::new();
        for unit in units {
            match unit {
                Unit::New(_, piece) if is_linked => linked.entry(slot).or_default().push(piece),
                Unit::InPlace(number) => slot = self.slot_of(self.pairing.results[number].part.place.node),
                Unit::Moved(number) => {
                    let site = &self.pairing.results[number];
                    self.bridge(site.paired_with.call(), site);
                    self.take_out(site);
                    let from = self.slot_of(site.part.place.node);
                    moved.insert(slot, self.relink(from, slot, moved.get(&slot).copied()));
                    let id = self.record_id(from).map(|id| (slot, Piece::Node(id.id())));
                    self.said_after.extend(id);
                    self.after.entry(slot).or_default().push(Piece::Node(self.slots[from]));
                }
                Unit::New(_, piece) => {
                    let record = self.recorded(piece, anchor);
                    self.after.entry(slot).or_default().push(record);
                }
            }
        }
        for (slot, pieces) in linked {
            let before = moved.get(&slot).and_then(|moved| self.record_id(*moved));
            self.add_chain(slot, pieces, before.map(|id| Piece::Node(id.id())));
        }
    }

    /// Puts messages into records after the one in a slot, each of which follows the one before it.
    fn add_chain(&mut self, slot: usize, messages: Vec<Piece>, mut before: Option<Piece>) {
        let count = messages.len();
        for (number, message) in messages.into_iter().enumerate() {
            let mut id = self.new_record_id(slot, number);
            if number + 1 == count {
                id = self.link(slot, &[slot], id);
            }
            let record = self.record(message, slot, id.clone(), before.replace(id));
            self.after.entry(slot).or_default().push(record);
        }
        self.said_after.extend(before.map(|last| (slot, last)));
    }

    /// Puts new results into records of their own: after the last record with a call of their message, as the next message
    /// may follow a result that was lost, or after the last call of the turn, if a result is there.
    fn place_records(&mut self, turn: usize, units: Vec<Unit>) {
        let pairing = self.pairing;
        let message_of = |unit: &Unit| {
            let call = match unit {
                Unit::InPlace(result) | Unit::Moved(result) => pairing.results[*result].paired_with.call()?,
                Unit::New(call, _) => *call,
            };
            Some(pairing.calls[call].message_number)
        };
        // Where each result is in a record, it may be anywhere.
        let units: Vec<Unit> = units.into_iter().filter(|unit| !matches!(unit, Unit::Moved(_))).collect();
        let answered = units.iter().filter(|unit| matches!(unit, Unit::InPlace(_))).filter_map(message_of);
        let answered = answered.min().unwrap_or(usize::MAX);
        let calls = pairing.calls_of_turn(turn);
        let (early, late) = calls.split_at(calls.partition_point(|call| call.message_number < answered));
        // The new ones for the first calls come first.
        let mut units = units.into_iter().peekable();
        for calls in early.chunk_by(|one, other| one.message_number == other.message_number) {
            let is_own = |unit: &Unit| message_of(unit) == Some(calls[0].message_number);
            let own = std::iter::from_fn(|| units.next_if(is_own)).collect();
            self.place_records_after(calls, own);
        }
        self.place_records_after(late, units.collect());
    }

    /// Puts new results into records after the last one with one of these calls.
    fn place_records_after(&mut self, calls: &[CallSite<'_, '_>], units: Vec<Unit>) {
        let slots = calls.iter().map(|call| self.slot_of(call.part.place.node));
        let slots: Vec<usize> =
            slots.map(|slot| self.merged_into.get(&slot).copied().unwrap_or(slot)).collect();
        let Some(mut slot) = slots.iter().copied().max() else { return };
        let first = self.pairing.calls_of_turn(calls[0].turn)[0].number;
        let last_new = units.iter().rposition(|unit| matches!(unit, Unit::New(..)));
        let count = units.len();
        for (number, unit) in units.into_iter().enumerate() {
            match unit {
                Unit::InPlace(result) => {
                    slot = slot.max(self.slot_of(self.pairing.results[result].part.place.node));
                }
                Unit::New(call, piece) => {
                    let own = self.slot_of(self.pairing.calls[call].part.place.node);
                    let own = self.merged_into.get(&own).copied().unwrap_or(own);
                    let mut id = self.new_record_id(own, call - first);
                    if Some(number) == last_new {
                        // Results of parallel calls are siblings: what follows another one still does.
                        let followed = if number + 1 == count { &slots[..] } else { &[] };
                        id = self.link(slot, followed, id);
                    }
                    let record = self.record((self.fix_style.user)(vec![piece]), own, id, None);
                    self.after.entry(slot).or_default().push(record);
                }
                Unit::Moved(_) => {}
            }
        }
    }

    /// Puts new results directly after their message, if none of its calls is answered and another message with calls
    /// follows: what was between the two is lost, and the turn is really two.
    fn place_early(&mut self, turn: usize, units: Vec<Unit>) -> Vec<Unit> {
        let calls = self.pairing.calls_of_turn(turn);
        let Some(last) = calls.last().map(|call| call.message_number) else { return units };
        // The new results of each message with calls.
        let mut new_of: HashMap<usize, usize> = HashMap::default();
        for unit in &units {
            if let Unit::New(number, _) = unit {
                *new_of.entry(self.pairing.calls[*number].message_number).or_default() += 1;
            }
        }
        let merged: HashSet<usize> =
            self.merged_into.iter().flat_map(|(from, into)| [*from, *into]).collect();
        let mut early: HashMap<usize, Vec<Piece>> = HashMap::default();
        let mut slots = Vec::new();
        for calls in calls.chunk_by(|one, other| one.message_number == other.message_number) {
            let (message, slot) = (calls[0].message_number, self.slot_of(calls[0].part.place.node));
            let is_new = new_of.get(&message) == Some(&calls.len());
            if message != last && is_new && !merged.contains(&slot) {
                early.insert(message, Vec::with_capacity(calls.len()));
                slots.push((message, slot));
            }
        }
        if early.is_empty() {
            return units;
        }
        let mut rest = Vec::new();
        for unit in units {
            match unit {
                Unit::New(number, piece) => match early.get_mut(&self.pairing.calls[number].message_number) {
                    Some(pieces) => pieces.push(piece),
                    None => rest.push(Unit::New(number, piece)),
                },
                unit => rest.push(unit),
            }
        }
        for (message, slot) in slots {
            let pieces = early.remove(&message).unwrap_or_default();
            let messages: Vec<Piece> = match self.fix_style.blocks {
                Some(_) => vec![(self.fix_style.user)(pieces)],
                None => pieces,
            };
            self.add_chain(slot, messages, None);
        }
        rest
    }

    /// Whether one of these messages is the model's.
    pub(super) fn model_speaks_in(&self, from: usize, to: usize) -> bool {
        // For each message, how many there are up to the last one of the model before it.
        let said = self.said_before.get_or_init(|| {
            let mut last = 0;
            let mut said = Vec::with_capacity(self.transcript.messages.len() + 1);
            said.push(0);
            for (number, message) in self.transcript.messages.iter().enumerate() {
                if message.role == Role::Assistant {
                    last = number + 1;
                }
                said.push(last);
            }
            said
        });
        said.get(to).is_some_and(|last| *last > from)
    }

    /// The slot after which the results of a turn come.
    fn anchor(&self, turn: usize) -> usize {
        let of_turn = &self.pairing.turns[turn];
        let messages = &self.transcript.messages[of_turn.messages.clone()];
        let last_call = self.pairing.calls_of_turn(turn).last().map(|call| call.part.place.node);
        let merges = self.file_style.is_none() && self.target.merges_assistant_messages();
        let slot = match (merges, last_call) {
            (false, Some(call)) => self.slot_of(call),
            _ => {
                let end = messages.last().map_or(0, |message| message.place.span.end);
                let before = |slot: &toolcheck_json::NodeId| self.document.value(*slot).span().start < end;
                self.slots.partition_point(before).saturating_sub(1)
            }
        };
        self.merged_into.get(&slot).copied().unwrap_or(slot)
    }

    /// Puts the results of a turn into the message after it, or into a new one.
    fn place_blocks(&mut self, turn: usize, anchor: usize, mut units: Vec<Unit>) {
        let pairing = self.pairing;
        let (anchor, next) = self.home_of(turn, anchor, &units);
        let message = next.map(|next| &self.transcript.messages[next.messages.start]);
        let home = message.map(|message| self.slot_of(message.place.node)).filter(|slot| {
            // If the target does not merge messages, another one of the model would come between.
            let is_next = || (anchor + 1..*slot).all(|between| self.gone.contains(&between));
            *slot > anchor && (self.target.merges_assistant_messages() || is_next())
        });
        // A message right after the calls would divide their turn, if others are answered after the model goes on.
        if home.is_none() {
            let is_added = |unit: &Unit| usize::from(!matches!(unit, Unit::InPlace(_)));
            toolcheck_json::sort_by_position(&mut units, is_added);
        }
        let mut blocks = match home {
            Some(home) => {
                let Some(blocks) = self.blocks_of(home) else { return };
                blocks
            }
            None => Vec::new(),
        };
        let before = blocks.clone();
        let mut later = Vec::new();
        for number in self.later_messages(turn, home) {
            let site = &pairing.results[number];
            self.take_out(site);
            later.push(Piece::Node(site.part.place.node));
        }
        let end = blocks.iter().rposition(|block| self.is_result(block)).map_or(0, |last| last + 1);
        blocks.splice(end..end, later);
        if let Some(finding) = self.after_other_content(turn + 1) {
            let at = message.map_or(0, |message| message.place.span.start);
            if self.try_fix(finding, Action::Moved, at, None) {
                toolcheck_json::sort_by_position(&mut blocks, |block| usize::from(!self.is_result(block)));
            }
        }
        // What comes after each result that stays, and before all of them.
        let mut inserted: HashMap<Option<NodeId>, Vec<Piece>> = HashMap::default();
        let mut moved = HashSet::default();
        let mut after = None;
        for unit in units {
            let piece = match unit {
                Unit::InPlace(number) => {
                    after = Some(pairing.results[number].part.place.node);
                    continue;
                }
                Unit::Moved(number) => {
                    let site = &pairing.results[number];
                    if home != Some(self.slot_of(site.part.place.node)) {
                        self.take_out(site);
                    }
                    moved.insert(site.part.place.node);
                    Piece::Node(site.part.place.node)
                }
                Unit::New(_, piece) => piece,
            };
            inserted.entry(after).or_default().push(piece);
        }
        let mut all = inserted.remove(&None).unwrap_or_default();
        for block in blocks {
            let node = node_of(&block);
            if node.is_none_or(|node| !moved.contains(&node)) {
                all.push(block);
            }
            all.extend(node.and_then(|node| inserted.remove(&Some(node))).unwrap_or_default());
        }
        self.insert_after(inserted);
        let blocks = all;
        match home {
            Some(home) if blocks != before => {
                self.gone.remove(&home);
                self.set_blocks(home, blocks);
            }
            None if !blocks.is_empty() => {
                let record = self.recorded((self.fix_style.user)(blocks), anchor);
                self.after.entry(anchor).or_default().push(record);
            }
            _ => {}
        }
    }

    /// Puts blocks after results that are in other messages than the first of their turn.
    fn insert_after(&mut self, inserted: HashMap<Option<NodeId>, Vec<Piece>>) {
        let mut inserted: Vec<_> = inserted.into_iter().collect();
        toolcheck_json::sort_by_position(&mut inserted, |(after, _)| after.map_or(0, NodeId::index));
        for (after, pieces) in inserted {
            let Some(slot) = after.map(|after| self.slot_of(after)) else { continue };
            let Some(mut blocks) = self.blocks_of(slot) else { continue };
            let at = blocks.iter().position(|block| node_of(block) == after);
            let at = at.map_or(blocks.len(), |at| at + 1);
            blocks.splice(at..at, pieces);
            self.set_blocks(slot, blocks);
        }
    }

    /// The results of a turn in a later message of the user's turn than the first, if they are to be put into it.
    fn later_messages(&mut self, turn: usize, home: Option<usize>) -> Vec<usize> {
        let pairing = self.pairing;
        let results = pairing.results_of_turn(turn + 1);
        let is_later = |site: &ResultSite<'_, '_>| Some(self.slot_of(site.part.place.node)) != home;
        let found = results.iter().find_map(|site| {
            let found = |rule| self.finding(rule, site.part.place);
            let misplaced = || found(RuleId::MisplacedToolResult).filter(|_| is_later(site));
            Some((site.part.place, found(RuleId::SplitToolResults).or_else(misplaced)?))
        });
        let Some((place, finding)) = found.filter(|_| home.is_some()) else { return Vec::new() };
        if !self.try_fix(finding, Action::Merged, place.span.start, None) {
            return Vec::new();
        }
        // That of another turn goes there.
        let is_own = |site: &&ResultSite<'_, '_>| {
            site.paired_with.call().is_none_or(|call| pairing.calls[call].turn == turn)
        };
        let elsewhere = results.iter().filter(is_own).filter(|site| {
            Some(self.slot_of(site.part.place.node)) != home && !self.results_gone.contains(&site.number)
        });
        elsewhere.map(|site| site.number).collect()
    }

    /// The finding of results after other content of their turn.
    fn after_other_content(&self, turn: usize) -> Option<usize> {
        let mut results = self.pairing.results_of_turn(turn).iter();
        results.find_map(|site| {
            self.finding(RuleId::MisplacedToolResult, site.part.place)
                .filter(|_| site.message.role != Role::Assistant)
        })
    }
}
