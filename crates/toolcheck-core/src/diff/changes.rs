//! What changed between two sequences of events.

mod declared;
mod moved_to_text;
mod overall;
mod titles;

use std::cell::RefCell;

use foldhash::{HashMap, HashSet};
use toolcheck_json::NodeId;

use super::align::longest_increasing;
use super::canonical::{Leaves, leaves};
use super::counterparts::Paired;
use super::events::{Event, EventKind, Events, Side};
use super::kinds::{Kind, Level};
use super::{Change, Counts};
use crate::conversation::Feature;
use crate::ir::{Place, Role};
use crate::pairing::Binding;
use crate::text::Line;
use moved_to_text::Retold;
pub(super) use titles::characters;
use titles::{lengths, moved, result_title, speaker, text_title, title};

pub(super) struct Finder<'f, 'e, 's> {
    sides: [&'f Side<'f, 's>; 2],
    paired: &'f Paired<'e, 's>,
    is_one_family: bool,
    /// The events before of which something is lost.
    lost: HashSet<usize>,
    /// The stretches in which turns were merged or split.
    regrouped: HashSet<usize>,
    /// The texts that lost results have become.
    retold: Retold,
    /// The first calls with each id, before and after.
    calls_by_id: [HashMap<&'e str, usize>; 2],
    /// What is said in the messages after, once it is asked for.
    said: RefCell<HashMap<NodeId, HashSet<u64>>>,
    found: Vec<FoundChange>,
}

#[derive(Debug)]
pub(super) struct FoundChange {
    pub(super) change: Change,
    pub(super) at: At,
}

/// The two events of a change, by their numbers; none if it is about something beside the messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct At(pub(super) Option<usize>, pub(super) Option<usize>);

pub(super) fn find<'s>(
    before: &Side<'_, 's>,
    after: &Side<'_, 's>,
    paired: &Paired<'_, 's>,
    is_one_family: bool,
) -> (Vec<FoundChange>, Counts) {
    let sides = [before, after];
    let mut finder = Finder {
        sides,
        paired,
        is_one_family,
        lost: HashSet::default(),
        regrouped: HashSet::default(),
        retold: Retold::find(paired),
        calls_by_id: [paired.before, paired.after].map(|events| {
            let calls =
                events.all.iter().enumerate().rev().filter(|(_, event)| event.sort == EventKind::Call);
            calls.filter_map(|(number, call)| Some((call.id.as_deref()?, number))).collect()
        }),
        said: RefCell::default(),
        found: Vec::new(),
    };
    finder.pairs();
    finder.gone();
    finder.added();
    finder.merged();
    finder.turns();
    finder.moved();
    finder.ids();
    finder.messages();
    finder.tools();
    finder.tool_choice();
    finder.parameters();
    let counts = finder.counts();
    let mut found = finder.found;
    found.sort_by_key(|FoundChange { change, .. }| {
        let place = |place: Option<Place>| place.map(|place| place.span.start);
        (std::cmp::Reverse(change.level), place(change.before.or(change.after)), change.kind)
    });
    (found, counts)
}

