//! Records that name the one before them where that is lost, or goes.

use foldhash::{HashMap, HashSet};
use toolcheck_core::RuleId;
use toolcheck_core::ir::Gap;
use toolcheck_core::pairing::ResultSite;
use toolcheck_core::readers::is_broken;
use toolcheck_json::edit::Piece;
use toolcheck_json::{NodeId, Value};

use super::Action;
use super::arrange::Unit;
use super::blocks::node_of;
use super::plan::Planner;

impl<'p, 's> Planner<'p, 's> {
    /// Puts the new results of a turn where records of it are lost.
    pub(super) fn fill_gaps(&mut self, turn: usize, units: &mut [Unit]) {
        let message_of = |unit: &Unit| match unit {
            Unit::InPlace(number) | Unit::Moved(number) => Some(self.pairing.results[*number].message_number),
            Unit::New(..) => None,
        };
        let calls = self.pairing.calls_of_turn(turn).last().map(|call| call.message_number);
        let Some((first, last)) = calls.zip(units.iter().filter_map(message_of).max()) else { return };
        let gaps = self.gaps_between(first, last);
        let mut filled = 0;
        if !gaps.is_empty() && units.iter().any(|unit| message_of(unit).is_none()) {
            // Those that are left are joined.
            self.lost.extend(gaps.iter().map(|gap| self.document.value(gap.lost).raw()));
            toolcheck_json::sort_by_position(units, |unit| match message_of(unit) {
                Some(message) => 2 * gaps.partition_point(|gap| gap.message <= message),
                None => {
                    filled += 1;
                    2 * filled.min(gaps.len()) - 1
                }
            });
        }
    }

