//! What is fixed in its place, whatever the rest of the conversation is like.

use foldhash::HashSet;
use toolcheck_core::RuleId;
use toolcheck_core::fix::{Change, Cost, Fix};
use toolcheck_core::fix_style::{self, NO_CALL, SAID_NOTHING};
use toolcheck_core::pairing::ResultSite;
use toolcheck_json::edit::Piece;
use toolcheck_json::{NodeId, SyntaxError, SyntaxErrorKind, Value};

use super::Action;
use super::plan::{LEARNT, Planner};
use super::results::head_of;
use crate::compare_fix::makes_readable;
use crate::view::shape::EMPTY;

/// Whether a change writes a text that nobody said.
fn writes_text(change: &Change) -> bool {
    let (Change::Write(_, json) | Change::Add(_, _, json) | Change::Before(_, json)) = change else {
        return false;
    };
    [EMPTY, SAID_NOTHING].iter().any(|text| json.contains(text))
}

/// How many results before one are compared with it.
const MOST_BEFORE: usize = 16;

impl Planner<'_, '_> {
    /// Whether one of the results right before it in its turn is the same, byte for byte.
    pub(super) fn is_again(&self, site: &ResultSite<'_, '_>) -> bool {
        let raw = |site: &ResultSite<'_, '_>| self.document.value(site.part.place.node).raw();
        let before = self.pairing.results[..site.number].iter().rev().take(MOST_BEFORE);
        before.take_while(|before| before.turn == site.turn).any(|before| raw(before) == raw(site))
    }

    /// Fixes what can be fixed where it is. Of two changes of one place that exclude each other, the first is made.
    pub(super) fn fixes(&mut self) {
        let mut fixes = std::mem::take(&mut self.fixes);
        // Nothing is lost that is needed once the rest of its message can be read.
        let loses = |fix: &Fix| fix.changes.iter().any(|change| self.may_lose(change, fix.cost.is_some()));
        // What says a whole message in another way needs it as it is.
        let is_whole = |fix: &Fix| {
            fix.changes.iter().all(|change| matches!(change, Change::Write(node, _) if self.messages.binary_search(node).is_ok()))
        };
        toolcheck_json::sort_by_positions(&mut fixes, |(_, _, fix)| {
            (usize::from(loses(fix)), usize::from(!is_whole(fix)))
        });
        for (number, rule, fix) in fixes {
            let mut sites: Vec<(Site, &Change)> = Vec::with_capacity(fix.changes.len());
            for change in &fix.changes {
                sites
                    .extend(self.key_of(change).into_iter().chain([site(change)]).map(|site| (site, change)));
            }
            let is_taken = |(site, change): &(Site, &Change)| {
                let message = self.messages.get(self.slot_of(change.node()));
                let is_gone = |message: &NodeId| {
                    let written = self.touched.get(&(*message, None));
                    *message != change.node() && written.is_some_and(|own| matches!(own, Change::Write(..)))
                };
                self.touched.get(site).is_some_and(|own| !is_composed(own, change))
                    || message.is_some_and(is_gone)
                    || self.may_lose(change, fix.cost.is_some())
                        && self.kept.contains(&self.slot_of(change.node()))
            };
            if sites.iter().any(is_taken) {
                self.leave(Some(number), "another fix changes the same place");
                continue;
            }
            let starts = fix.changes.iter().map(|change| self.document.value(change.node()).span().start);
            let at = starts.min().unwrap_or(0);
            let action = match fix.changes.first() {
                Some(Change::Remove(_))
                    if fix.changes.iter().any(|change| matches!(change, Change::Add(..))) =>
                {
                    Action::Moved
                }
                Some(Change::Remove(_)) => Action::Removed,
                Some(Change::Add(..) | Change::Before(..)) => Action::Inserted,
                _ => Action::Rewritten,
            };
            if self.is_row && fix.changes.iter().any(writes_text) {
                self.leave(Some(number), LEARNT);
                continue;
            }
            if !self.try_fix(number, action, at, fix.cost.clone()) {
                continue;
            }
            for (site, change) in sites {
                let is_new = self.touched.insert(site.clone(), change.clone()).as_ref() != Some(change);
                if is_new && site == self::site(change) {
                    self.change(change);
                    self.heed(rule, change);
                }
            }
        }
        for ((object, key), members) in std::mem::take(&mut self.made) {
            self.edits.set_member(object, key, Piece::Object(members));
        }
    }

