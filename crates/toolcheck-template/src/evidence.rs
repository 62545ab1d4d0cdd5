//! What is known of the parts of a request after one render, and what another render shows.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use toolcheck_json::{Kind, NodeId, Value};

use crate::convert::{Change, Changes, InputPart, RenderMode};
use crate::input::Input;
use crate::jinja::text::INEXACT;
use crate::load::Template;
use crate::render::Traced;

/// The most renders that confirm something. Each costs as much as a render for a user.
const MOST_RENDERS: u32 = 20;

/// A place of the prompt where a part of the request is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The byte of the part's text that it starts with, if it is a copy.
    from: Option<usize>,
}

/// A text, a number, a Boolean or `null` of the request.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) number: u32,
    /// Whether a part of the prompt comes from it.
    pub(crate) is_read: bool,
    /// Whether it is or holds anything that a model could read.
    pub(crate) counts: bool,
}

pub(crate) struct Evidence<'e> {
    pub(crate) template: &'e Template,
    pub(crate) input: &'e Input<'e>,
    pub(crate) traced: &'e Traced,
    places: HashMap<u32, Vec<Place>>,
    numbers: HashMap<(InputPart, NodeId), Vec<u32>>,
    renders: Cell<u32>,
}

impl<'e> Evidence<'e> {
    pub(crate) fn new(template: &'e Template, input: &'e Input<'e>, traced: &'e Traced) -> Self {
        let mut places: HashMap<u32, Vec<Place>> = HashMap::new();
        for mark in &traced.marks {
            let from = (mark.from != INEXACT).then_some(mark.from as usize);
            let place = Place { start: mark.start as usize, end: mark.end as usize, from };
            places.entry(mark.source).or_default().push(place);
        }
        let mut numbers: HashMap<(InputPart, NodeId), Vec<u32>> = HashMap::new();
        for (number, source) in traced.sources.iter().enumerate() {
            numbers.entry((source.of, source.node)).or_default().push(number as u32);
        }
        Self { template, input, traced, places, numbers, renders: Cell::new(0) }
    }

