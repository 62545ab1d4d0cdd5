//! What is fixed in its place, whatever the rest of the conversation is like.

use std::borrow::Cow;

use toolcheck_core::fix::Change;
use toolcheck_core::ir::{Message, Role};
use toolcheck_json::edit::Piece;
use toolcheck_json::{NodeId, SyntaxError, SyntaxErrorKind, Value};

use super::Action;
use super::plan::Planner;

impl Planner<'_, '_> {
    /// Fixes what can be fixed where it is. Of two changes of one place that exclude each other, the first is made.
    pub(super) fn fixes(&mut self) {
        for (number, fix) in std::mem::take(&mut self.fixes) {
            let is_taken = |change: &Change| {
                self.touched.get(&site(change)).is_some_and(|own| !is_composed(own, change))
            };
            if fix.changes.iter().any(is_taken) {
                self.leave(Some(number), "another fix changes the same place");
                continue;
            }
            let starts = fix.changes.iter().map(|change| self.document.value(change.node()).span().start);
            let at = starts.min().unwrap_or(0);
            let action = match fix.changes.first() {
                Some(Change::Remove(_)) => Action::Removed,
                Some(Change::Add(..) | Change::Before(..)) => Action::Inserted,
                _ => Action::Rewritten,
            };
            if !self.try_fix(number, action, at, fix.cost.clone()) {
                continue;
            }
            self.fixed_in_place += 1;
            for change in &fix.changes {
                if self.touched.insert(site(change), change.clone()).as_ref() != Some(change) {
                    self.change(change);
                    self.heed_role(change.node());
                }
            }
        }
        for ((object, key), members) in std::mem::take(&mut self.made) {
            self.edits.set_member(object, key, Piece::Object(members));
        }
    }

    /// Notes the call that a message answers once it gets the role of results.
    fn heed_role(&mut self, role: NodeId) {
        let messages = &self.transcript.messages;
        let number = messages.partition_point(|message| message.place.node <= role);
        let message = number.checked_sub(1).map(|number| &messages[number]);
        let is_own = |message: &&Message<'_>| {
            message.role == Role::Unknown
                && message.role_name.as_ref().is_some_and(|name| name.place.node == role)
        };
        let Some(message) = message.filter(is_own) else { return };
        let value = self.document.value(message.place.node);
        let id = self.fix_style.result_id.and_then(|key| value.get_str(key));
        self.new_results.extend(id.map(Cow::into_owned));
    }

    fn change(&mut self, change: &Change) {
        let document = self.document;
        let node = change.node();
        match change {
            Change::Rename(_, key) => {
                if let Some(object) = self.parent_of(node).filter(|parent| parent.is_object()) {
                    self.edits.rename_member(object.id(), node, key.clone());
                }
            }
            Change::Remove(_) => self.remove(node),
            Change::Write(_, json) => {
                self.values.insert(node, Piece::Raw(json.clone().into_bytes()));
            }
            Change::Wrap(_) => {
                self.values.insert(node, Piece::List(vec![Piece::Node(node)]));
            }
            Change::Flatten(_) => {
                let elements = document.value(node).elements().flat_map(|element| {
                    let itself = Some(element).filter(|element| !element.is_array());
                    element.elements().chain(itself).map(|element| Piece::Node(element.id()))
                });
                self.values.insert(node, Piece::List(elements.collect()));
            }
            Change::Add(_, key, json) => {
                if document.value(node).is_object() {
                    self.edits.set_member(node, key.clone(), Piece::Raw(json.clone().into_bytes()));
                }
            }
            Change::Move(_, way) => {
                if let (Some(object), [around, key]) = (self.parent_of(node), &way[..]) {
                    self.edits.remove_member(object.id(), node);
                    match object.get(around).filter(|around| around.is_object()) {
                        Some(around) => self.edits.set_member(around.id(), key.clone(), Piece::Node(node)),
                        None => {
                            let made = self.made.entry((object.id(), around.clone())).or_default();
                            made.push((key.clone().into(), Piece::Node(node)));
                        }
                    }
                }
            }
            Change::Before(_, json) => {
                if let Ok(slot) = self.slots.binary_search(&node) {
                    self.before.insert(slot, Piece::Raw(json.clone().into_bytes()));
                }
            }
            Change::Halves(_) => {
                self.values.insert(node, Piece::Raw(self.without_halves(node)));
            }
        }
    }

    /// A string in which Each half of a character becomes U+FFFD.
    fn without_halves(&self, node: NodeId) -> Vec<u8> {
        let span = self.document.value(node).span();
        let mut raw = Vec::with_capacity(span.range().len());
        let mut at = span.start as usize;
        let is_half =
            |fault: &&SyntaxError| fault.kind == SyntaxErrorKind::LoneSurrogate && span.contains(fault.span);
        for half in self.document.faults().iter().filter(is_half) {
            raw.extend_from_slice(&self.document.bytes()[at..half.span.start as usize]);
            raw.extend_from_slice(b"\\ufffd");
            at = half.span.end as usize;
        }
        raw.extend_from_slice(&self.document.bytes()[at..span.end as usize]);
        raw
    }

    /// Removes a message, a block, a member or an element.
    pub(super) fn remove(&mut self, node: NodeId) {
        if let Ok(slot) = self.messages.binary_search(&node) {
            self.gone.insert(slot);
            return;
        }
        let Some(parent) = self.parent_of(node) else { return };
        if parent.is_object() {
            self.edits.remove_member(parent.id(), node);
            return;
        }
        let slot = self.slot_of(node);
        let list_of = |slot: &NodeId| self.document.value(*slot).get(self.fix_style.blocks?);
        let is_block = self.messages.get(slot).and_then(list_of).is_some_and(|list| list.id() == parent.id());
        if !is_block || !self.take_out_block(slot, node) {
            self.elements_gone.entry(parent.id()).or_default().push(node);
        } else if self.blocks_left(slot) == 0 {
            self.gone.insert(slot);
        }
    }

    /// The lists without the elements that are removed from them.
    pub(super) fn settle_lists(&mut self) {
        for (list, gone) in std::mem::take(&mut self.elements_gone) {
            let elements = self.document.value(list).elements().map(Value::id);
            let left: Vec<Piece> =
                elements.filter(|element| !gone.contains(element)).map(Piece::Node).collect();
            self.edits.set_elements(list, left);
        }
    }
}

/// Whether two changes of one place can both be made: what is removed may be written in any way.
fn is_composed(one: &Change, other: &Change) -> bool {
    let is_moved = |change: &Change| matches!(change, Change::Move(..));
    let is_removed = |change: &Change| matches!(change, Change::Remove(_));
    one == other || !is_moved(one) && !is_moved(other) && (is_removed(one) || is_removed(other))
}

/// The value or the missing key that a change is about.
fn site(change: &Change) -> (NodeId, Option<String>) {
    match change {
        Change::Add(object, key, _) => (*object, Some(key.clone())),
        Change::Before(message, _) => (*message, Some(String::new())),
        other => (other.node(), None),
    }
}