    /// Whether a change removes a message, or something at a cost.
    fn may_lose(&self, change: &Change, has_cost: bool) -> bool {
        matches!(change, Change::Remove(node) if has_cost || self.messages.binary_search(node).is_ok())
    }

    /// The missing key that a member gets.
    fn key_of(&mut self, change: &Change) -> Option<Site> {
        let Change::Rename(node, key) = change else { return None };
        Some((self.parent_of(*node)?.id(), Some(key.clone())))
    }

    /// Notes what a change of messages means for the rest.
    fn heed(&mut self, rule: RuleId, change: &Change) {
        if matches!(change, Change::Remove(_) | Change::Halves(_) | Change::Before(..)) {
            return;
        }
        let (node, slot) = (change.node(), self.slot_of(change.node()));
        let around = self.slots.get(slot).map(|slot| self.document.value(*slot).span());
        let is_inside = around.is_some_and(|around| around.contains(self.document.value(node).span()));
        if is_inside {
            self.kept.insert(slot);
        }
        self.reveals |= (is_inside || node == self.list) && makes_readable(rule);
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
                let lists = || document.value(node).elements().filter(|element| element.is_array());
                // Where each has one element, only its brackets go.
                if lists().all(|list| list.elements().take(2).count() == 1) {
                    let only =
                        |list: Value<'_, '_>| Some((list.id(), Piece::Node(list.elements().next()?.id())));
                    self.values.extend(lists().filter_map(only));
                    return;
                }
                let elements = document.value(node).elements().flat_map(|element| {
                    let itself = Some(element).filter(|element| !element.is_array());
                    element.elements().chain(itself).map(|element| Piece::Node(element.id()))
                });
                self.edits.set_elements(node, elements);
            }
            Change::Lift(_, inner) => {
                self.values.insert(node, Piece::Node(*inner));
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

    /// Turns a result in a message of another list, such as what a compaction has kept, into text of the user where it is.
    pub(super) fn say_in_place(&mut self, finding: usize, site: &ResultSite<'_, '_>) {
        let (node, message) = (site.part.place.node, self.document.value(site.message.place.node));
        let is_message = message.id() == node;
        let blocks = self.fix_style.blocks.and_then(|key| message.get(key));
        if !is_message && !blocks.is_some_and(|blocks| blocks.elements().any(|block| block.id() == node)) {
            self.leave(Some(finding), "its program keeps each result in the call that it answers");
            return;
        }
        let mut lost = "the fact that it is a result (it becomes user text)".to_owned();
        lost.extend(self.beside(site, None).map(|beside| format!(", and {beside}")));
        if self.try_text(finding, Action::BecameText, site.part.place.span.start, Some(Cost::Loss(lost))) {
            self.results_gone.insert(site.number);
            let content = self.content_of(site);
            let mut head = head_of(site, NO_CALL);
            let said = match self.content_blocks(content).filter(|_| is_message) {
                Some(content) => {
                    let head = (self.fix_style.text)(Piece::text(&head));
                    let said = (self.fix_style.user)([vec![head], content].concat());
                    self.with_stamps(said, message)
                }
                None => {
                    head.push_str(&content.map_or_else(String::new, |content| match content.as_str() {
                        Some(text) => text.into_owned(),
                        None => fix_style::on_one_line(content),
                    }));
                    match is_message {
                        true => self.with_stamps((self.fix_style.said)(Piece::text(&head)), message),
                        false => (self.fix_style.text)(Piece::text(&head)),
                    }
                }
            };
            self.values.insert(node, said);
        }
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
            let gone: HashSet<NodeId> = gone.into_iter().collect();
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

/// A value, or a missing key of it.
type Site = (NodeId, Option<String>);

/// The value or the missing key that a change is about.
fn site(change: &Change) -> Site {
    match change {
        Change::Add(object, key, _) => (*object, Some(key.clone())),
        Change::Before(message, _) => (*message, Some(String::new())),
        other => (other.node(), None),
    }
}
