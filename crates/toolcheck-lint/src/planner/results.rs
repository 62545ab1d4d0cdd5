//! Results that are there twice, or without a call.

use std::borrow::Cow;
use std::cell::LazyCell;

use foldhash::HashSet;
use toolcheck_core::RuleId;
use toolcheck_core::fix::Cost;
use toolcheck_core::fix_style::{self, NO_CALL};
use toolcheck_core::ir::{Body, Place, Role, ToolResult};
use toolcheck_core::text::shorten;
use toolcheck_json::edit::Piece;
use toolcheck_json::{JsonStr, Kind, NodeId, Value};

use super::Action;
use super::options::{Duplicates, Orphans, Unanswered};
use super::plan::Planner;
use toolcheck_core::pairing::{Pairing, ResultSite};

/// Why a result is left that only its program knows how to write.
pub(super) const IN_NO_BLOCK: &str = "its message holds several results in a way of its own";

/// What giving a message with calls the role of the model costs.
const OF_MODEL: &str = "it is only a guess that the message with the calls is the model's";

/// Why two results of one call stay.
const DIFFERENT: &str =
    "the two results differ and cannot be joined; `--duplicates first` or `last` keeps one";

/// What is lost if the results after one without an id move up.
const OTHERS: &str = "which calls the other results answer, as they have no ids";

/// How many keys of a result are named that are lost with it.
const MOST_KEYS: usize = 5;

/// More blocks than this are not all reasoning.
const MOST_REASONING: usize = 8;

