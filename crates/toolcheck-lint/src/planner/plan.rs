//! The plan for one record.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use toolcheck_core::RuleId;
use toolcheck_core::fix::{Change, Cost, Fix};
use toolcheck_core::fix_style::FixStyle;
use toolcheck_core::ir::{Body, Message, Place, Role, Signature, Transcript, TranscriptKind};
use toolcheck_core::pairing::{Pairing, ResultSite};
use toolcheck_core::readers::{FileFixStyle, NextRequest};
use toolcheck_core::targets::Target;
use toolcheck_json::edit::{Edits, Piece};
use toolcheck_json::{Document, NodeId, Span, Value};

use super::blocks::Blocks;
use super::options::FixOptions;
use super::{Action, ids};
use crate::finding::Finding;

/// A finding that is fixed.
pub(crate) struct AppliedFix {
    pub(crate) finding: usize,
    pub(crate) action: Action,
    pub(crate) cost: Option<Cost>,
}

/// The members of new objects.
type NewKeys = BTreeMap<(NodeId, String), Vec<(Cow<'static, str>, Piece)>>;

/// What is to be done to a record.
pub(crate) struct Planned {
    pub(crate) bytes: Vec<u8>,
    pub(crate) done: Vec<AppliedFix>,
    /// The findings that only an unsafe fix fixes, with what it would cost.
    pub(crate) skipped: Vec<(usize, Cost)>,
    /// The findings that nothing fixes here, with why.
    pub(crate) left: Vec<(usize, &'static str)>,
    /// Whether what belongs together waits until something can be read.
    pub(crate) waits: bool,
}

/// Plans the changes of a record. `slots` are the elements of its list of messages or items.
pub(crate) struct Planner<'p, 's> {
    pub(super) transcript: &'p Transcript<'s>,
    pub(super) pairing: &'p Pairing<'p, 's>,
    pub(super) document: &'p Document<'s>,
    pub(super) fix_style: &'static FixStyle,
    pub(super) file_style: Option<&'static FileFixStyle>,
    pub(super) target: &'p Target,
    pub(super) how: &'p FixOptions,
    pub(super) findings: HashMap<(RuleId, NodeId), usize>,
    lists: Lists,
    pub(super) is_row: bool,
    pub(super) list: NodeId,
    pub(super) slots: Vec<NodeId>,
    /// The message in each slot.
    pub(super) messages: Vec<NodeId>,
    /// The messages of the conversation that are not in the list, which are not changed.
    elsewhere: Vec<Span>,
    /// The ids of the records in the list, as they are written.
    pub(super) ids: Option<HashSet<&'s [u8]>>,
    /// The ids of lost records that only something which is no result any more has followed.
    pub(super) lost: HashSet<&'s [u8]>,
    /// The id of the record before each that is lost, by where that is named.
    pub(super) before_lost: HashMap<NodeId, NodeId>,
    /// The slots with messages of the model, in their order, once they are needed.
    pub(super) answers: Option<Vec<usize>>,
    /// The slots that are removed.
    pub(super) gone: HashSet<usize>,
    /// What is inserted before a slot.
    pub(super) before: HashMap<usize, Piece>,
    /// What is inserted after a slot.
    pub(super) after: HashMap<usize, Vec<Piece>>,
    /// The slots in whose place another one stands.
    pub(super) instead: HashMap<usize, usize>,
    /// The slots that became part of another.
    pub(super) merged_into: HashMap<usize, usize>,
    /// The blocks of the slots whose blocks change.
    pub(super) blocks: Blocks,
    /// The values that are written in another way.
    pub(super) values: HashMap<NodeId, Piece>,
    /// The members that are removed, with their objects.
    pub(super) members_gone: Vec<(NodeId, NodeId)>,
    pub(super) new_ids: HashMap<usize, String>,
    /// The results that are removed or have left their place.
    pub(super) results_gone: HashSet<usize>,
    /// The start of the last reasoning whose signature depends on what is before it.
    last_signed: Option<u32>,
    /// For each message, how many there are up to the last one of the model before it.
    pub(super) said_before: OnceCell<Vec<usize>>,
    pub(super) edits: Edits<'p, 's>,
    /// The findings that are fixed in their place, if at all.
    pub(super) in_place: HashSet<usize>,
    /// What fixes findings in their place, with their rules.
    pub(super) fixes: Vec<(usize, RuleId, &'p Fix)>,
    /// Whether what can be read only after a fix may be half of a pair.
    pub(super) reveals: bool,
    /// The values and the missing keys that were fixed in their place.
    pub(super) touched: HashMap<(NodeId, Option<String>), Change>,
    /// The slots in which something is fixed in its place other than by its removal.
    pub(super) kept: HashSet<usize>,
    /// The elements that are removed from lists other than that of messages and their blocks.
    pub(super) elements_gone: HashMap<NodeId, Vec<NodeId>>,
    /// The id of the last record that was put after the one in a slot, where records follow each other by their ids.
    pub(super) said_after: HashMap<usize, Piece>,
    /// The objects that are made for members which move into them, by the object and the key that they are under.
    pub(super) made: NewKeys,
    pub(super) done: Vec<AppliedFix>,
    skipped: Vec<(usize, Cost)>,
    left: Vec<(usize, &'static str)>,
    /// The conversations that are not changed, with why.
    blocked: Vec<(Span, &'static str)>,
}

/// A conversation of a record, with how its file writes what is added to it.
#[derive(Clone, Copy)]
pub(super) struct Source<'p, 's> {
    pub(super) transcript: &'p Transcript<'s>,
    pub(super) pairing: &'p Pairing<'p, 's>,
    pub(super) target: &'p Target,
    pub(super) fix_style: &'static FixStyle,
    /// How the reader of its file writes records; `None` for requests.
    pub(super) file_style: Option<&'static FileFixStyle>,
    /// Whether the model's signatures depend on what is before them.
    pub(super) binds_signatures: bool,
    /// Whether it is certainly a row of a data set: lists of messages are in logs, too.
    pub(super) is_row: bool,
}

impl<'p, 's> Planner<'p, 's> {
    pub(super) fn new(
        document: &'p Document<'s>,
        how: &'p FixOptions,
        findings: impl Iterator<Item = (usize, &'p Finding)>,
        first: Source<'p, 's>,
    ) -> Self {
        let mut by_place = HashMap::default();
        let mut fixes = Vec::new();
        for (number, finding) in findings {
            fixes.extend(finding.fix.as_deref().map(|fix| (number, finding.rule, fix)));
            by_place.entry((finding.rule, finding.spot.node)).or_insert(number);
        }
        let mut planner = Self {
            transcript: first.transcript,
            pairing: first.pairing,
            document,
            fix_style: first.fix_style,
            file_style: first.file_style,
            target: first.target,
            how,
            findings: by_place,
            in_place: fixes.iter().map(|(number, ..)| *number).collect(),
            lists: Lists::default(),
            is_row: first.is_row,
            list: NodeId::ROOT,
            slots: Vec::new(),
            messages: Vec::new(),
            elsewhere: Vec::new(),
            ids: None,
            lost: HashSet::default(),
            before_lost: HashMap::default(),
            answers: None,
            gone: HashSet::default(),
            before: HashMap::default(),
            after: HashMap::default(),
            instead: HashMap::default(),
            merged_into: HashMap::default(),
            blocks: Blocks::default(),
            values: HashMap::default(),
            members_gone: Vec::new(),
            new_ids: HashMap::default(),
            results_gone: HashSet::default(),
            last_signed: None,
            said_before: OnceCell::new(),
            edits: Edits::new(document),
            fixes,
            reveals: false,
            touched: HashMap::default(),
            kept: HashSet::default(),
            elements_gone: HashMap::default(),
            said_after: HashMap::default(),
            made: NewKeys::new(),
            done: Vec::new(),
            skipped: Vec::new(),
            left: Vec::new(),
            blocked: Vec::new(),
        };
        planner.heed_signatures(&first);
        if !planner.enter(first) {
            (planner.slots, planner.messages) = (Vec::new(), Vec::new());
        }
        planner
    }

    /// Notes why nothing of a conversation is fixed.
    fn block(&mut self, source: &Source<'p, 's>, reason: &'static str) -> bool {
        // What is not in its messages has nothing to do with them.
        let messages = source.transcript.messages.iter().map(|message| message.place.span);
        let all = messages.reduce(|one, other| one.to(other)).unwrap_or(source.transcript.place.span);
        self.blocked.push((all, reason));
        false
    }

    /// Goes to another conversation of the record; `false` if it cannot be fixed.
    pub(super) fn enter(&mut self, source: Source<'p, 's>) -> bool {
        let key = source.file_style.and_then(|file_style| file_style.message);
        // A prompt may be elsewhere than the answer to it, and a result inside its call.
        let messages = &source.transcript.messages;
        let last = messages.iter().rfind(|message| message.role != Role::Tool).or(messages.last());
        let Some(node) = last.map(|message| message.place.node) else {
            return self.block(&source, "there is no message, and nobody knows what was to be said");
        };
        let Some(list) = self.lists.list_of(self.document, node) else {
            return self.block(&source, "its messages are not in a list");
        };
        let is_new = self.slots.is_empty() || list != self.list;
        if is_new && !self.lists.seen.insert(list) {
            return self.block(&source, "its messages are in the list of another conversation too");
        }
        if is_wide(source.pairing) {
            return self.block(&source, "a turn of more than 1000 calls or results is not changed");
        }
        if is_new {
            if !self.slots.is_empty() {
                self.settle();
            }
            let list = self.document.value(list);
            let is_one = |keys: &[&str]| list.elements().take(2).any(|slot| slot.get_any(keys).is_some());
            let fixed = source.file_style.and_then(|file_style| file_style.fixed_records);
            if let Some((_, why)) = fixed.filter(|(keys, _)| is_one(keys)) {
                self.slots.clear();
                return self.block(&source, why);
            }
            if has_long_message(list, source.fix_style) {
                self.slots.clear();
                return self.block(&source, "a message of more than 1000 blocks is not changed");
            }
            self.list = list.id();
            self.slots = list.elements().map(Value::id).collect();
            let message = |slot: Value<'_, '_>| key.and_then(|key| slot.get(key)).unwrap_or(slot).id();
            self.messages = list.elements().map(message).collect();
        }
        self.transcript = source.transcript;
        self.answers = None;
        self.said_before = OnceCell::new();
        self.pairing = source.pairing;
        self.fix_style = source.fix_style;
        self.file_style = source.file_style;
        self.target = source.target;
        self.is_row = source.is_row;
        self.new_ids.clear();
        self.results_gone.clear();
        self.merged_into.clear();
        self.said_after.clear();
        let calls = &source.pairing.calls;
        let is_call = |node| calls.binary_search_by_key(&node, |call| call.part.place.node).is_ok();
        let is_here = |message: &&Message<'_>| {
            let place = &message.place;
            let [in_messages, in_slots] =
                [&self.messages, &self.slots].map(|list| list.binary_search(&place.node));
            // Results may stand in their calls.
            let in_call = || {
                let slot = self.slots.get(self.slot_of(place.node));
                let are_inside =
                    self.file_style.is_some_and(|file_style| file_style.result_in_call.is_some());
                (are_inside || message.role == Role::Tool && is_call(place.node))
                    && slot.is_some_and(|slot| self.document.value(*slot).span().contains(place.span))
            };
            in_messages.is_ok() || in_slots.is_ok() || in_call()
        };
        let others = self.transcript.messages.iter().filter(|message| !is_here(message));
        self.elsewhere = others.map(|message| message.place.span).collect();
        toolcheck_json::sort_by_position(&mut self.elsewhere, |span| span.start as usize);
        self.heed_signatures(&source);
        true
    }

    /// Notes where the last reasoning is that is signed with what is before it.
    fn heed_signatures(&mut self, source: &Source<'p, 's>) {
        let is_signed = |body: &Body<'_>| {
            matches!(body, Body::Reasoning(reasoning)
                if reasoning.is_redacted || reasoning.signature == Signature::Present)
        };
        let signed = source.transcript.parts.iter().filter(|part| is_signed(&part.body));
        let last = signed.map(|part| part.place.span.start).max();
        self.last_signed = last.filter(|_| source.binds_signatures);
    }

    /// Plans everything in a conversation, in the order that keeps one step from undoing another.
    /// If it `waits`, what belongs together is planned once all of it can be read.
    pub(super) fn plan(&mut self, waits: bool) {
        self.fixes();
        self.reveals &= waits;
        if self.slots.is_empty() || self.reveals {
            return;
        }
        self.before_lost.extend(self.transcript.gaps.iter().map(|gap| (gap.lost, gap.before)));
        self.leave_to_agent();
        self.spelling();
        self.ids();
        self.duplicate_results();
        self.unanswered_calls();
        self.split_turns();
        self.cut_answers();
        self.put_texts_first();
        self.results();
        self.orphans();
        self.ends();
    }

    /// Leaves what the agent itself puts right before it goes on, unless the user asks for the rule, or the agent does not
    /// find what is before it.
    fn leave_to_agent(&mut self) {
        let id = self.transcript.sent_next_by.or(self.transcript.format.map(|format| format.id));
        let Some(agent) = id.and_then(NextRequest::of).filter(|_| !self.how.accepted) else { return };
        let breaks = self.breaks();
        let pairing = self.pairing;
        let calls = pairing.calls.iter().map(|site| site.part.place.node);
        for node in calls.chain(pairing.results.iter().map(|site| site.part.place.node)) {
            let slot = self.slot_of(node);
            let next = breaks.partition_point(|(_, end)| *end < slot);
            if breaks.get(next).is_none_or(|(start, _)| *start > slot) {
                let found = agent.repairs.keys().filter_map(|rule| self.findings.remove(&(*rule, node)));
                self.left.extend(found.map(|finding| (finding, REPAIRED)));
            }
        }
    }

    /// Puts a message of the user before a conversation that starts with the model, and after one that ends with it.
    fn ends(&mut self) {
        let messages = &self.transcript.messages;
        let first = messages.iter().find(|message| message.role != Role::System);
        if let Some(place) = first.map(|message| message.place)
            && let Some(finding) = self.finding(RuleId::FirstMessageRole, place)
            && self.inserts(finding, 0)
        {
            // What the user is made to say there already is a beginning.
            let said = self.fix_style.said;
            self.before.entry(self.slot_of(place.node)).or_insert_with(|| said(Piece::text(START)));
        }
        if let Some(place) = messages.last().map(|message| message.place)
            && !self.gone.contains(&self.slot_of(place.node))
            && let Some(finding) = self.finding(RuleId::TrailingAssistant, place)
            && self.inserts(finding, place.span.end)
        {
            let slot = self.slot_of(place.node);
            self.after.entry(slot).or_default().push((self.fix_style.said)(Piece::text(END)));
        }
    }

    /// Whether to insert a message of the user for a finding.
    fn inserts(&mut self, finding: usize, at: u32) -> bool {
        let guess = Cost::Guess("the model reads a message that no one wrote".to_owned());
        self.file_style.is_none() && self.try_text(finding, Action::Inserted, at, Some(guess))
    }

    /// Notes why a finding is not fixed.
    pub(super) fn leave(&mut self, finding: Option<usize>, reason: &'static str) {
        self.left.extend(finding.map(|finding| (finding, reason)));
    }

    /// Why findings in conversations that are not changed are left.
    fn blocked(&self) -> Vec<(usize, &'static str)> {
        let done: HashSet<usize> = self.done.iter().map(|done| done.finding).collect();
        let in_blocked = self.findings.iter().filter_map(|((_, node), number)| {
            let span = self.document.value(*node).span();
            let blocked = self.blocked.iter().find(|(around, _)| around.contains(span));
            let elsewhere = || self.is_elsewhere(span).then_some(ELSEWHERE);
            Some((*number, blocked.map(|(_, reason)| *reason).or_else(elsewhere)?))
        });
        in_blocked.filter(|(number, _)| !done.contains(number)).collect()
    }

    /// Which findings are fixed, and which only an unsafe fix fixes.
    pub(crate) fn outcome(self) -> (Vec<usize>, Vec<usize>) {
        let done = self.done.into_iter().map(|done| done.finding).collect();
        (done, self.skipped.into_iter().map(|(finding, _)| finding).collect())
    }

    /// The list or the object that a value is in.
    pub(super) fn parent_of(&mut self, node: NodeId) -> Option<Value<'p, 's>> {
        let parent = self.lists.way_to(self.document, node)?.0;
        Some(self.document.value(parent))
    }

    pub(crate) fn finish(mut self) -> Planned {
        self.settle();
        let bytes = self.edits.apply().into_owned();
        if !self.blocked.is_empty() || !self.elsewhere.is_empty() {
            let blocked = self.blocked();
            self.left.extend(blocked);
        }
        let mut done = self.done;
        toolcheck_json::sort_by_position(&mut done, |done| done.finding);
        Planned { bytes, done, skipped: self.skipped, left: self.left, waits: self.reveals }
    }

    pub(super) fn finding(&self, rule: RuleId, place: Place) -> Option<usize> {
        let found = self.findings.get(&(rule, place.node)).copied()?;
        (!self.is_elsewhere(place.span)).then_some(found)
    }

    /// Whether a part is in a message that is not in the list.
    pub(super) fn is_elsewhere(&self, span: Span) -> bool {
        let before = self.elsewhere.partition_point(|other| other.start <= span.start);
        before > 0 && self.elsewhere[before - 1].contains(span)
    }

    /// Whether to fix a finding, which changes the text from `at`, at a cost.
    pub(super) fn try_fix(&mut self, finding: usize, action: Action, at: u32, cost: Option<Cost>) -> bool {
        let cost = cost.or_else(|| {
            let risk = "signed reasoning after it may be refused, because what it follows is changed";
            self.is_signed_after(at).then(|| Cost::Guess(risk.to_owned()))
        });
        if let Some(cost) = &cost
            && !self.how.unsafe_fixes
        {
            self.skipped.push((finding, cost.clone()));
            return false;
        }
        self.done.push(AppliedFix { finding, action, cost });
        true
    }

    /// The same for a fix that writes a text which nobody said: a model would learn it from a data set.
    pub(super) fn try_text(&mut self, finding: usize, action: Action, at: u32, cost: Option<Cost>) -> bool {
        if self.is_row {
            self.leave(Some(finding), LEARNT);
            return false;
        }
        self.try_fix(finding, action, at, cost)
    }

    /// Whether the last finding that only an unsafe fix fixes is this.
    pub(super) fn has_skipped(&self, finding: usize) -> bool {
        self.skipped.last().is_some_and(|(last, _)| *last == finding)
    }

    /// Whether reasoning whose signature depends on what is before it comes after a place.
    pub(super) fn is_signed_after(&self, at: u32) -> bool {
        self.last_signed.is_some_and(|signed| signed > at)
    }

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
                && let Some(finding) = self.finding(RuleId::EmptyToolCalls, place)
                && self.try_fix(finding, Action::Removed, place.span.start, None)
            {
                self.members_gone.push((message.place.node, place.node));
            }
            for part in parts {
                if let Body::Call(call) = &part.body {
                    self.arguments(part.place, call);
                }
            }
        }
        if let Some(place) = self.transcript.request.tools.place
            && let Some(finding) = self.finding(RuleId::EmptyToolList, place)
            && self.try_fix(finding, Action::Removed, place.span.start, None)
        {
            // What holds only the list goes with it.
            let around = self.parent_of(place.node);
            let is_alone = around.is_some_and(|around| around.children().count() == 1);
            match around.filter(|around| is_alone && around.id() != NodeId::ROOT) {
                Some(around) => self.remove(around.id()),
                None => self.remove(place.node),
            }
        }
        for site in &self.pairing.results {
            let call = site.paired_with.call().map(|call| &self.pairing.calls[call]);
            if let Some(finding) = self.finding(RuleId::ToolNameMismatch, site.part.place)
                && let Some(called) = call.and_then(|site| site.call.name.as_ref())
                && let Some(labelled) = &site.result.name
                && site.result.call_id.is_some()
                && self.try_fix(finding, Action::Rewritten, labelled.place.span.start, None)
            {
                self.values.insert(labelled.place.node, Piece::text(&called.text));
            }
        }
    }

    /// The ids that the target refuses, and those that are used again.
    fn ids(&mut self) {
        let pairing = self.pairing;
        let known = pairing.calls.iter().filter_map(|site| site.call.id.as_ref());
        let mut used: HashSet<String> = known.map(|id| id.text.to_string()).collect();
        let state = self.transcript.request.continues_remote_state
            || self.transcript.details.refers_to_stored_calls()
            || !self.transcript.details.programmatic_calls.is_empty();
        let state = state.then(|| Cost::Guess("other places may refer to the id".to_owned()));
        let mut uses: HashMap<&str, usize> = HashMap::default();
        let mut renamed: HashSet<&str> = HashSet::default();
        let unclear = self.unclear_ids();
        for site in &pairing.calls {
            let Some(id) = &site.call.id else { continue };
            let number = uses.entry(&id.text).or_default();
            *number += 1;
            let malformed = self
                .finding(RuleId::MalformedToolCallId, site.part.place)
                .or_else(|| self.finding(RuleId::MalformedToolCallId, id.place));
            let again = self
                .finding(RuleId::ReusedToolCallId, site.part.place)
                .or_else(|| self.finding(RuleId::DuplicateToolCallId, site.part.place));
            // Where both lack a result, each needs one of its own.
            let is_twin = *number > 1 && self.lacks_result_beside(site);
            let is_wanted = malformed.is_some() || again.is_some() || renamed.contains(&*id.text) || is_twin;
            if !is_wanted {
                continue;
            }
            let whose = "assumes which of the calls with one id the result answers";
            let is_unclear = unclear.contains(&*id.text);
            let cost = if is_unclear { Some(Cost::Guess(whose.to_owned())) } else { state.clone() };
            // What is only no string may stay as it is spelled.
            let is_own = id.instead.is_some() && *number == 1 && used.remove(&*id.text);
            let Some(new) = ids::replacement(&id.text, *number, self.target, &used) else { continue };
            if is_own {
                used.insert(id.text.to_string());
            }
            let at = id.place.span.start;
            let mut findings = [malformed, again].into_iter().flatten();
            let is_done = findings.all(|finding| self.try_fix(finding, Action::Renamed, at, cost.clone()));
            let is_found = malformed.is_some() || again.is_some();
            if is_done && (is_found || cost.is_none() || self.how.unsafe_fixes) {
                renamed.insert(&id.text);
                used.insert(new.clone());
                self.values.insert(id.place.node, Piece::text(&new));
                self.rename_between(site, id.place.node, &new);
                self.new_ids.insert(site.number, new);
            }
        }
        self.missing_ids(used);
        for site in &pairing.results {
            let new = site.paired_with.call().and_then(|call| self.new_ids.get(&call));
            match (new, &site.result.call_id) {
                (Some(new), Some(id)) => _ = self.values.insert(id.place.node, Piece::text(new)),
                (Some(new), None) => {
                    let new = Piece::text(new);
                    if let Some(key) = self.fix_style.result_id {
                        let own = self.fix_style.own(self.document.value(site.part.place.node));
                        self.edits.set_member(own.id(), key, new);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Why the file of an agent is not changed.
pub(crate) const REPAIRED: &str = "the agent repairs it itself when it goes on";

/// Why a message in another list is not changed.
const ELSEWHERE: &str = "it is not in the list with the last answer, and the others are not changed";

/// What a new id costs.
pub(super) const MADE_UP: &str = "the id of the call is invented";

/// Why a fix that writes a text is not made in a row of a data set.
pub(super) const LEARNT: &str = "a model would learn the text that this would write: leave the row out";

/// What the user is made to say before a model that speaks first.
const START: &str = "[The beginning of this conversation is missing.]";

/// What the user is made to say after a model that speaks last.
const END: &str = "[Go on.]";

/// The most blocks of a message, calls of a turn, and results of a turn in what is planned. Some steps look at all others
/// of a turn for each of them.
const MOST_IN_TURN: usize = 1000;

/// Whether a message has so many parts that planning would take too long.
fn has_long_message(list: Value<'_, '_>, fix_style: &FixStyle) -> bool {
    let is_long = |message: Value<'_, '_>| {
        let blocks = fix_style.blocks.and_then(|key| message.get(key));
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
        self.way_to(document, node)?.1
    }

    /// What a value is in, and the innermost list around it.
    fn way_to(&mut self, document: &Document<'_>, node: NodeId) -> Option<(NodeId, Option<NodeId>)> {
        let mut at = document.root();
        let mut list = None;
        let mut parent = None;
        while at.id() != node {
            parent = Some(at.id());
            if at.is_array() {
                list = Some(at.id());
            }
            let children =
                self.children.entry(at.id()).or_insert_with(|| at.children().map(Value::id).collect());
            let before = children.partition_point(|child| *child <= node);
            at = document.value(*children.get(before.checked_sub(1)?)?);
        }
        Some((parent?, list))
    }
}
