//! The plan for one record.

use foldhash::{HashMap, HashSet};
use toolcheck_core::ir::{Body, Place, Signature, Transcript, TranscriptKind};
use toolcheck_core::readers::Mend;
use toolcheck_core::repair::Repair;
use toolcheck_core::target::Target;
use toolcheck_json::edit::{Edits, Piece};
use toolcheck_json::{Document, NodeId, Span, Value};

use super::options::FixOptions;
use super::{Deed, ids};
use crate::finding::Finding;
use crate::view::pairing::{Pairing, ResultSite};

/// A finding that is mended.
pub(super) struct Done {
    pub(super) finding: usize,
    pub(super) deed: Deed,
    pub(super) lost: Option<String>,
}

/// What is to be done to a record.
pub(super) struct Planned {
    pub(super) bytes: Vec<u8>,
    pub(super) done: Vec<Done>,
    /// The findings that only an unsafe fix mends, with what it would lose.
    pub(super) skipped: Vec<(usize, String)>,
}

/// Plans the changes of a record. `slots` are the elements of its list of messages or items.
pub(super) struct Planner<'p, 's> {
    pub(super) transcript: &'p Transcript<'s>,
    pub(super) pairing: &'p Pairing<'p, 's>,
    pub(super) document: &'p Document<'s>,
    pub(super) repair: &'static Repair,
    pub(super) mend: Option<&'static Mend>,
    pub(super) target: &'p Target,
    pub(super) how: &'p FixOptions,
    findings: HashMap<(&'static str, NodeId), usize>,
    lists: Lists,
    pub(super) list: NodeId,
    pub(super) slots: Vec<NodeId>,
    /// The message in each slot.
    pub(super) messages: Vec<NodeId>,
    /// The messages of the conversation that are not in the list, which are not changed.
    elsewhere: Vec<Span>,
    /// The ids of the records in the list, as they are written.
    pub(super) ids: Option<HashSet<&'s [u8]>>,
    /// The slots that are removed.
    pub(super) gone: HashSet<usize>,
    /// What is inserted after a slot.
    pub(super) after: HashMap<usize, Vec<Piece>>,
    /// The slots in whose place another one stands.
    pub(super) instead: HashMap<usize, usize>,
    /// The slots that became part of another.
    pub(super) merged_into: HashMap<usize, usize>,
    /// The blocks of the slots whose blocks change.
    pub(super) blocks: HashMap<usize, Vec<Piece>>,
    /// The values that are written in another way.
    pub(super) values: HashMap<NodeId, Piece>,
    /// The members that are removed, with their objects.
    pub(super) members_gone: Vec<(NodeId, NodeId)>,
    /// The new ids of calls.
    pub(super) new_ids: HashMap<usize, String>,
    /// The results that are removed or have left their place.
    pub(super) results_gone: HashSet<usize>,
    /// The start of the last reasoning whose signature depends on what is before it.
    last_signed: Option<u32>,
    pub(super) edits: Edits<'p, 's>,
    done: Vec<Done>,
    skipped: Vec<(usize, String)>,
}

/// A conversation of a record, with how its file writes what is added to it.
#[derive(Clone, Copy)]
pub(super) struct Source<'p, 's> {
    pub(super) transcript: &'p Transcript<'s>,
    pub(super) pairing: &'p Pairing<'p, 's>,
    pub(super) target: &'p Target,
    pub(super) repair: &'static Repair,
    /// How the reader of its file writes records; `None` for requests.
    pub(super) mend: Option<&'static Mend>,
    /// Whether the model's signatures depend on what is before them.
    pub(super) binds_signatures: bool,
}

impl<'p, 's> Planner<'p, 's> {
    /// `None` if the messages are not in one list.
    pub(super) fn new(
        document: &'p Document<'s>,
        how: &'p FixOptions,
        findings: impl Iterator<Item = (usize, &'p Finding)>,
        first: Source<'p, 's>,
    ) -> Option<Self> {
        let mut by_place = HashMap::default();
        for (number, finding) in findings {
            by_place.entry((finding.rule, finding.spot.node)).or_insert(number);
        }
        let mut planner = Self {
            transcript: first.transcript,
            pairing: first.pairing,
            document,
            repair: first.repair,
            mend: first.mend,
            target: first.target,
            how,
            findings: by_place,
            lists: Lists::default(),
            list: NodeId::ROOT,
            slots: Vec::new(),
            messages: Vec::new(),
            elsewhere: Vec::new(),
            ids: None,
            gone: HashSet::default(),
            after: HashMap::default(),
            instead: HashMap::default(),
            merged_into: HashMap::default(),
            blocks: HashMap::default(),
            values: HashMap::default(),
            members_gone: Vec::new(),
            new_ids: HashMap::default(),
            results_gone: HashSet::default(),
            last_signed: None,
            edits: Edits::new(document),
            done: Vec::new(),
            skipped: Vec::new(),
        };
        planner.enter(first).then_some(planner)
    }

    /// Goes to another conversation of the record; `false` if it cannot be mended.
    pub(super) fn enter(&mut self, source: Source<'p, 's>) -> bool {
        let key = source.mend.and_then(|mend| mend.message);
        // A prompt may be elsewhere than the answer to it.
        let Some(node) = source.transcript.messages.last().map(|message| message.place.node) else {
            return false;
        };
        let Some(list) = self.lists.list_of(self.document, node) else { return false };
        let is_new = self.slots.is_empty() || list != self.list;
        if is_new && !self.lists.seen.insert(list) || is_wide(source.pairing) {
            return false;
        }
        if is_new {
            if !self.slots.is_empty() {
                self.settle();
            }
            let list = self.document.value(list);
            if has_long_message(list, source.repair) {
                self.slots.clear();
                return false;
            }
            self.list = list.id();
            self.slots = list.elements().map(Value::id).collect();
            let message = |slot: Value<'_, '_>| key.and_then(|key| slot.get(key)).unwrap_or(slot).id();
            self.messages = list.elements().map(message).collect();
        }
        self.transcript = source.transcript;
        self.pairing = source.pairing;
        self.repair = source.repair;
        self.mend = source.mend;
        self.target = source.target;
        self.new_ids.clear();
        self.results_gone.clear();
        self.merged_into.clear();
        let places = self.transcript.messages.iter().map(|message| message.place);
        let is_here = |place: &Place| self.messages.binary_search(&place.node).is_ok();
        self.elsewhere = places.filter(|place| !is_here(place)).map(|place| place.span).collect();
        self.elsewhere.sort_unstable_by_key(|span| span.start);
        let is_signed = |body: &Body<'_>| {
            matches!(body, Body::Reasoning(reasoning)
                if reasoning.is_redacted || reasoning.signature == Signature::Present)
        };
        let signed = source.transcript.parts.iter().filter(|part| is_signed(&part.body));
        let last = signed.map(|part| part.place.span.start).max();
        self.last_signed = last.filter(|_| source.binds_signatures);
        true
    }

