//! Results that are only there as text any more, and parts that are read only now.

use foldhash::HashMap;

use super::titles::{characters, result_title, speaker};
use super::{At, Finder, MOST_RESULTS};
use crate::conversation::Feature;
use crate::diff::canonical::{self, Leaves};
use crate::diff::content::Content;
use crate::diff::counterparts::Paired;
use crate::diff::events::EventKind;
use crate::diff::kinds::{Kind, Level};
use crate::ir::Place;
use crate::missing_result;

/// The texts that lost results have become.
#[derive(Debug, Default)]
pub(super) struct Retold {
    /// For each lost result, the text after that holds it.
    texts: HashMap<usize, usize>,
    /// These texts, with the first result that each holds.
    held_by: HashMap<usize, usize>,
}

/// How far from its place a result is looked for, in stretches of the conversation.
const FAR: usize = 3;
/// How often each text is searched, on average: the cost does not grow faster than the texts.
const SEARCHES: usize = 8;
/// The shortest result that is looked for inside a text, in bytes: a short one is found in any.
const SHORTEST: usize = 4;

impl Retold {
    /// Looks for each lost result in the texts that are new or have changed near its place.
    pub(super) fn find(paired: &Paired<'_, '_>) -> Self {
        let mut own = Self::default();
        let is_new = |number: &usize| {
            let after = &paired.after.all[*number];
            let before = paired.pairs.after[*number].map(|before| &paired.before.all[before]);
            after.sort == EventKind::Text && before.is_none_or(|before| before.key != after.key)
        };
        // In the order of the conversation, and so in that of its stretches.
        let texts: Vec<usize> = (0..paired.after.all.len()).filter(is_new).collect();
        let stretch = |number: usize| paired.stretch(1, &paired.after.all[number]);
        let length = |number: usize| paired.after.all[number].text.len();
        let mut fuel: usize = SEARCHES * texts.iter().map(|number| length(*number)).sum::<usize>();
        for (number, result) in paired.before.all.iter().enumerate() {
            if result.sort != EventKind::Result || paired.pairs.before[number].is_some() {
                continue;
            }
            let content = &result.content;
            let here = paired.stretch(0, result);
            let first = texts.partition_point(|text| stretch(*text) + FAR < here);
            for text in texts[first..].iter().take_while(|text| stretch(**text) <= here + FAR) {
                let Some(left) = fuel.checked_sub(length(*text)) else { return own };
                fuel = left;
                if holds(&paired.after.all[*text].text, content) {
                    own.texts.insert(number, *text);
                    own.held_by.entry(*text).or_insert(number);
                    break;
                }
            }
        }
        own
    }

    pub(super) fn text_of(&self, result: usize) -> Option<usize> {
        self.texts.get(&result).copied()
    }

    /// The first lost result that a text holds.
    pub(super) fn first_in(&self, text: usize) -> Option<usize> {
        self.held_by.get(&text).copied()
    }

    pub(super) fn holds_one(&self, text: usize) -> bool {
        self.held_by.contains_key(&text)
    }
}

/// Whether a text holds a result: anywhere in it, or as all of it but a title in the first line.
fn holds(said: &str, content: &Content<'_>) -> bool {
    let result = content.text.as_deref().unwrap_or_default().trim();
    if result.len() >= SHORTEST && said.contains(result) {
        return true;
    }
    let below = said.split_once('\n').map_or(said, |(_, below)| below);
    let is_all = |said: &str| !said.trim().is_empty() && content.is_said_by(said.trim());
    is_all(said) || is_all(below)
}

impl<'s> Finder<'_, '_, 's> {
    /// A result that is gone, or is text now.
    pub(super) fn result_gone(&mut self, number: usize) {
        let before = self.before(number);
        let about = result_title(before, self.paired.before);
        // Once is enough.
        let text = self.retold.text_of(number);
        let is_kept = match text {
            Some(text) => self.is_told_twice(number, text),
            None => {
                self.is_repeated(0, number)
                    || self.answers_now(number)
                    || self.known_now(number).is_some()
                    || before.content.text.as_deref().is_some_and(missing_result::is_said_by)
            }
        };
        let level = if is_kept { Level::Change } else { Level::Loss };
        let mut about = format!("{about}, {}", characters(before.content.length));
        if let Some(text) = text {
            about.push_str(&format!(", is text of {} now", speaker(self.after(text))));
        } else if self.is_joined(number) {
            about.push_str(", is in another result of the call now");
        }
        self.add(Kind::ResultLost, level, At(Some(number), text), about);
    }