    /// The gaps between two messages, by their numbers.
    fn gaps_between(&self, first: usize, last: usize) -> &'p [Gap] {
        let gaps = &self.transcript.gaps;
        let gaps = &gaps[gaps.partition_point(|gap| gap.message <= first)..];
        &gaps[..gaps.partition_point(|gap| gap.message <= last)]
    }

    /// Where records follow each other by their ids: what followed a record that is removed follows the one before it.
    pub(super) fn close_gaps(&mut self) {
        let Some((id_key, parent_key)) = self.file_style.and_then(|file_style| file_style.links) else {
            return;
        };
        let mut gone: Vec<usize> = self.gone.iter().copied().collect();
        gone.sort_unstable();
        let document = self.document;
        let member = |slot: usize, key: &str| document.value(self.slots[slot]).get(key);
        let mut before: HashMap<&[u8], Piece> = HashMap::default();
        // One that moves follows another record where it goes, and leaves a gap where it was.
        let moved: HashSet<NodeId> = self.after.values().flatten().filter_map(node_of).collect();
        for slot in gone {
            if let (Some(id), Some(parent)) = (member(slot, id_key), member(slot, parent_key)) {
                let is_moved = moved.contains(&self.slots[slot]);
                let written = if is_moved { None } else { self.values.remove(&parent.id()) };
                let found = || self.before_lost(parent).unwrap_or(parent.id());
                let own = written.unwrap_or_else(|| Piece::Node(found()));
                let parent = node_of(&own).and_then(|own| before.get(document.value(own).raw())).cloned();
                before.insert(id.raw(), parent.unwrap_or(own));
            }
        }
        if before.is_empty() {
            return;
        }
        for slot in (0..self.slots.len()).filter(|slot| !self.gone.contains(slot)) {
            let Some(parent) = member(slot, parent_key) else { continue };
            if let Some(new) = before.get(parent.raw()) {
                self.values.entry(parent.id()).or_insert_with(|| new.clone());
            }
        }
        let moved: HashSet<&[u8]> =
            moved.iter().filter_map(|node| document.value(*node).get(id_key)).map(Value::raw).collect();
        before.retain(|id, _| !moved.contains(id));
        for added in self.after.values_mut().flatten() {
            let Piece::Object(members) = added else { continue };
            for (_, parent) in members.iter_mut().filter(|(key, _)| *key == *parent_key) {
                let new = node_of(parent).and_then(|parent| before.get(document.value(parent).raw()));
                new.into_iter().for_each(|new| *parent = new.clone());
            }
        }
    }

    /// Notes the id of the record before the one in a slot, if no record has it.
    pub(super) fn note_lost(&mut self, slot: usize) {
        let Some((id_key, parent_key)) = self.file_style.and_then(|file_style| file_style.links) else {
            return;
        };
        let parent = self.document.value(self.slots[slot]).get(parent_key).filter(|parent| !parent.is_null());
        if let Some(parent) = parent.map(Value::raw)
            && !self.record_ids(id_key).contains(parent)
        {
            self.lost.insert(parent);
        }
    }

    /// The id of the record before one that is lost, where a record names that as its `parent`, unless a new one takes its place.
    fn before_lost(&self, parent: Value<'_, '_>) -> Option<NodeId> {
        let before = self.before_lost.get(&parent.id()).copied()?;
        let is_filled = self.ids.as_ref().is_some_and(|ids| ids.contains(parent.raw()));
        (!is_filled).then_some(before)
    }

    /// The id of the record before the one that names it as its `parent`, as it is written.
    pub(super) fn followed(&self, parent: Value<'_, 's>) -> &[u8] {
        self.before_lost(parent).map_or(parent, |before| self.document.value(before)).raw()
    }

    /// Joins the log where a result is found without its call.
    pub(super) fn join(&mut self, site: &ResultSite<'_, '_>) {
        if let Some(finding) = self.finding(RuleId::OrphanToolResult, site.part.place)
            && self.try_fix(finding, Action::Rewritten, site.part.place.span.start, None)
        {
            self.bridge(site.paired_with.call(), site);
        }
    }

    /// Notes what is lost between a call, by its number, and the result that it gets.
    pub(super) fn bridge(&mut self, call: Option<usize>, site: &ResultSite<'_, '_>) {
        let Some(call) = call.map(|call| &self.pairing.calls[call]) else { return };
        let gaps = self.gaps_between(call.message_number, site.message_number);
        self.lost.extend(gaps.iter().map(|gap| self.document.value(gap.lost).raw()));
    }

    /// What followed a record that was lost with a call follows the message before it, if the result of the call is no result
    /// any more.
    pub(super) fn close_lost_gaps(&mut self) {
        let mut lost = std::mem::take(&mut self.lost);
        let links = self.file_style.and_then(|file_style| file_style.links);
        let Some((id_key, parent_key)) = links.filter(|_| !lost.is_empty()) else { return };
        // A new record may have taken the place.
        let ids = self.record_ids(id_key);
        lost.retain(|lost| !ids.contains(lost));
        let mut is_message = vec![false; self.slots.len()];
        for message in &self.transcript.messages {
            let parts = self.transcript.parts_of(message).iter().map(|part| part.place.node);
            for node in std::iter::once(message.place.node).chain(parts) {
                is_message[self.slot_of(node)] = true;
            }
        }
        // The id of the last message that stays, or is added.
        let mut last = None;
        for (slot, is_message) in is_message.into_iter().enumerate() {
            let record = self.document.value(self.slots[slot]);
            let parent = record.get(parent_key).filter(|parent| lost.contains(parent.raw()));
            if let Some((parent, last)) = parent.zip(last.clone()) {
                self.values.entry(parent.id()).or_insert(last);
            }
            if is_message && !self.gone.contains(&slot) && !is_broken(record) {
                last = record.get(id_key).map(|id| Piece::Node(id.id())).or(last);
            }
            last = self.said_after.get(&slot).cloned().or(last);
        }
    }

    /// Where what is before is lost to the agent, as a record follows one that is not there: the slots from the message of
    /// the model before it to that record.
    pub(super) fn breaks(&mut self) -> Vec<(usize, usize)> {
        let links = self.file_style.and_then(|file_style| file_style.links);
        let Some((id_key, parent_key)) = links else { return Vec::new() };
        // A file may have very many conversations.
        let own = || self.transcript.messages.iter().map(|message| self.slot_of(message.place.node));
        let (first, last) = (own().min().unwrap_or(0), own().max().unwrap_or(0));
        let mut breaks = Vec::new();
        for slot in first..self.slots.len().min(last + 1) {
            let parent = self.document.value(self.slots[slot]).get(parent_key);
            let parent = parent.filter(|parent| !parent.is_null()).map(Value::raw);
            if parent.is_some_and(|parent| !self.record_ids(id_key).contains(parent)) {
                breaks.push((self.answers_before(slot).last().copied().unwrap_or(0), slot));
            }
        }
        breaks
    }

    /// The ids of the records in the list that agents find, as they are written.
    pub(super) fn record_ids(&mut self, id_key: &str) -> &mut HashSet<&'s [u8]> {
        let records = self.slots.iter().map(|slot| self.document.value(*slot));
        let records = records.filter(|record| !is_broken(*record));
        let ids = || records.filter_map(|record| record.get(id_key)).map(Value::raw).collect();
        self.ids.get_or_insert_with(ids)
    }
}
