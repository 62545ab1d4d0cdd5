//! Which event before is which event after.

use std::collections::{BTreeMap, VecDeque};

use super::align::{Keys, Pairs, longest_increasing};
use super::canonical;
use super::events::{Event, EventKind, Events, name_hash};
use crate::ir::Role;

/// Two sequences of events, and what belongs together in them.
#[derive(Debug)]
pub(super) struct Paired<'e, 's> {
    pub(super) before: &'e Events<'s>,
    pub(super) after: &'e Events<'s>,
    pub(super) pairs: Pairs,
    /// Whether both sides are written alike.
    is_one_family: bool,
    /// The longest chain of pairs in the same order, but for results, which follow their calls.
    pub(super) chain: Vec<(usize, usize)>,
    /// For each turn before, the stretch of the conversation that it is in, and the same of the turns after. Turns of one
    /// stretch have something in common, or are between the same two others.
    pub(super) stretches: [Vec<usize>; 2],
    /// The texts that were merged or split: those before, and those after.
    pub(super) merged: Vec<(Vec<usize>, Vec<usize>)>,
}

/// The most texts that may make one together.
const MOST_PIECES: usize = 64;

/// Makes a key of an event; `None` if it takes no part.
type KeyOf<'k, 's> = dyn Fn(&Events<'s>, &Event<'s>) -> Option<u64> + 'k;

impl<'e, 's> Paired<'e, 's> {
    /// Pairs the events. `is_one_family` says whether both sides are written alike, so that parts without a common meaning
    /// can be compared too.
    pub(super) fn new(before: &'e Events<'s>, after: &'e Events<'s>, is_one_family: bool) -> Self {
        let pairs = Pairs::new(before.all.len(), after.all.len());
        let stretches = [Vec::new(), Vec::new()];
        let mut own =
            Self { before, after, pairs, is_one_family, chain: Vec::new(), stretches, merged: Vec::new() };
        let by_id = own.keys(&|_, event| id_of(event).map(|id| canonical::of_all(b'i', &[id, event.key])));
        let strong = own.keys(&|all, event| strong(all, event, is_one_family));
        let weak = own.keys(&|_, event| weak(event, is_one_family));
        for [before, after] in [&by_id, &strong, &weak] {
            own.pairs.unique(before, after);
        }
        for [before, after] in [&strong, &weak] {
            own.pairs.in_gaps(before, after);
        }
        let ids = own.keys(&|_, event| id_of(event));
        own.pairs.unique(&ids[0], &ids[1]);
        own.pairs.anywhere(&weak[0], &weak[1]);
        let said = own.keys(&|_, event| {
            matches!(event.sort, EventKind::Text | EventKind::Media | EventKind::Reasoning)
                .then(|| bare(event))
        });
        own.pairs.anywhere(&said[0], &said[1]);
        own.find_stretches();
        own.pair_changed_calls();
        own.pair_results();
        own.pair_changed_texts();
        own.find_stretches();
        own
    }

    fn keys(&self, key: &KeyOf<'_, 's>) -> [Keys; 2] {
        [self.before, self.after].map(|events| events.all.iter().map(|event| key(events, event)).collect())
    }

    fn find_stretches(&mut self) {
        let is_result = |number: usize| self.before.all[number].is_of_result();
        let pairs = self.pairs.before.iter().enumerate();
        let pairs: Vec<(usize, usize)> = pairs
            .filter(|(number, _)| !is_result(*number))
            .filter_map(|(number, other)| Some((number, (*other)?)))
            .collect();
        self.pairs.steps += pairs.len() + self.before.turns + self.after.turns;
        self.chain = longest_increasing(&pairs);
        let mut stretches = [vec![0; self.before.turns], vec![0; self.after.turns]];
        let (mut stretch, mut last) = (0, None);
        for (before, after) in &self.chain {
            let (before, after) = (&self.before.all[*before], &self.after.all[*after]);
            if before.speaker != after.speaker {
                continue;
            }
            let turns = (before.turn, after.turn);
            let is_new = last.is_none_or(|(one, other)| one != turns.0 && other != turns.1);
            stretch += if is_new { 2 } else { 0 };
            last = Some(turns);
            (stretches[0][turns.0], stretches[1][turns.1]) = (stretch, stretch);
        }
        for turns in &mut stretches {
            let mut last = 0;
            for turn in turns {
                // The others are in the gap between two.
                if *turn == 0 {
                    *turn = last + 1;
                } else {
                    last = *turn;
                }
            }
        }
        self.stretches = stretches;
    }