    /// Whether another result of the same call says what this one said beside what it said itself.
    fn is_joined(&self, number: usize) -> bool {
        let own = self.before(number);
        let by_id = || self.calls_by_id[0].get(own.id.as_deref()?).copied();
        let Some(call) = own.owner.or_else(by_id) else { return false };
        let others = self.paired.before.all[call].results.iter().take(MOST_RESULTS);
        let mut now = others.filter_map(|other| self.paired.pairs.before[*other]);
        now.any(|other| holds(self.after(other).content.text.as_deref().unwrap_or_default(), &own.content))
    }

    /// Whether the text that a result has become is that of an earlier copy of it.
    fn is_told_twice(&self, number: usize, text: usize) -> bool {
        let own = self.before(number);
        let first = self.retold.first_in(text).filter(|first| *first < number);
        first.is_some_and(|first| {
            let first = self.before(first);
            first.id == own.id && first.content.says_the_same(&own.content)
        })
    }

    /// An image or a document that is gone. The loss of its result is the loss of both.
    pub(super) fn media_gone(&mut self, number: usize, at: At) {
        let before = self.before(number);
        let result = before.owner.and_then(|result| self.paired.pairs.before[result]);
        if before.owner.is_some() && result.is_none() {
            return;
        }
        let cannot = before.owner.is_some() && self.cannot(Feature::ResultMedia);
        let about = if before.owner.is_some() { "in a result" } else { "in a message" };
        // What was not text may be read as one now.
        let is_kept = match result {
            Some(result) => self.level_of_other(before, self.after(result)) == Level::Form,
            None => self.says_nothing(before) || self.known_now(number).is_some(),
        };
        let level = if is_kept { Level::Form } else { Level::Loss };
        self.add_loss(Kind::MediaLost, level, cannot, at, about.to_owned());
    }

    fn new_near(&self, own: usize) -> Vec<usize> {
        let own = self.before(own);
        let events = &self.paired.after.all;
        let first = events.partition_point(|event| event.message + NEAR < own.message);
        let near = (first..events.len()).take_while(|other| events[*other].message <= own.message + NEAR);
        near.filter(|other| self.paired.pairs.after[*other].is_none()).take(MOST_RESULTS).collect()
    }

    /// Whether a result without a call is now that of one, under another id, or one without content has some.
    pub(super) fn answers_now(&self, number: usize) -> bool {
        let own = self.before(number);
        let is_same = |other: &usize| {
            let other = self.after(*other);
            let is_answer = other.sort == EventKind::Result && other.owner.is_some();
            // One that said nothing may say so now.
            let is_more = own.content.length == 0 && other.id == own.id;
            is_answer && (is_more || own.owner.is_none() && own.content.says_the_same(&other.content))
        };
        self.new_near(number).iter().any(is_same)
    }

    /// What an unknown part has become that is known now, and says all that it said.
    pub(super) fn known_now(&self, number: usize) -> Option<usize> {
        let own = self.before(number);
        let events = &self.paired.after.all;
        let new = self.new_near(number);
        let value = self.sides[0].document.value(own.place.node);
        let leaves = canonical::leaves(value, Leaves::Said);
        // Several parts of a message may say it now.
        let is_same = |other: &&usize| {
            // A result that is text now is no result any more.
            if own.sort == EventKind::Result && events[**other].sort != EventKind::Result {
                return false;
            }
            // A message may be one of several that are read as one.
            let place = events[**other].place;
            // What the model answered is no message of the request.
            let message = self.sides[1].transcript.messages.get(events[**other].message);
            let message = message.map(|message| message.place);
            // Of a message that is several items, the value is only the first.
            let holds =
                |message: &Place| self.sides[1].document.value(message.node).span().contains(place.span);
            let around = message.filter(holds).unwrap_or(place);
            let said = || canonical::leaves(self.sides[1].document.value(around.node), Leaves::All);
            leaves.is_subset(self.said.borrow_mut().entry(around.node).or_insert_with(said))
        };
        if let Some(same) = new.iter().find(is_same) {
            return Some(*same);
        }
        // Texts of one message that say what a list said.
        let said = Content::of(Some(value), value);
        said.text.filter(|text| !text.trim().is_empty())?;
        let mut messages = new.chunk_by(|one, other| events[*one].message == events[*other].message);
        let says_it = |numbers: &&[usize]| {
            let texts: String = numbers.iter().map(|number| &*events[*number].text).collect();
            canonical::of_words(&texts) == said.words
        };
        messages.find(says_it).map(|numbers| numbers[0])
    }
}

/// How many messages away something is looked for that was not read before.
const NEAR: usize = 2;