    /// Plans everything in a conversation, in the order that keeps one step from undoing another.
    pub(super) fn plan(&mut self) {
        self.spelling();
        self.ids();
        self.duplicate_results();
        self.unanswered_calls();
        self.split_turns();
        self.results();
        self.orphans();
    }

    /// What was planned.
    pub(super) fn finish(mut self) -> Planned {
        self.settle();
        let bytes = self.edits.apply().into_owned();
        let mut done = self.done;
        done.sort_by_key(|done| done.finding);
        Planned { bytes, done, skipped: self.skipped }
    }

    /// The finding of a rule at a place.
    pub(super) fn finding(&self, rule: &'static str, place: Place) -> Option<usize> {
        let found = self.findings.get(&(rule, place.node)).copied()?;
        let before = self.elsewhere.partition_point(|span| span.start <= place.span.start);
        let is_elsewhere = before > 0 && self.elsewhere[before - 1].contains(place.span);
        (!is_elsewhere).then_some(found)
    }

    /// Whether to mend a finding, which changes the text from `at`. `lost` says what the fix would lose or guess.
    pub(super) fn mends(&mut self, finding: usize, deed: Deed, at: u32, lost: Option<String>) -> bool {
        let lost = lost.or_else(|| {
            self.is_signed_after(at).then(|| {
                "signed reasoning after it may be refused, because what it follows is changed".to_owned()
            })
        });
        if let Some(lost) = &lost
            && !self.how.unsafe_fixes
        {
            self.skipped.push((finding, lost.clone()));
            return false;
        }
        self.done.push(Done { finding, deed, lost });
        true
    }

    /// Whether reasoning whose signature depends on what is before it comes after a place.
    pub(super) fn is_signed_after(&self, at: u32) -> bool {
        self.last_signed.is_some_and(|signed| signed > at)
    }

    /// The slot that a value is in.
    pub(super) fn slot_of(&self, node: NodeId) -> usize {
        self.slots.partition_point(|slot| *slot <= node).saturating_sub(1)
    }

    /// Whether a result is a slot by itself, and not a block in one.
    pub(super) fn is_slot(&self, site: &ResultSite<'_, '_>) -> bool {
        self.messages.binary_search(&site.part.place.node).is_ok()
    }

    pub(super) fn is_dataset(&self) -> bool {
        self.transcript.kind == TranscriptKind::Dataset
    }

    /// What is only written in another way: lists without elements, blank blocks, names and arguments.
    fn spelling(&mut self) {
        for (message, parts) in self.transcript.messages_with_parts() {
            if let Some(place) = message.empty_calls
                && let Some(finding) = self.finding("empty-tool-calls", place)
                && self.mends(finding, Deed::Removed, place.span.start, None)
            {
                self.members_gone.push((message.place.node, place.node));
            }
            for part in parts {
                self.blank_block(part.place);
                if let Body::Call(call) = &part.body {
                    self.arguments(part.place, call);
                }
            }
        }
        if let Some(place) = self.transcript.request.tools.place
            && let Some(finding) = self.finding("empty-tool-list", place)
            && self.mends(finding, Deed::Removed, place.span.start, None)
        {
            self.members_gone.push((NodeId::ROOT, place.node));
        }
        for site in &self.pairing.results {
            let call = site.paired_with.call().map(|call| &self.pairing.calls[call]);
            if let Some(finding) = self.finding("tool-name-mismatch", site.part.place)
                && let Some(called) = call.and_then(|site| site.call.name.as_ref())
                && let Some(labelled) = &site.result.name
                && site.result.call_id.is_some()
                && self.mends(finding, Deed::Rewritten, labelled.place.span.start, None)
            {
                self.values.insert(labelled.place.node, Piece::text(&called.text));
            }
        }
    }