    /// The numbers of the sources of a value: several, if it is a text that was read as JSON.
    pub(crate) fn numbers(&self, of: InputPart, value: Value<'_, '_>) -> &[u32] {
        self.numbers.get(&(of, value.id())).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn places(&self, number: u32) -> &[Place] {
        self.places.get(&number).map_or(&[], Vec::as_slice)
    }

    /// The places of a value in the prompt, in their order.
    pub(crate) fn places_of(&self, of: InputPart, value: Value<'_, '_>) -> Vec<Place> {
        let numbers = self.numbers(of, value).iter();
        let mut found: Vec<Place> = numbers.flat_map(|number| self.places(*number)).copied().collect();
        found.sort_by_key(|place| (place.start, place.end));
        found
    }

    pub(crate) fn leaves(&self, of: InputPart, value: Value<'_, '_>) -> Vec<Leaf> {
        let mut found = Vec::new();
        let mut covered_until = 0;
        let end = value.id().index() + value.count();
        let document = value.document();
        for number in self.numbers_in(of, value) {
            let source = &self.traced.sources[number as usize];
            let is_placed = !self.places(number).is_empty();
            let at = source.node.index();
            let is_container = matches!(source.kind, Kind::Array | Kind::Object);
            let is_text_of_json = is_container && document.value(source.node).kind() == Kind::String;
            if is_container {
                if is_placed && !is_text_of_json {
                    covered_until = covered_until.max(at + document.value(source.node).count());
                }
                continue;
            }
            let is_covered = at < covered_until.min(end) || self.is_in_printed_json(number);
            let counts = source.text.as_deref().is_none_or(|text| text.chars().any(char::is_alphanumeric));
            found.push(Leaf { number, is_read: is_placed || is_covered, counts });
        }
        found
    }

    /// The sources of a value and of what is in it, in the order of the document.
    pub(crate) fn numbers_in(&self, of: InputPart, value: Value<'_, '_>) -> Vec<u32> {
        let first = value.id().index();
        let last = first + value.count();
        let sources = &self.traced.sources;
        let start = self.numbers(of, value).first().map_or(sources.len(), |number| *number as usize);
        let inside = |number: &usize| {
            let source = &sources[*number];
            source.of == of && (first..last).contains(&source.node.index())
        };
        (start..sources.len()).take_while(inside).map(|number| number as u32).collect()
    }

    /// Whether an object or array around a value, in the same text of JSON, was printed as a whole.
    fn is_in_printed_json(&self, number: u32) -> bool {
        let source = &self.traced.sources[number as usize];
        let Some(around) = self.numbers.get(&(source.of, source.node)) else { return false };
        around.iter().take_while(|other| **other < number).any(|other| {
            let outer = &self.traced.sources[*other as usize];
            let is_around = source.inner.strip_prefix(&outer.inner).is_some_and(|rest| rest.starts_with('/'));
            is_around && matches!(outer.kind, Kind::Array | Kind::Object) && !self.places(*other).is_empty()
        })
    }

    /// The bytes of a text that are in no copy of it, as ranges; nothing if a changed form of it was printed.
    pub(crate) fn missing(&self, number: u32) -> Vec<std::ops::Range<usize>> {
        let Some(text) = &self.traced.sources[number as usize].text else { return Vec::new() };
        let mut copies = Vec::new();
        for place in self.places(number) {
            match place.from {
                Some(from) => copies.push(from..from + (place.end - place.start)),
                None => return Vec::new(),
            }
        }
        copies.sort_by_key(|copy| copy.start);
        let mut missing = Vec::new();
        let mut at = 0;
        for copy in copies {
            if copy.start > at {
                missing.push(at..copy.start);
            }
            at = at.max(copy.end);
        }
        if at < text.len() {
            missing.push(at..text.len());
        }
        missing.retain(|range| has_words(&text[range.clone()]));
        missing
    }

    /// How often the whole text was printed, but for whitespace at its ends.
    pub(crate) fn copies(&self, number: u32) -> usize {
        let Some(text) = &self.traced.sources[number as usize].text else { return 0 };
        let start = text.len() - text.trim_start().len();
        let end = text.trim_end().len();
        let is_whole = |place: &&Place| {
            place.from.is_some_and(|from| from <= start && from + (place.end - place.start) >= end)
        };
        self.places(number).iter().filter(is_whole).count()
    }

    /// Whether the prompt stays the same with these changes. `false` if it isn't known.
    pub(crate) fn is_same_with(&self, changes: &Changes) -> bool {
        self.prompt_with(changes).is_some_and(|prompt| prompt == self.traced.prompt.text)
    }

    /// The prompt with these changes; `None` if the template refuses them, or too many prompts were rendered.
    pub(crate) fn prompt_with(&self, changes: &Changes) -> Option<String> {
        if changes.is_empty() || self.renders.get() >= MOST_RENDERS {
            return None;
        }
        self.renders.set(self.renders.get() + 1);
        let trial = RenderMode { traces: false, changes, most_messages: usize::MAX };
        self.template.trial(self.input, &trial).ok().map(|traced| traced.prompt.text)
    }

    pub(crate) fn change(&self, number: u32) -> Option<Change> {
        let source = self.traced.sources.get(number as usize)?;
        let raw = |text: &str| Some(Change::Raw(text.into()));
        match (source.kind, &source.text) {
            (Kind::String, Some(text)) => Some(Change::Text(other_text(text, &[]))),
            (Kind::Number, _) => raw("73"),
            (Kind::Null, _) => Some(Change::Text("qzx".into())),
            // Of a Boolean, only one change makes a difference.
            (Kind::Bool, _) => Some(Change::Text("qzx".into())),
            _ => None,
        }
    }

    pub(crate) fn change_of(&self, number: u32, parts: &[std::ops::Range<usize>]) -> Option<Change> {
        let text = self.traced.sources.get(number as usize)?.text.as_ref()?;
        Some(Change::Text(other_text(text, parts)))
    }
}

/// Whether a text has more than whitespace, punctuation and tags.
pub(crate) fn has_words(text: &str) -> bool {
    let mut in_tag = false;
    text.chars().any(|character| {
        match character {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ => {}
        }
        !in_tag && character.is_alphanumeric()
    })
}

/// A text with other letters and digits, in some parts of it or in all. Tags such as `</think>` stay, because templates
/// look for them, and so do whitespace and punctuation.
fn other_text(text: &str, parts: &[std::ops::Range<usize>]) -> Arc<str> {
    let mut changed = String::with_capacity(text.len());
    let mut in_tag = false;
    for (at, character) in text.char_indices() {
        match character {
            '<' => {
                in_tag =
                    text[at..].find(['>', ' ']).is_some_and(|length| text[at + length..].starts_with('>'))
            }
            '>' => in_tag = false,
            _ => {}
        }
        let is_changed = !in_tag && (parts.is_empty() || parts.iter().any(|part| part.contains(&at)));
        let turn = |first: u8, count: u8| char::from((character as u8 - first + count / 2) % count + first);
        changed.push(match character {
            _ if !is_changed => character,
            'a'..='z' => turn(b'a', 26),
            'A'..='Z' => turn(b'A', 26),
            '0'..='9' => turn(b'0', 10),
            _ if character.is_alphabetic() => 'q',
            _ => character,
        });
    }
    changed.into()
}