    /// Where an event of a side, 0 or 1, is.
    pub(super) fn stretch(&self, side: usize, event: &Event<'_>) -> usize {
        self.stretches[side][event.turn]
    }

    /// Pairs the calls of a stretch that have only the name or only the arguments in common.
    fn pair_changed_calls(&mut self) {
        for by_name in [true, false] {
            let keys = [(self.before, 0), (self.after, 1)].map(|(events, side)| {
                let key = |event: &Event<'_>| {
                    let own = if by_name { name_hash(event.name.as_deref()) } else { event.arguments };
                    canonical::of_all(b'x', &[self.stretch(side, event) as u64, own])
                };
                let calls =
                    events.all.iter().map(|event| (event.sort == EventKind::Call).then(|| key(event)));
                calls.collect::<Keys>()
            });
            self.pairs.anywhere(&keys[0], &keys[1]);
        }
    }

    /// Pairs results: those of a call with those of the same call, then equal ones elsewhere, then what is left of a call.
    fn pair_results(&mut self) {
        let content = |event: &Event<'_>, way: usize| {
            [event.content.exact, event.content.loose, event.content.words][way]
        };
        for way in 0..3 {
            self.pair_results_of_calls(|event| content(event, way));
        }
        // An equal result elsewhere answers another call now, or none.
        for way in 0..2 {
            let keys = [self.before, self.after].map(|events| {
                let key = |event: &Event<'_>| (event.sort == EventKind::Result).then(|| content(event, way));
                events.all.iter().map(key).collect::<Keys>()
            });
            let [before, mut after] = keys;
            for (key, event) in after.iter_mut().zip(&self.after.all) {
                // The result of a new call is new.
                if event.owner.is_some_and(|call| self.pairs.after[call].is_none()) {
                    *key = None;
                }
            }
            self.pairs.anywhere(&before, &after);
        }
        self.pair_results_of_calls(|_| 0);
        // A result whose call was not read before names it, or its tool; one without a call has an id all the same.
        for is_same in [true, false] {
            let keys = |events: &Events<'s>, is_orphan: bool| {
                let key = |event: &Event<'_>| {
                    let is_wanted = event.sort == EventKind::Result && (!is_orphan || event.owner.is_none());
                    let id = event.id.as_ref().or(event.name.as_ref().filter(|_| is_same));
                    let id = canonical::of_bytes(b'i', id.filter(|_| is_wanted)?.as_bytes());
                    Some(canonical::of_all(b'q', &[id, if is_same { event.content.loose } else { 0 }]))
                };
                events.all.iter().map(key).collect::<Keys>()
            };
            let (before, after) = (keys(self.before, true), keys(self.after, !is_same));
            self.pairs.anywhere(&before, &after);
        }
    }

    fn pair_results_of_calls(&mut self, key: impl Fn(&Event<'_>) -> u64) {
        let hash = |event: &Event<'_>, call: usize| canonical::of_all(b'y', &[key(event), call as u64]);
        let call_of = |event: &Event<'_>| event.owner.filter(|_| event.sort == EventKind::Result);
        // Calls have the number that they have before.
        let before = self.before.all.iter().map(|event| {
            let call = call_of(event).filter(|call| self.pairs.before[*call].is_some());
            call.map(|call| hash(event, call))
        });
        let after = self.after.all.iter().map(|event| {
            let call = call_of(event).and_then(|call| self.pairs.after[call]);
            call.map(|call| hash(event, call))
        });
        let (before, after): (Keys, Keys) = (before.collect(), after.collect());
        self.pairs.anywhere(&before, &after);
    }

    /// Pairs what is left of texts, reasoning and media in each stretch.
    fn pair_changed_texts(&mut self) {
        let mut left: BTreeMap<(usize, EventKind, Role), [VecDeque<usize>; 2]> = BTreeMap::new();
        for (side, events) in [self.before, self.after].into_iter().enumerate() {
            let pairs = if side == 0 { &self.pairs.before } else { &self.pairs.after };
            for (number, event) in
                events.all.iter().enumerate().filter(|(number, _)| pairs[*number].is_none())
            {
                let is_of_family = self.is_one_family
                    && matches!(
                        event.sort,
                        EventKind::ServerCall | EventKind::ServerResult | EventKind::Part
                    );
                if matches!(event.sort, EventKind::Text | EventKind::Reasoning | EventKind::Media)
                    || is_of_family
                {
                    let key = (self.stretch(side, event), event.sort, event.speaker);
                    left.entry(key).or_default()[side].push_back(number);
                }
            }
        }
        self.pairs.steps += self.before.all.len() + self.after.all.len();
        for ((_, sort, _), [before, after]) in left {
            if !matches!(sort, EventKind::Text | EventKind::Reasoning) {
                before.into_iter().zip(after).for_each(|(before, after)| self.pairs.add(before, after));
            } else {
                self.pair_pieces(before, after);
            }
        }
    }

    /// Pairs texts in order: several that make one together, or else one with one.
    fn pair_pieces(&mut self, mut before: VecDeque<usize>, mut after: VecDeque<usize>) {
        while let (Some(&first), Some(&second)) = (before.front(), after.front()) {
            if let Some((taken, taken_after)) = self.same_words(&before, &after) {
                let group: (Vec<usize>, Vec<usize>) =
                    (before.drain(..taken).collect(), after.drain(..taken_after).collect());
                // They are the same text, which is paired by its beginning.
                self.pairs.add(first, second);
                if taken + taken_after > 2 {
                    self.merged.push(group);
                }
            } else {
                before.pop_front();
                after.pop_front();
                // Reasoning that is encrypted has no text that could have changed.
                let is_text = |event: &Event<'_>| event.sort == EventKind::Text || !event.text.is_empty();
                if is_text(&self.before.all[first]) == is_text(&self.after.all[second]) {
                    self.pairs.add(first, second);
                }
            }
        }
    }

    /// How many texts at the beginning of each side are the same but for whitespace.
    fn same_words(&mut self, before: &VecDeque<usize>, after: &VecDeque<usize>) -> Option<(usize, usize)> {
        let words = |events: &'e Events<'s>, number: usize| {
            let text = events.all[number].text.chars();
            text.filter(|character| !character.is_whitespace()).peekable()
        };
        let (mut one, mut other) = (before.iter(), after.iter());
        let mut left = words(self.before, *one.next()?);
        let mut right = words(self.after, *other.next()?);
        let (mut taken, mut taken_after) = (1, 1);
        if left.peek().is_none() || right.peek().is_none() {
            return None;
        }
        loop {
            match (left.peek(), right.peek()) {
                (None, None) => return Some((taken, taken_after)),
                // Each text is looked at so many times at most.
                _ if taken.max(taken_after) > MOST_PIECES => return None,
                (None, Some(_)) => {
                    left = words(self.before, *one.next()?);
                    taken += 1;
                }
                (Some(_), None) => {
                    right = words(self.after, *other.next()?);
                    taken_after += 1;
                }
                (Some(first), Some(second)) if first != second => return None,
                _ => {
                    left.next();
                    right.next();
                }
            }
            self.pairs.steps += 1;
        }
    }
}