    /// A blank block beside others is removed.
    fn blank_block(&mut self, place: Place) {
        let Some(finding) = self.finding("blank-text", place) else { return };
        let slot = self.slot_of(place.node);
        let is_marked = self.document.value(place.node).members().count() > 2;
        let Some(blocks) = self.blocks_of(slot) else { return };
        let is_block = blocks.contains(&Piece::Node(place.node));
        if blocks.len() < 2 || !is_block || is_marked {
            return;
        }
        if self.mends(finding, Deed::Removed, place.span.start, None) {
            let blocks = blocks.into_iter().filter(|block| *block != Piece::Node(place.node)).collect();
            self.blocks.insert(slot, blocks);
        }
    }

    /// The ids that the target refuses, and those that are used again.
    fn ids(&mut self) {
        let pairing = self.pairing;
        let known = pairing.calls.iter().filter_map(|site| site.call.id.as_ref());
        let mut used: HashSet<String> = known.map(|id| id.text.to_string()).collect();
        let state = self.transcript.request.continues_remote_state
            || self.transcript.details.refers_to_stored_items
            || !self.transcript.details.programmatic_calls.is_empty();
        let state = state.then(|| "other places may refer to the id".to_owned());
        let mut uses: HashMap<&str, usize> = HashMap::default();
        let mut renamed: HashSet<&str> = HashSet::default();
        for site in &pairing.calls {
            let Some(id) = &site.call.id else { continue };
            let number = uses.entry(&id.text).or_default();
            *number += 1;
            let malformed = self
                .finding("malformed-tool-call-id", site.part.place)
                .or_else(|| self.finding("malformed-tool-call-id", id.place));
            let again = self
                .finding("reused-tool-call-id", site.part.place)
                .or_else(|| self.finding("duplicate-tool-call-id", site.part.place));
            let is_wanted = malformed.is_some() || again.is_some() || renamed.contains(&*id.text);
            if !is_wanted || (*number > 1 && pairing.answer_of(site).is_none()) {
                continue;
            }
            let Some(new) = ids::replacement(&id.text, *number, self.target, &used) else { continue };
            let at = id.place.span.start;
            let is_done = [malformed, again]
                .into_iter()
                .flatten()
                .all(|finding| self.mends(finding, Deed::Renamed, at, state.clone()));
            if is_done {
                renamed.insert(&id.text);
                used.insert(new.clone());
                self.values.insert(id.place.node, Piece::text(&new));
                self.new_ids.insert(site.number, new);
            }
        }
        for site in &pairing.results {
            let new = site.paired_with.call().and_then(|call| self.new_ids.get(&call));
            if let (Some(new), Some(id)) = (new, &site.result.call_id) {
                self.values.insert(id.place.node, Piece::text(new));
            }
        }
    }
}

/// The most blocks of a message, calls of a turn, and results of a turn in what is planned. Some steps look at all others
/// of a turn for each of them.
const MOST_IN_TURN: usize = 1000;

/// Whether a message has so many parts that planning would take too long.
fn has_long_message(list: Value<'_, '_>, repair: &Repair) -> bool {
    let is_long = |message: Value<'_, '_>| {
        let blocks = repair.blocks.and_then(|key| message.get(key));
        blocks.is_some_and(|blocks| blocks.children().count() > MOST_IN_TURN)
    };
    list.elements().any(is_long)
}

/// Whether a turn has so many parts that planning would take too long.
fn is_wide(pairing: &Pairing<'_, '_>) -> bool {
    (0..pairing.turns.len()).any(|turn| {
        pairing.calls_of_turn(turn).len() > MOST_IN_TURN || pairing.results_of_turn(turn).len() > MOST_IN_TURN
    })
}

/// The lists of a document.
#[derive(Default)]
struct Lists {
    /// The children of the values on the way to them.
    children: HashMap<NodeId, Vec<NodeId>>,
    /// Those that have been planned.
    seen: HashSet<NodeId>,
}

impl Lists {
    /// The innermost list that a value is in.
    fn list_of(&mut self, document: &Document<'_>, node: NodeId) -> Option<NodeId> {
        let mut at = document.root();
        let mut list = None;
        while at.id() != node {
            if at.is_array() {
                list = Some(at.id());
            }
            let children =
                self.children.entry(at.id()).or_insert_with(|| at.children().map(Value::id).collect());
            let before = children.partition_point(|child| *child <= node);
            at = document.value(*children.get(before.checked_sub(1)?)?);
        }
        list
    }
}