impl<'e, 's> Finder<'_, 'e, 's> {
    fn before(&self, number: usize) -> &'e Event<'s> {
        &self.paired.before.all[number]
    }

    fn after(&self, number: usize) -> &'e Event<'s> {
        &self.paired.after.all[number]
    }

    fn add(&mut self, kind: Kind, level: Level, At(before, after): At, about: String) {
        // Of the others, the part itself is kept.
        if level == Level::Loss
            && !matches!(kind, Kind::ErrorFlagLost | Kind::SignatureLost | Kind::IdCollapsed)
        {
            self.lost.extend(before);
        }
        let change = Change {
            kind,
            level,
            inexpressible: false,
            before: before.map(|number| self.before(number).place),
            after: after.map(|number| self.after(number).place),
            about: Line::from(about),
            count: 1,
        };
        self.found.push(FoundChange { change, at: At(before, after) });
    }

    fn last(&mut self) -> Option<&mut Change> {
        self.found.last_mut().map(|found| &mut found.change)
    }

    /// Adds the loss of something, which is only a matter of form if the format after has no place for it.
    fn add_loss(&mut self, kind: Kind, level: Level, cannot: bool, at: At, about: String) {
        self.add_moved(kind, if cannot { Level::Form } else { level }, cannot, at, about);
    }

    /// Adds that something is in another place, perhaps because the format after has no other place for it.
    fn add_moved(&mut self, kind: Kind, level: Level, cannot: bool, at: At, about: String) {
        self.add(kind, level, at, about);
        if let Some(change) = self.last() {
            change.inexpressible = cannot;
        }
    }

    /// Whether only the format after is the reason that it does not say something: it has no place for that, and the
    /// format before is another one.
    fn cannot(&self, feature: Feature) -> bool {
        let [before, after] = self.sides;
        before.transcript.format != after.transcript.format && !after.can_hold(feature)
    }

    /// What changed in what is on both sides.
    fn pairs(&mut self) {
        for number in 0..self.paired.before.all.len() {
            let Some(other) = self.paired.pairs.before[number] else { continue };
            let (before, after) = (self.before(number), self.after(other));
            let at = At(Some(number), Some(other));
            match before.sort {
                EventKind::Call => self.call(before, after, at),
                EventKind::Result => self.result(before, after, at),
                EventKind::Text => self.text(before, after, at),
                EventKind::Reasoning => self.reasoning(before, after, at),
                EventKind::Media if before.key != after.key => {
                    self.add(
                        Kind::MediaChanged,
                        self.level_of_other(before, after),
                        at,
                        "its data".to_owned(),
                    );
                }
                EventKind::ServerCall if self.is_one_family && before.key != after.key => {
                    let about = format!("{}, which the provider ran", title(before));
                    self.add(Kind::CallChanged, self.level_of_other(before, after), at, about);
                }
                EventKind::ServerResult if self.is_one_family && before.key != after.key => {
                    let about = "of a call that the provider ran".to_owned();
                    self.add(Kind::ResultChanged, self.level_of_other(before, after), at, about);
                }
                EventKind::Part if before.key != after.key => {
                    self.add(Kind::PartLost, self.level_of_other(before, after), at, String::new());
                }
                EventKind::Media if before.speaker != after.speaker => {
                    let cannot = before.owner.is_some() && self.cannot(Feature::ResultMedia);
                    self.add_loss(Kind::MediaMoved, Level::Change, cannot, at, moved(before, after));
                }
                _ => {}
            }
        }
    }

    /// How bad it is that something that has no common meaning is written otherwise.
    fn level_of_other(&self, before: &Event<'s>, after: &Event<'s>) -> Level {
        let [one, other] = [(0, before), (1, after)]
            .map(|(side, event): (usize, &Event<'s>)| self.sides[side].document.value(event.place.node));
        if super::canonical::keeps(one, Some(other)) { Level::Form } else { Level::Loss }
    }

    fn call(&mut self, before: &Event<'s>, after: &Event<'s>, at: At) {
        if before.key != after.key {
            let what = match (before.name == after.name, before.arguments == after.arguments) {
                (true, _) => "the arguments of",
                (false, true) => "the name of",
                (false, false) => "the name and the arguments of",
            };
            // Where there was no name, or no arguments, none are gone.
            let kind = self.sides[0].document.value(before.place.node).get_str("type");
            let has_name =
                before.name.as_ref().is_some_and(|name| !name.is_empty() && kind.as_ref() != Some(name));
            let is_spelt = |this: &Self| {
                let is_same = before.is_described || before.arguments == after.arguments;
                is_same && this.level_of_other(before, after) == Level::Form
            };
            let is_more = before.is_described && is_spelt(self)
                || (!has_name || before.name == after.name || is_spelt(self))
                    && (before.lacks_arguments || before.arguments == after.arguments);
            let level = if is_more { Level::Change } else { Level::Loss };
            self.add(Kind::CallChanged, level, at, format!("{what} {}", title(before)));
        }
        if before.signature.is_some() && after.signature.is_none() {
            let cannot = self.cannot(Feature::CallSignatures);
            self.add_loss(Kind::SignatureLost, Level::Loss, cannot, at, format!("of {}", title(before)));
        }
    }

    fn result(&mut self, before: &Event<'s>, after: &Event<'s>, at: At) {
        let call_after = before.owner.and_then(|call| self.paired.pairs.before[call]);
        let title = result_title(before, self.paired.before);
        match (before.owner, after.owner) {
            (Some(_), None) => {
                // Where ids bind, one without an id answers nothing.
                let is_bound = before.id.is_some() || self.sides[0].binding != Binding::Ids;
                let was_called = before.owner.is_some_and(|call| !self.says_nothing(self.before(call)));
                let level = if is_bound && was_called { Level::Loss } else { Level::Change };
                self.add(Kind::ResultOrphaned, level, at, title);
            }
            (None, Some(call)) => {
                let about =
                    format!("{title}, which answered none, answers {}", self::title(self.after(call)));
                self.add(Kind::ResultReattached, Level::Change, at, about);
            }
            (Some(_), Some(call)) if call_after != Some(call) => {
                let other = self.after(call);
                let about = format!("{title} answers {}", self::title(other));
                // What an API binds by position may name its call all the same, or say what that was answered before.
                let is_named = match &before.id {
                    Some(id) => other.id.as_ref() == Some(id),
                    None => self.sides[0].binding == Binding::Ids,
                };
                let was = self.paired.pairs.after[call].map(|call| self.before(call));
                let mut answers = was.into_iter().flat_map(|was| was.results.iter().take(MOST_RESULTS));
                let is_said = answers.any(|said| self.before(*said).content.says_the_same(&after.content));
                let level = if is_named || is_said { Level::Change } else { Level::Loss };
                self.add(Kind::ResultReattached, level, at, about);
            }
            _ if !before.content.says_the_same(&after.content) => {
                let is_spaced = before.content.words == after.content.words;
                let level = match (is_spaced, before.content.length) {
                    (true, _) => Level::Form,
                    // Where it said nothing, nothing is gone.
                    (_, 0) => Level::Change,
                    _ => self.level_of_other(before, after),
                };
                let how = lengths(before.content.length, after.content.length);
                self.add(Kind::ResultChanged, level, at, format!("{title}, {how}"));
            }
            _ => {}
        }
        let about = || result_title(before, self.paired.before);
        match (before.failed, after.failed) {
            (true, false) => {
                let (cannot, about) = (self.cannot(Feature::Failures), about());
                self.add_loss(Kind::ErrorFlagLost, Level::Loss, cannot, at, about);
            }
            (false, true) => {
                let [before, after] = self.sides.map(|side| side.transcript.format);
                // What the format before had no place for was perhaps known all the same.
                let could_say = before == after || self.sides[0].can_hold(Feature::Failures);
                let level = if could_say { Level::Change } else { Level::Form };
                let about = about();
                self.add(Kind::ErrorFlagAdded, level, at, about);
            }
            _ => {}
        }
    }

    fn text(&mut self, before: &Event<'s>, after: &Event<'s>, at: At) {
        // What is added to it is a result.
        let is_retold = at.1.is_some_and(|number| self.retold.holds_one(number));
        if self.is_merged(at) || is_retold && after.text.contains(&*before.text) {
            return;
        }
        if before.key != after.key {
            let is_spaced =
                super::canonical::of_words(&before.text) == super::canonical::of_words(&after.text);
            let level = if is_spaced { Level::Form } else { Level::Loss };
            let how = lengths(before.text.chars().count(), after.text.chars().count());
            self.add(Kind::TextChanged, level, at, format!("text of {}, {how}", speaker(before)));
        } else if before.speaker != after.speaker {
            self.add(Kind::RoleChanged, Level::Change, at, moved(before, after));
        }
    }

    fn reasoning(&mut self, before: &Event<'s>, after: &Event<'s>, at: At) {
        if self.is_merged(at) {
            return;
        }
        // Of reasoning without a text, there is only the signature to compare.
        let has_text = !before.text.is_empty() || !after.text.is_empty();
        let is_signed = before.signature.is_some() || after.signature.is_some();
        if before.key != after.key && (has_text || !is_signed) {
            let is_spaced = !before.text.is_empty()
                && super::canonical::of_words(&before.text) == super::canonical::of_words(&after.text);
            // Without a text or a signature, it says nothing that could be lost.
            let level = match (has_text, is_spaced) {
                // What was not text may be read as one now.
                (true, false) => self.level_of_other(before, after),
                (true, true) => Level::Form,
                (false, _) => Level::Change,
            };
            let how = lengths(before.text.chars().count(), after.text.chars().count());
            self.add(Kind::ReasoningChanged, level, at, how);
        }
        if before.signature.is_some() && before.signature != after.signature {
            let cannot = after.signature.is_none() && self.cannot(Feature::Signatures);
            self.add_loss(Kind::SignatureLost, Level::Loss, cannot, at, "of reasoning".to_owned());
        }
    }

    fn is_merged(&self, At(before, _): At) -> bool {
        let first = |(group, _): &(Vec<usize>, Vec<usize>)| group.first().copied();
        self.paired.merged.binary_search_by_key(&before, first).is_ok()
    }

    fn gone(&mut self) {
        let merged: HashSet<usize> =
            self.paired.merged.iter().flat_map(|(group, _)| group).copied().collect();
        for number in 0..self.paired.before.all.len() {
            if self.paired.pairs.before[number].is_some() || merged.contains(&number) {
                continue;
            }
            let before = self.before(number);
            let at = At(Some(number), None);
            let loss = Level::Loss;
            match before.sort {
                EventKind::Call => {
                    // What was only a text may be read as a call now.
                    let now = before.name.is_none().then(|| self.known_now(number)).flatten();
                    let level = match now {
                        Some(_) => Level::Form,
                        None if self.says_nothing(before) => Level::Change,
                        None => loss,
                    };
                    self.add(Kind::CallLost, level, At(Some(number), now), title(before));
                }
                EventKind::Result => self.result_gone(number),
                EventKind::Text => {
                    // What nobody is known to have said may be a result.
                    let is_json =
                        before.text.trim_start().starts_with(['{', '[']) || before.speaker == Role::Unknown;
                    // Once is enough.
                    let level = match self.is_said_twice(number) {
                        true => Level::Change,
                        false if is_json && self.known_now(number).is_some() => Level::Form,
                        false if self.says_nothing(before) => Level::Change,
                        false => loss,
                    };
                    self.add(Kind::TextLost, level, at, text_title(before));
                }
                EventKind::Reasoning => {
                    let cannot = self.cannot(Feature::Reasoning)
                        || before.signature.is_none() && self.cannot(Feature::UnsignedReasoning)
                        || before.text.is_empty() && !self.is_one_family;
                    let about = characters(before.text.chars().count());
                    // What was not text may be read as one now.
                    let is_kept = before.text.is_empty() && self.known_now(number).is_some();
                    let level = if is_kept { Level::Form } else { loss };
                    self.add_loss(Kind::ReasoningLost, level, cannot, at, about);
                }
                EventKind::Media => self.media_gone(number, at),
                EventKind::ServerCall => {
                    let cannot = self.cannot(Feature::ServerTools);
                    let about = format!("{}, which the provider ran", title(before));
                    self.add_loss(Kind::CallLost, loss, cannot, at, about);
                }
                EventKind::ServerResult if self.is_one_family => {
                    self.add(Kind::ResultLost, loss, at, "of a call that the provider ran".to_owned());
                }
                EventKind::ServerResult => {}
                EventKind::Part => {
                    // Another format may say it in another way.
                    let value = self.sides[0].document.value(before.place.node);
                    let is_lost = self.is_one_family && !leaves(value, Leaves::Said).is_empty();
                    let now = self.known_now(number);
                    let level = if now.is_some() {
                        Level::Form
                    } else if is_lost {
                        loss
                    } else {
                        Level::Change
                    };
                    self.add(Kind::PartLost, level, At(Some(number), now), String::new());
                }
            }
        }
    }

    /// Whether an event before has no text, number or truth value: it is `null` or empty, whatever it is a part of.
    fn says_nothing(&self, before: &Event<'s>) -> bool {
        leaves(self.sides[0].document.value(before.place.node), Leaves::Said).is_empty()
            && before.name.is_none()
    }

    /// Whether the turn of a text has the same text once more, which is kept.
    fn is_said_twice(&self, number: usize) -> bool {
        let (events, own) = (&self.paired.before.all, self.before(number));
        let is_near = |other: &usize| events[*other].turn == own.turn;
        let earlier = (0..number).rev().take_while(is_near);
        let later = (number + 1..events.len()).take_while(is_near);
        let mut near = earlier.take(MOST_RESULTS).chain(later.take(MOST_RESULTS));
        near.any(|other| {
            let event = &events[other];
            let is_same = event.sort == own.sort && event.key == own.key;
            is_same && self.paired.pairs.before[other].is_some()
        })
    }

    fn added(&mut self) {
        let merged: HashSet<usize> =
            self.paired.merged.iter().flat_map(|(_, group)| group).copied().collect();
        let known: HashSet<(u64, Option<&str>)> = self
            .paired
            .before
            .all
            .iter()
            .filter(|event| event.sort == EventKind::Call)
            .map(call_key)
            .collect();
        for number in 0..self.paired.after.all.len() {
            let is_told = self.paired.pairs.after[number].is_some() || merged.contains(&number);
            if is_told || self.retold.holds_one(number) {
                continue;
            }
            let after = self.after(number);
            let at = At(None, Some(number));
            let (kind, about) = match after.sort {
                EventKind::Call if after.id.is_some() && known.contains(&call_key(after)) => {
                    (Kind::CallDuplicated, title(after))
                }
                EventKind::Call => (Kind::CallAdded, title(after)),
                EventKind::Result => {
                    let is_repeated = self.is_repeated(1, number);
                    let kind = if is_repeated { Kind::ResultDuplicated } else { Kind::ResultAdded };
                    (kind, result_title(after, self.paired.after))
                }
                EventKind::Text => (Kind::TextAdded, text_title(after)),
                EventKind::Reasoning => (Kind::ReasoningAdded, characters(after.text.chars().count())),
                EventKind::Media
                    if after.owner.is_some_and(|owner| self.paired.pairs.after[owner].is_none()) =>
                {
                    continue;
                }
                EventKind::Media => (Kind::MediaAdded, String::new()),
                EventKind::ServerCall => {
                    (Kind::CallAdded, format!("{}, which the provider ran", title(after)))
                }
                EventKind::ServerResult if self.is_one_family => {
                    (Kind::ResultAdded, "of a call that the provider ran".to_owned())
                }
                EventKind::ServerResult => continue,
                EventKind::Part => (Kind::PartAdded, String::new()),
            };
            self.add(kind, Level::Change, at, about);
        }
    }

    /// Whether there is another result, on both sides, that says the same: one of the same call, or, for one without a call,
    /// one of the results around it.
    fn is_repeated(&self, side: usize, number: usize) -> bool {
        let (events, pairs) = match side {
            0 => (self.paired.before, &self.paired.pairs.before),
            _ => (self.paired.after, &self.paired.pairs.after),
        };
        let own = &events.all[number];
        let call = own.owner.or_else(|| self.calls_by_id[side].get(own.id.as_deref()?).copied());
        let says_it = |other: usize| {
            other != number && pairs[other].is_some() && events.all[other].content.says_the_same(&own.content)
        };
        // Of many results, the first ones are enough.
        let of_call = call.into_iter().flat_map(|call| events.all[call].results.iter().take(MOST_RESULTS));
        // A result of another call may say the same.
        let is_beside = |other: &usize| {
            let event = &events.all[*other];
            event.sort == EventKind::Result && event.message_turn == own.message_turn && event.id == own.id
        };
        let before = (0..number).rev().take(MOST_BESIDE);
        let mut beside = before.chain((number + 1..events.all.len()).take(MOST_BESIDE)).filter(is_beside);
        of_call.copied().any(says_it) || own.owner.is_none() && beside.any(says_it)
    }

    fn merged(&mut self) {
        for (before, after) in &self.paired.merged {
            let (Some(first), Some(second)) = (before.first(), after.first()) else { continue };
            let at = At(Some(*first), Some(*second));
            let about = format!("{} into {}", before.len(), after.len());
            if self.before(*first).sort == EventKind::Reasoning {
                self.add(Kind::ReasoningMerged, Level::Form, at, about);
                let signed = |events: &Events<'_>, group: &[usize]| -> Vec<u64> {
                    group.iter().filter_map(|number| events.all[*number].signature).collect()
                };
                let signatures = signed(self.paired.before, before);
                let kept: HashSet<u64> = signed(self.paired.after, after).into_iter().collect();
                if signatures.iter().any(|signature| !kept.contains(signature)) {
                    let cannot = self.cannot(Feature::Signatures);
                    self.add_loss(Kind::SignatureLost, Level::Loss, cannot, at, "of reasoning".to_owned());
                }
                continue;
            }
            let kind = if before.len() < after.len() { Kind::TextSplit } else { Kind::TextMerged };
            let is_apart = before.iter().zip(&before[1..]).any(|(one, other)| other - one > 1);
            let cannot = is_apart && self.cannot(Feature::TextOrder);
            self.add(kind, Level::Form, at, about);
            if let Some(change) = self.last() {
                change.inexpressible = cannot;
            }
        }
    }

    fn moved(&mut self) {
        let chain: HashSet<usize> = self.paired.chain.iter().map(|(before, _)| *before).collect();
        let ranks = [
            ranks(self.paired.before.all.len(), self.paired.chain.iter().map(|pair| pair.0)),
            ranks(self.paired.after.all.len(), self.paired.chain.iter().map(|pair| pair.1)),
        ];
        let results =
            (0..self.paired.before.all.len()).filter(|number| self.before(*number).sort == EventKind::Result);
        let results: Vec<(usize, usize)> =
            results.filter_map(|number| Some((number, self.paired.pairs.before[number]?))).collect();
        let in_order: HashSet<usize> =
            longest_increasing(&results).into_iter().map(|(before, _)| before).collect();
        for number in 0..self.paired.before.all.len() {
            let Some(other) = self.paired.pairs.before[number] else { continue };
            let (before, after) = (self.before(number), self.after(other));
            let at = At(Some(number), Some(other));
            let is_near = self.paired.stretch(0, before) == self.paired.stretch(1, after);
            let level = if is_near { Level::Form } else { Level::Change };
            // Where the format before has no order in a turn, nothing can leave it.
            let is_in_place =
                chain.contains(&number) || is_near && !self.sides[0].can_hold(Feature::TextOrder);
            let cannot = is_near && self.cannot(Feature::TextOrder);
            match before.sort {
                EventKind::Call if !is_in_place => {
                    self.add_moved(Kind::CallMoved, level, cannot, at, title(before));
                }
                EventKind::Text if !is_in_place && before.speaker == after.speaker => {
                    self.add_moved(Kind::TextMoved, level, cannot, at, text_title(before));
                }
                EventKind::Reasoning if !is_in_place => {
                    let about = characters(before.text.chars().count());
                    self.add_moved(Kind::ReasoningMoved, level, cannot, at, about);
                }
                EventKind::Media
                    if !is_in_place && before.owner.is_none() && before.speaker == after.speaker =>
                {
                    self.add(Kind::MediaMoved, level, at, String::new());
                }
                EventKind::Result => {
                    let is_bound_alike = before.owner.and_then(|call| self.paired.pairs.before[call]);
                    if is_bound_alike != after.owner {
                        continue;
                    }
                    let about = result_title(before, self.paired.before);
                    if ranks[0][number] != ranks[1][other] && !self.follows_its_call(before, after, &chain) {
                        self.add(Kind::ResultMoved, Level::Change, at, about);
                    } else if !in_order.contains(&number) {
                        self.add(Kind::ResultMoved, Level::Form, at, about);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a result has only moved with its call, or with the turn of its call.
    fn follows_its_call(&self, before: &Event<'_>, after: &Event<'_>, chain: &HashSet<usize>) -> bool {
        let Some(call) = before.owner else { return false };
        let distance = |event: &Event<'_>, events: &Events<'_>| {
            event.owner.map(|call| event.turn.abs_diff(events.all[call].turn))
        };
        let is_near = distance(before, self.paired.before) == distance(after, self.paired.after);
        let has_moved = !chain.contains(&call);
        self.regrouped.contains(&self.paired.stretch(0, self.before(call))) || has_moved && is_near
    }
}

/// The most results of one call that are compared with each other.
const MOST_RESULTS: usize = 16;

/// How far others are from a result without a call.
const MOST_BESIDE: usize = 64;

/// The pairs of the chain before each event of a side.
fn ranks(length: usize, chain: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut ranks = vec![0; length + 1];
    chain.for_each(|number| ranks[number + 1] += 1);
    for number in 0..length {
        ranks[number + 1] += ranks[number];
    }
    ranks
}

fn call_key<'a>(event: &'a Event<'_>) -> (u64, Option<&'a str>) {
    (event.key, event.id.as_deref())
}