fn id_of(event: &Event<'_>) -> Option<u64> {
    let id = event.id.as_ref().filter(|_| event.sort == EventKind::Call)?;
    Some(canonical::of_bytes(b'i', id.as_bytes()))
}

fn strong(all: &Events<'_>, event: &Event<'_>, is_one_family: bool) -> Option<u64> {
    if event.sort != EventKind::Call {
        return weak(event, is_one_family);
    }
    let results = event.results.iter().map(|result| all.all[*result].content.loose);
    let hashes: Vec<u64> = [event.key].into_iter().chain(results).collect();
    Some(canonical::of_all(b's', &hashes))
}

fn weak(event: &Event<'_>, is_one_family: bool) -> Option<u64> {
    match event.sort {
        EventKind::Result if event.owner.is_some() => None,
        // Providers have different names and forms for their own tools.
        EventKind::ServerCall if !is_one_family => Some(canonical::of_bytes(b'v', b"")),
        EventKind::ServerResult if !is_one_family => None,
        _ => Some(canonical::of_all(b'w', &[event.sort as u64, event.speaker as u64, event.key])),
    }
}

fn bare(event: &Event<'_>) -> u64 {
    canonical::of_all(b'b', &[event.sort as u64, event.key])
}

impl Event<'_> {
    pub(super) fn is_of_result(&self) -> bool {
        self.sort == EventKind::Result || self.sort == EventKind::Media && self.owner.is_some()
    }
}