impl<'p> Planner<'p, '_> {
    /// Second results: the same again, one that stands for the other, or another.
    pub(super) fn duplicate_results(&mut self) {
        let pairing = self.pairing;
        for site in &pairing.results {
            let Some(first) = pairing.first_result(site) else { continue };
            let Some(finding) = self.finding(RuleId::DuplicateToolResult, site.part.place) else { continue };
            let at = first.part.place.span.start;
            let done = self.done.len();
            let is_same = self.raw(first.result) == self.raw(site.result)
                && first.result.is_error == site.result.is_error;
            let says_nothing = !is_same && self.is_placeholder(site.result);
            // Without ids, the order says which call a result answers, so the one out of order is one too many.
            let without = |gone| pairing.without(gone, |number| self.results_gone.contains(&number));
            let others = without(site);
            let is_ahead = !others.are_in_order && !says_nothing;
            let ahead = is_ahead.then(|| without(first)).filter(|others| others.are_in_order);
            let (gone, kept) = if ahead.is_some() { (first, site) } else { (site, first) };
            let others = ahead.unwrap_or(others);
            let lost = (!others.keep_their_calls).then_some(OTHERS);
            if is_same || says_nothing {
                let cost = self.beside(gone, Some(kept)).or(lost.map(str::to_owned)).map(Cost::Loss);
                if self.try_fix(finding, Action::Removed, gone.part.place.span.start, cost) {
                    self.take_out(gone);
                }
            } else if self.is_placeholder(first.result) {
                if self.try_fix(finding, Action::Removed, at, lost.map(|lost| Cost::Loss(lost.to_owned()))) {
                    if gone.number == site.number {
                        self.put_instead(first, site)
                    } else {
                        self.take_out(first)
                    }
                }
            } else {
                self.different_results(finding, [first, site], [gone, kept], lost);
            }
            if self.done.len() > done {
                self.bridge(site.paired_with.call(), site);
            }
        }
    }

    /// Two results that say different things, of which one stays in its place.
    fn different_results(
        &mut self,
        finding: usize,
        [first, second]: [&ResultSite<'_, '_>; 2],
        [gone, kept]: [&ResultSite<'_, '_>; 2],
        others_lost: Option<&str>,
    ) {
        let at = first.part.place.span.start;
        match self.how.duplicates {
            Duplicates::First | Duplicates::Last => {
                let is_first = self.how.duplicates == Duplicates::First;
                let (gone, which) = if is_first { (second, "second") } else { (first, "first") };
                let lost = format!("the {which} result, {} bytes", self.raw(gone.result).len());
                let at = gone.part.place.span.start;
                if self.try_fix(finding, Action::Removed, at, Some(Cost::Loss(lost))) {
                    if is_first { self.take_out(second) } else { self.put_instead(first, second) }
                }
            }
            Duplicates::Both => {
                if self.stands_in_call(second) {
                    self.leave(Some(finding), DIFFERENT);
                    return;
                }
                let place = kept.result.content_place;
                let before = place.and_then(|place| self.values.get(&place.node));
                // A third result comes after the second, and what is changed otherwise is joined the next time.
                if before.is_some_and(|before| !matches!(before, Piece::List(_) | Piece::Raw(_))) {
                    return;
                }
                let joined = self.joined_results(before, [first, second].map(|site| self.content_of(site)));
                let (Some(joined), Some(place)) = (joined, place) else {
                    let last = self.pairing.results_of_turn(second.turn).last().unwrap_or(second);
                    self.say(finding, second, last, "a second result");
                    return;
                };
                let mut lost =
                    "the fact that these were two results, which the model saw one at a time".to_owned();
                let beside = self.beside(gone, Some(kept)).or(others_lost.map(str::to_owned));
                lost.extend(beside.map(|beside| format!(", and {beside}")));
                if self.try_fix(finding, Action::Merged, at, Some(Cost::Loss(lost))) {
                    self.values.insert(place.node, joined);
                    self.take_out(gone);
                }
            }
        }
    }

    /// What two results say, as one; `None` if it has no form that can be joined. `before` is what the first one has become.
    fn joined_results(
        &self,
        before: Option<&Piece>,
        [first, second]: [Option<Value<'_, '_>>; 2],
    ) -> Option<Piece> {
        if self.fix_style.takes_lists {
            let mut one = match before {
                Some(Piece::List(list)) => list.clone(),
                _ => self.content_blocks(first)?,
            };
            let other = self.content_blocks(second)?;
            // What says nothing adds nothing.
            if let Some(first) = first.filter(|_| other.is_empty() && before.is_none()) {
                return Some(Piece::Node(first.id()));
            }
            one.extend(other);
            return Some(Piece::List(one));
        }
        let raw = |content: Option<Value<'_, '_>>| match content {
            Some(content) => Some(content.as_json_str()?.raw().to_vec()),
            None => Some(Vec::new()),
        };
        let one = match before {
            Some(Piece::Raw(text)) => text.get(1..text.len() - 1)?.to_vec(),
            _ => raw(first)?,
        };
        let said: Vec<Vec<u8>> = [one, raw(second)?].into_iter().filter(|text| !text.is_empty()).collect();
        Some(Piece::Raw([b"\"", &said.join(&b"\\n\\n"[..])[..], b"\""].concat()))
    }

    /// Calls without a result, if they are to be removed. Messages of which only reasoning would be left go with them.
    pub(super) fn unanswered_calls(&mut self) {
        if self.how.unanswered != Unanswered::Drop {
            return;
        }
        let pairing = self.pairing;
        for calls in pairing.calls.chunk_by(|one, other| one.message_number == other.message_number) {
            let mut gone = HashSet::default();
            for call in calls.iter().filter(|call| !pairing.has_stand_in(call)) {
                let Some(finding) = self.finding(RuleId::UnansweredToolCall, call.part.place) else {
                    continue;
                };
                let length = call.call.arguments.place().map_or(0, |place| place.span.range().len());
                let lost = format!("the call, with {length} bytes of arguments");
                if self.try_fix(finding, Action::Removed, call.part.place.span.start, Some(Cost::Loss(lost)))
                {
                    gone.insert(call.part.place.node);
                }
            }
            let mut nodes: Vec<NodeId> = gone.iter().copied().collect();
            nodes.sort_unstable();
            self.take_out_calls(&nodes, &gone);
        }
    }

    /// Takes calls of one message out.
    fn take_out_calls(&mut self, nodes: &[NodeId], others: &HashSet<NodeId>) {
        let mut done = None;
        for node in nodes {
            let slot = self.slot_of(*node);
            let message = self.document.value(self.messages[slot]);
            if message.id() == *node {
                self.gone.insert(slot);
            } else if self.take_out_block(slot, *node) {
                if self.blocks_left(slot) <= MOST_REASONING && self.is_only_reasoning(slot) {
                    self.gone.insert(slot);
                }
            } else if self.fix_style.calls.is_none() {
                self.take_out_of_list(*node);
            } else if done.replace(slot) != Some(slot) {
                self.take_out_of_calls(slot, others);
            }
        }
    }

    /// Whether nothing but reasoning is left of a message.
    fn is_only_reasoning(&self, slot: usize) -> bool {
        let is_reasoning = |piece: &Piece| {
            let Piece::Node(node) = piece else { return false };
            let number = self.transcript.parts.partition_point(|part| part.place.node < *node);
            let parts = self.transcript.parts[number..].iter().take_while(|part| part.place.node == *node);
            parts.into_iter().any(|part| matches!(part.body, Body::Reasoning(_)))
        };
        self.blocks_of(slot).is_some_and(|blocks| blocks.iter().all(is_reasoning))
    }

    /// Takes calls out of the list that a message has for them.
    fn take_out_of_calls(&mut self, slot: usize, gone: &HashSet<NodeId>) {
        let message = self.document.value(self.messages[slot]);
        let Some((calls, text)) = self.fix_style.calls else { return };
        let Some(list) = message.get(calls) else { return };
        let left = list.elements().map(Value::id).filter(|call| !gone.contains(call));
        let left: Vec<Piece> = left.map(Piece::Node).collect();
        let says = message.get(text).is_some_and(|text| {
            text.as_json_str().is_some_and(|text| !text.is_empty()) || text.elements().next().is_some()
        });
        match (left.is_empty(), says) {
            (false, _) => self.edits.set_elements(list.id(), left),
            (true, true) => self.members_gone.push((message.id(), list.id())),
            (true, false) => _ = self.gone.insert(slot),
        }
    }

    /// Results without a call.
    pub(super) fn orphans(&mut self) {
        let pairing = self.pairing;
        let misnamed = self.calls_of_tools();
        let last = LazyCell::new(|| last_that_stay(pairing));
        for site in &pairing.results {
            if pairing.is_first_answer(site) {
                self.join(site);
                continue;
            }
            // One without an id that answers no call is an orphan, too.
            let is_orphan = |rule| self.finding(rule, site.part.place);
            let finding = is_orphan(RuleId::OrphanToolResult);
            let finding = finding.or_else(|| is_orphan(RuleId::MissingToolCallId));
            let apart = self.findings.get(&(RuleId::OrphanToolResult, site.part.place.node)).copied();
            let apart =
                apart.filter(|_| self.file_style.is_some() && self.is_elsewhere(site.part.place.span));
            let Some(finding) = finding.or(apart) else {
                self.follow(site);
                continue;
            };
            if self.how.orphans == Orphans::Leave || self.results_gone.contains(&site.number) {
                self.leave(Some(finding), "kept because of `--orphans leave`");
                continue;
            }
            if (apart.is_some() || self.stands_in_call(site)) && !self.is_again(site) {
                self.say_in_place(finding, site);
                continue;
            }
            if self.calls_in(site).is_some() {
                self.becomes_model(finding, site);
                continue;
            }
            if let Some(id) = &site.result.call_id
                && misnamed.contains(&*id.text)
            {
                let at = site.part.place.span.start;
                self.try_fix(finding, Action::Reattached, at, Some(Cost::Guess(OF_MODEL.to_owned())));
                continue;
            }
            if let Some(call) = pairing.stands_for(site)
                && let (Some(wanted), Some(own)) = (&call.call.id, &site.result.call_id)
            {
                let guess =
                    format!("assumes that the result belongs to the call `{}`", shorten(&wanted.text));
                if self.try_fix(finding, Action::Reattached, own.place.span.start, Some(Cost::Guess(guess))) {
                    self.bridge(Some(call.number), site);
                    let id = self.new_ids.get(&call.number).map_or(&*wanted.text, |id| id);
                    // An id that was lost comes back from the result.
                    if id.is_empty() || wanted.instead.is_some() {
                        self.values.insert(wanted.place.node, Piece::text(&own.text));
                    } else {
                        self.values.insert(own.place.node, Piece::text(id));
                    }
                }
                continue;
            }
            // The same result again is one too many.
            let is_again = self.is_again(site);
            if is_again || self.how.orphans == Orphans::Drop {
                let lost = || Cost::Loss(format!("a result of {} bytes", self.raw(site.result).len()));
                let lost = (!is_again).then(lost);
                if self.try_fix(finding, Action::Removed, site.part.place.span.start, lost) {
                    self.note_lost(self.slot_of(site.part.place.node));
                    self.take_out(site);
                }
                continue;
            }
            self.say(finding, site, &pairing.results[last[site.number]], NO_CALL);
        }
        self.close_lost_gaps();
    }

    /// The calls in a message of a tool that answers none, which only the model's have.
    fn calls_in(&self, site: &ResultSite<'_, '_>) -> Option<Value<'p, '_>> {
        let (key, _) = self.fix_style.calls.filter(|_| self.file_style.is_none() && self.is_slot(site))?;
        let calls = self.document.value(site.part.place.node).get(key)?;
        calls.elements().next().map(|_| calls)
    }

    /// The ids of the calls in such messages.
    fn calls_of_tools(&self) -> HashSet<String> {
        let key = self.fix_style.call_id.filter(|_| self.fix_style.calls.is_some());
        let Some(key) = key else { return HashSet::default() };
        let without_id = self.pairing.results.iter().filter(|site| site.result.call_id.is_none());
        let calls = without_id.filter_map(|site| self.calls_in(site)).flat_map(Value::elements);
        calls.filter_map(|call| call.get_str(key)).map(Cow::into_owned).collect()
    }

    /// Gives a message of a tool with calls, which is the model's, its role.
    fn becomes_model(&mut self, finding: usize, site: &ResultSite<'_, '_>) {
        let role = site.message.role_name.as_ref().filter(|_| site.result.call_id.is_none());
        let Some(role) = role else {
            self.leave(Some(finding), "its message also has calls, so its author is not clear");
            return;
        };
        let at = role.place.span.start;
        let lost = "the fact that a tool said it (it becomes the model's, which is a guess)";
        let lost = Some(Cost::Loss(lost.to_owned()));
        if self.try_fix(finding, Action::Rewritten, at, lost.clone()) {
            self.values.insert(role.place.node, Piece::text("assistant"));
        }
        let without_id = self.finding(RuleId::MissingToolCallId, site.part.place);
        if let Some(other) = without_id.filter(|other| *other != finding) {
            self.try_fix(other, Action::Rewritten, at, lost);
        }
    }

    /// Whether a result is one of several in a message that has them in a way of its own, and no list of blocks.
    pub(super) fn is_in_no_block(&self, site: &ResultSite<'_, '_>) -> bool {
        !self.is_slot(site) && !self.has_blocks(self.slot_of(site.part.place.node))
    }

    /// Turns a result into text of the user, which comes after the result `last` of the same turn.
    fn say(&mut self, finding: usize, site: &ResultSite<'_, '_>, last: &ResultSite<'_, '_>, why: &str) {
        if self.is_in_no_block(site) {
            self.leave(Some(finding), IN_NO_BLOCK);
            return;
        }
        let mut lost = "the fact that it is a result (it becomes user text)".to_owned();
        lost.extend(self.beside(site, None).map(|beside| format!(", and {beside}")));
        if self.try_text(finding, Action::BecameText, site.part.place.span.start, Some(Cost::Loss(lost))) {
            self.become_text(site, last, why);
        }
    }

    /// What a result has beside its content that is lost with it, if there is something that `other` has not.
    pub(super) fn beside(
        &self,
        site: &ResultSite<'_, '_>,
        other: Option<&ResultSite<'_, '_>>,
    ) -> Option<String> {
        let result =
            |site: &ResultSite<'_, '_>| self.fix_style.own(self.document.value(site.part.place.node));
        let is_stamp = |key: &str| self.file_style.is_some_and(|mend| mend.stamps.contains(&key));
        let content = self.content_of(site).map(Value::id);
        let mut beside = fix_style::beside(result(site), &known_of(site), other.map(result));
        let blocks = self.other_blocks(site).filter(|_| other.is_none()).map(Value::id);
        beside.retain(|member| ![content, blocks].contains(&Some(member.id())));
        let keys = beside.iter().filter_map(|member| member.key_text()).filter(|key| !is_stamp(key));
        let keys: Vec<String> = keys.take(MOST_KEYS).map(|key| format!("`{}`", shorten(&key))).collect();
        (!keys.is_empty()).then(|| format!("what it has under {}", keys.join(", ")))
    }

    /// The blocks of a message that a result has beside its content, such as pictures.
    fn other_blocks(&self, site: &ResultSite<'_, '_>) -> Option<Value<'p, '_>> {
        let own = self.fix_style.own(self.document.value(site.part.place.node));
        let content = self.content_of(site).map(Value::id);
        own.get(self.fix_style.blocks?).filter(|list| list.is_array() && Some(list.id()) != content)
    }

    /// What a result says: its content, or the only other thing in it but for ids, whatever its key is.
    pub(super) fn content_of(&self, site: &ResultSite<'_, '_>) -> Option<Value<'p, '_>> {
        let document = self.document;
        if let Some(place) = site.result.content_place {
            return Some(document.value(place.node));
        }
        let own = self.fix_style.own(document.value(site.part.place.node));
        let mut beside = fix_style::beside(own, &known_of(site), None);
        beside.retain(|member| member.key_text().is_none_or(|key| !key.to_ascii_lowercase().ends_with("id")));
        beside.first().copied().filter(|_| beside.len() == 1)
    }

    /// Writes a result as text of the user, after the results of its turn that stay.
    fn become_text(&mut self, site: &ResultSite<'_, '_>, last: &ResultSite<'_, '_>, why: &str) {
        let slot = self.slot_of(site.part.place.node);
        self.note_lost(slot);
        let head = head_of(site, why);
        let mut blocks = vec![(self.fix_style.text)(Piece::text(&head))];
        let content = self.content_of(site);
        match self.content_blocks(content) {
            Some(content) => blocks.extend(content.into_iter().map(|block| self.for_the_user(block))),
            None => {
                let text = content.map(fix_style::on_one_line).unwrap_or_default();
                blocks.push((self.fix_style.text)(Piece::text(&text)));
            }
        }
        let others = self.other_blocks(site).into_iter().flat_map(Value::elements);
        blocks.extend(others.map(|block| Piece::Node(block.id())));
        if !self.is_slot(site) {
            self.take_out(site);
            // The model has not said it.
            if site.message.role == Role::Assistant && self.said_before_the_model(site, slot, &blocks) {
                return;
            }
            self.gone.remove(&slot);
            self.blocks.add_after_results(slot, blocks);
            return;
        }
        let last = self.slot_of(last.part.place.node);
        let text = content.and_then(Value::as_json_str);
        // One string, if it can be one: not every API takes a list.
        let message = match text.filter(|text| text.is_text()) {
            Some(text) => (self.fix_style.said)(below(&head, text)),
            None => (self.fix_style.user)(blocks),
        };
        // The record stays as it is: others may name it.
        if slot == last
            && self.file_style.is_some_and(|file_style| file_style.message.is_some() && !file_style.has_kinds)
        {
            self.results_gone.insert(site.number);
            let message = self.in_same_record(message, slot);
            self.values.insert(self.messages[slot], message);
            return;
        }
        self.take_out(site);
        let record = match self.file_style.is_some_and(|file_style| file_style.links.is_some()) {
            true => self.linked(message, slot, last),
            false => self.recorded(message, slot),
        };
        self.after.entry(last).or_default().push(record);
    }

    /// Has the user say blocks before a message of the model; `false` if something else is to be there.
    fn said_before_the_model(&mut self, site: &ResultSite<'_, '_>, slot: usize, blocks: &[Piece]) -> bool {
        let before = site.message_number.checked_sub(1).map(|number| &self.transcript.messages[number]);
        let user = before.filter(|message| matches!(message.role, Role::User | Role::Tool));
        let user = user.map(|message| self.slot_of(message.place.node));
        match user.filter(|user| !self.gone.contains(user) && self.blocks_of(*user).is_some()) {
            Some(user) => self.blocks.add_after_results(user, blocks.to_vec()),
            None if self.before.contains_key(&slot) || self.file_style.is_some() => return false,
            None => _ = self.before.insert(slot, (self.fix_style.user)(blocks.to_vec())),
        }
        true
    }

    /// A block of a result as the user may have it: what only results may have is text.
    fn for_the_user(&self, block: Piece) -> Piece {
        let Piece::Node(node) = block else { return block };
        let value = self.document.value(node);
        if !self.fix_style.is_only_in_results(value) {
            return block;
        }
        (self.fix_style.text)(Piece::text(&fix_style::on_one_line(value)))
    }

    /// The content of a result as blocks, without those that say nothing; `None` if it has another form.
    pub(super) fn content_blocks(&self, content: Option<Value<'_, '_>>) -> Option<Vec<Piece>> {
        let Some(content) = content else { return Some(Vec::new()) };
        let block = |value: Value<'_, '_>| match value.kind() {
            Kind::String => (self.fix_style.text)(Piece::Node(value.id())),
            _ => Piece::Node(value.id()),
        };
        let says = |value: &Value<'_, '_>| !fix_style::is_blank(*value);
        match content.kind() {
            Kind::String => Some(Some(content).filter(says).map(block).into_iter().collect()),
            Kind::Array => Some(content.elements().filter(says).map(block).collect()),
            Kind::Null => Some(Vec::new()),
            _ => None,
        }
    }

    fn raw(&self, result: &ToolResult<'_>) -> &'p [u8] {
        let place: Option<Place> = result.content_place;
        let document = self.document;
        place.map_or(b"", |place| &document.bytes()[document.value(place.node).span().range()])
    }

    /// Whether a result only says that there is none.
    fn is_placeholder(&self, result: &ToolResult<'_>) -> bool {
        let Some(place) = result.content_place else { return false };
        let mut content = self.document.value(place.node);
        // The text may be in a block, or in the one member of an object.
        for _ in 0..3 {
            if let Some(text) = content.as_str() {
                return self.how.is_placeholder(&text);
            }
            let mut inner = content.children().filter(|child| !child.has_key("type"));
            match (inner.next(), inner.next()) {
                (Some(only), None) => content = only,
                _ => return false,
            }
        }
        false
    }

    /// Takes a result out of its place.
    pub(super) fn take_out(&mut self, site: &ResultSite<'_, '_>) {
        self.results_gone.insert(site.number);
        let node = site.part.place.node;
        let slot = self.slot_of(node);
        if self.is_slot(site) {
            self.gone.insert(slot);
            return;
        }
        if !self.take_out_block(slot, node) {
            self.take_out_of_list(node);
            // A message that only holds results goes with the last of them.
            let results = &self.pairing.results;
            let end = results.partition_point(|other| other.message_number <= site.message_number);
            let own = results[..end].iter().rev();
            let mut own = own.take_while(|other| other.message_number == site.message_number);
            if site.message.role == Role::Tool && own.all(|other| self.results_gone.contains(&other.number)) {
                self.gone.insert(slot);
            }
        } else if self.blocks_left(slot) == 0 {
            self.gone.insert(slot);
        }
    }

    /// Takes a value out of the list that it is in, with the object that holds nothing else.
    fn take_out_of_list(&mut self, mut node: NodeId) {
        while let Some(parent) = self.parent_of(node) {
            if parent.is_array() {
                self.elements_gone.entry(parent.id()).or_default().push(node);
                return;
            }
            if parent.children().count() > 1 {
                return;
            }
            node = parent.id();
        }
    }

    /// Whether a result stands in its call, which is in no list of blocks.
    fn stands_in_call(&mut self, site: &ResultSite<'_, '_>) -> bool {
        let node = site.part.place.node;
        self.file_style.is_some_and(|file_style| file_style.result_in_call.is_some())
            && !self.is_slot(site)
            && !self.is_own_block(self.slot_of(node), node)
    }

    /// Puts a result in the place of another.
    fn put_instead(&mut self, old: &ResultSite<'_, '_>, new: &ResultSite<'_, '_>) {
        self.take_out(new);
        let slot = self.slot_of(old.part.place.node);
        if self.is_slot(old) {
            self.instead.insert(slot, self.slot_of(new.part.place.node));
        } else if self.stands_in_call(old) {
            self.values.insert(old.part.place.node, Piece::Node(new.part.place.node));
        } else {
            self.gone.remove(&slot);
            self.blocks.put_instead(slot, old.part.place.node, new.part.place.node);
        }
    }

    pub(super) fn is_result(&self, piece: &Piece) -> bool {
        let Piece::Node(node) = piece else { return false };
        self.pairing.results.binary_search_by_key(node, |site| site.part.place.node).is_ok()
    }
}

