//! The blocks of messages, as far as a plan changes them.
//!
//! A message may have very many blocks, of which a plan changes as many: each change is noted, and the blocks are put
//! together when somebody asks for them.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};
use toolcheck_json::edit::Piece;
use toolcheck_json::{NodeId, Value};

use super::plan::Planner;

/// What changes in the blocks of messages.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The blocks of a slot, where all of them were set at once.
    set: HashMap<usize, Vec<Piece>>,
    /// The blocks that have left their own slot.
    gone: HashSet<NodeId>,
    /// The blocks in whose place another one stands.
    instead: HashMap<NodeId, NodeId>,
    /// What follows the results of a slot.
    after_results: HashMap<usize, Vec<Piece>>,
    /// How many blocks are left of a slot.
    left: HashMap<usize, usize>,
    /// The slots whose blocks change.
    changed: BTreeSet<usize>,
}

impl Blocks {
    /// Adds blocks after the results of a slot, and after what was added there before.
    pub(super) fn add_after_results(&mut self, slot: usize, blocks: Vec<Piece>) {
        self.changed.insert(slot);
        self.after_results.entry(slot).or_default().extend(blocks);
    }

    /// Puts a block in the place of another one of a slot.
    pub(super) fn put_instead(&mut self, slot: usize, old: NodeId, new: NodeId) {
        self.changed.insert(slot);
        self.instead.insert(old, new);
    }

    /// The slots whose blocks change, in their order.
    pub(super) fn changed(&self) -> Vec<usize> {
        self.changed.iter().copied().collect()
    }
}

/// The value that a block is.
pub(super) fn node_of(piece: &Piece) -> Option<NodeId> {
    match piece {
        Piece::Node(node) => Some(*node),
        _ => None,
    }
}

impl<'p, 's> Planner<'p, 's> {
    /// The blocks of a slot as they are so far; `None` if its content is neither text nor a list, or it is not an object.
    pub(super) fn blocks_of(&self, slot: usize) -> Option<Vec<Piece>> {
        let mut blocks = match self.blocks.set.get(&slot) {
            Some(blocks) => blocks.clone(),
            None => self.own_blocks(slot)?,
        };
        if !self.blocks.changed.contains(&slot) {
            return Some(blocks);
        }
        let is_left = |piece: &Piece| {
            node_of(piece).is_none_or(|node| {
                let is_replaced = self.blocks.instead.contains_key(&node);
                is_replaced || !self.blocks.gone.contains(&node) || self.slot_of(node) != slot
            })
        };
        blocks.retain(is_left);
        for block in &mut blocks {
            if let Some(other) = node_of(block).and_then(|node| self.blocks.instead.get(&node)) {
                *block = Piece::Node(*other);
            }
        }
        if let Some(added) = self.blocks.after_results.get(&slot) {
            let is_result = |piece: &Piece| self.is_result(piece);
            let end = blocks.iter().rposition(is_result).map_or(0, |last| last + 1);
            blocks.splice(end..end, added.iter().cloned());
        }
        Some(blocks)
    }

    /// Whether [`Self::blocks_of`] finds any list of blocks.
    pub(super) fn has_blocks(&self, slot: usize) -> bool {
        self.blocks.set.contains_key(&slot) || self.own_content(slot).is_some()
    }

    /// The content that a slot has in the file, if it has some, where it is text, a list or one block, or missing.
    fn own_content(&self, slot: usize) -> Option<Option<Value<'p, 's>>> {
        let key = self.fix_style.blocks?;
        let message = self.document.value(self.messages[slot]);
        // A list may hold a string between its messages.
        if !message.is_object() {
            return None;
        }
        let content = message.get(key).filter(|content| !content.is_null());
        let is_known =
            |content: Value<'_, '_>| content.is_string() || content.is_array() || content.is_object();
        content.is_none_or(is_known).then_some(content)
    }

    /// The blocks that a slot has in the file.
    fn own_blocks(&self, slot: usize) -> Option<Vec<Piece>> {
        let Some(content) = self.own_content(slot)? else { return Some(Vec::new()) };
        Some(match content.as_json_str() {
            Some(text) if text.is_empty() => Vec::new(),
            Some(_) => vec![(self.fix_style.text)(Piece::Node(content.id()))],
            // One block may stand for a list of it.
            None if content.is_object() => vec![Piece::Node(content.id())],
            None => content.elements().map(|block| Piece::Node(block.id())).collect(),
        })
    }

    /// Sets all blocks of a slot.
    pub(super) fn set_blocks(&mut self, slot: usize, blocks: Vec<Piece>) {
        for node in blocks.iter().filter_map(node_of) {
            if self.slot_of(node) == slot {
                self.blocks.gone.remove(&node);
            }
            self.blocks.instead.remove(&node);
        }
        self.blocks.after_results.remove(&slot);
        self.blocks.left.insert(slot, blocks.len());
        self.blocks.changed.insert(slot);
        self.blocks.set.insert(slot, blocks);
    }

    /// Whether a value is one of the blocks that a slot has in the file.
    pub(super) fn is_own_block(&mut self, slot: usize, node: NodeId) -> bool {
        let message = self.messages.get(slot).map(|message| self.document.value(*message));
        let list = self.fix_style.blocks.zip(message).and_then(|(key, message)| message.get(key));
        let Some(list) = list else { return false };
        if !list.is_array() {
            return list.is_object() && list.id() == node;
        }
        self.parent_of(node).is_some_and(|parent| parent.id() == list.id())
    }

    /// Takes a block out of its own slot. Returns whether it was one.
    pub(super) fn take_out_block(&mut self, slot: usize, node: NodeId) -> bool {
        if !self.is_own_block(slot, node) {
            return false;
        }
        if !self.blocks.left.contains_key(&slot) {
            let Some(blocks) = self.blocks_of(slot) else { return false };
            self.blocks.left.insert(slot, blocks.len());
        }
        self.blocks.changed.insert(slot);
        if self.blocks.gone.insert(node)
            && let Some(left) = self.blocks.left.get_mut(&slot)
        {
            *left = left.saturating_sub(1);
        }
        true
    }

    /// How many blocks are left of a slot of which some were taken out.
    pub(super) fn blocks_left(&self, slot: usize) -> usize {
        let added = self.blocks.after_results.get(&slot).map_or(0, Vec::len);
        self.blocks.left.get(&slot).copied().unwrap_or_default() + added
    }
}