/// The line above a result that became text.
pub(super) fn head_of(site: &ResultSite<'_, '_>, why: &str) -> String {
    let id = site.result.call_id.as_ref().map_or("without an id", |id| &*id.text);
    let name = site.result.name.as_ref().map_or_else(String::new, |name| format!(" (`{}`)", name.text));
    let failed = if site.result.is_error == Some(true) { ", which failed" } else { "" };
    format!("[result of tool call {id}{name}{failed}, {why}]\n")
}

/// What is read of a result.
fn known_of(site: &ResultSite<'_, '_>) -> Vec<NodeId> {
    let names = [&site.result.call_id, &site.result.name].into_iter().flatten().map(|name| name.place);
    names.chain(site.result.content_place).map(|place| place.node).collect()
}

/// For each result the last one of its turn that answers a call, or itself if it comes after that.
fn last_that_stay(pairing: &Pairing<'_, '_>) -> Vec<usize> {
    let mut last: Option<&ResultSite<'_, '_>> = None;
    let mut found: Vec<usize> = Vec::with_capacity(pairing.results.len());
    for site in pairing.results.iter().rev() {
        last = last.filter(|last| last.turn == site.turn);
        if site.paired_with.call().is_some() || pairing.stands_for(site).is_some() {
            last.get_or_insert(site);
        }
        found.push(last.unwrap_or(site).number);
    }
    found.reverse();
    found
}

/// A string below a line of plain text, spelled as it was.
fn below(head: &str, text: JsonStr<'_>) -> Piece {
    let mut json = serde_json::Value::from(head).to_string().into_bytes();
    json.pop();
    json.extend_from_slice(text.raw());
    json.push(b'"');
    Piece::Raw(json)
}
