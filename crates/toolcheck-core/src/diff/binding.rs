//! Which result answers which call.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use foldhash::HashMap;

use super::events::{Event, Sort};
use crate::conversation::Feature;
use crate::formats::Format;

/// How results belong to calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// By the ids, whatever the order.
    Ids,
    /// By the order, whatever the ids.
    Position,
}

impl Binding {
    /// How the results of requests in a format belong to calls. Without a wire format, there are ids.
    pub(super) fn of(format: Option<&Format>) -> Self {
        match format {
            Some(format) if !format.can_hold(Feature::CallIds) => Self::Position,
            _ => Self::Ids,
        }
    }
}

/// Says of each result which call it answers, and of each call which results it has.
pub(super) fn bind(events: &mut [Event<'_>], binding: Binding) {
    if binding == Binding::Ids {
        bind_by_id(events);
    }
    bind_by_position(events, binding);
    for number in 0..events.len() {
        if events[number].sort == Sort::Result
            && let Some(call) = events[number].owner
        {
            events[call].results.push(number);
        }
    }
}

/// The calls with one id.
#[derive(Default)]
struct SameId {
    /// Those without a result so far, by turns.
    open: Vec<(usize, VecDeque<usize>)>,
    /// The one that was answered last.
    answered: Option<usize>,
}

impl SameId {
    fn push(&mut self, turn: usize, call: usize) {
        match self.open.last_mut() {
            Some((last, calls)) if *last == turn => calls.push_back(call),
            _ => self.open.push((turn, VecDeque::from([call]))),
        }
    }

    /// The call that the next result answers: the first open one of the latest turn, or else the last one that was
    /// answered, for the second time.
    fn take(&mut self) -> Option<usize> {
        while let Some((_, calls)) = self.open.last_mut() {
            if let Some(call) = calls.pop_front() {
                self.answered = Some(call);
                return Some(call);
            }
            self.open.pop();
        }
        self.answered
    }
}

fn bind_by_id(events: &mut [Event<'_>]) {
    let mut by_id: HashMap<Cow<'_, str>, SameId> = HashMap::default();
    let mut unknown = Vec::new();
    for (number, event) in events.iter_mut().enumerate() {
        let Some(id) = event.id.clone() else { continue };
        match event.sort {
            Sort::Call => by_id.entry(id).or_default().push(event.turn, number),
            Sort::Result => match by_id.get_mut(&id).and_then(SameId::take) {
                Some(call) => event.owner = Some(call),
                None => unknown.push(number),
            },
            _ => {}
        }
    }
    // The others may stand before their calls.
    for number in unknown {
        let known = events[number].id.as_ref().and_then(|id| by_id.get_mut(id));
        if let Some(call) = known.and_then(SameId::take) {
            events[number].owner = Some(call);
        }
    }
}

/// The calls that results may answer by their order.
#[derive(Default)]
struct Asked {
    /// All calls of the turn.
    turn: Option<usize>,
    calls: Vec<usize>,
    /// Where those of the last message begin.
    last_message: usize,
    message: Option<usize>,
}

/// Binds the results that no id binds by their order: the results after a turn answer its calls.
fn bind_by_position(events: &mut [Event<'_>], binding: Binding) {
    let mut asked = Asked::default();
    let mut run: Vec<usize> = Vec::new();
    for number in 0..events.len() {
        let event = &events[number];
        let has_id = binding == Binding::Ids && event.id.is_some();
        match event.sort {
            Sort::Call if !has_id => {
                let (turn, message) = (event.turn, event.message);
                if !run.is_empty() {
                    bind_run(events, &asked, &run);
                    run.clear();
                    asked = Asked::default();
                }
                if asked.turn != Some(turn) {
                    asked = Asked { turn: Some(turn), ..Asked::default() };
                }
                if asked.message != Some(message) {
                    (asked.message, asked.last_message) = (Some(message), asked.calls.len());
                }
                asked.calls.push(number);
            }
            Sort::Result if !has_id => run.push(number),
            _ => {}
        }
    }
    bind_run(events, &asked, &run);
}

/// Binds the results that follow some calls.
fn bind_run(events: &mut [Event<'_>], asked: &Asked, run: &[usize]) {
    // A turn may be in several messages. If the results are those of the last one, they are its own.
    let own: Range<usize> = asked.last_message..asked.calls.len();
    let calls = if run.len() <= own.len() { &asked.calls[own] } else { &asked.calls[..] };
    if run.len() == calls.len() {
        for (result, call) in run.iter().zip(calls) {
            events[*result].owner = Some(*call);
        }
        return;
    }
    // Something is missing. The names may tell what, if there are some.
    let mut by_name: HashMap<Cow<'_, str>, Line> = HashMap::default();
    for (place, call) in calls.iter().enumerate() {
        if let Some(name) = events[*call].name.clone() {
            by_name.entry(name).or_default().ahead.push_back(place);
        }
    }
    let mut is_answered = vec![false; calls.len()];
    let (mut next, mut first_open) = (0, 0);
    for result in run {
        let named = events[*result].name.as_ref().and_then(|name| by_name.get_mut(name));
        let place = named.and_then(|line| line.take(next, &is_answered)).or_else(|| {
            first_open += is_answered[first_open..].iter().take_while(|is_answered| **is_answered).count();
            (first_open < calls.len()).then_some(first_open)
        });
        if let Some(place) = place {
            next = place + 1;
            is_answered[place] = true;
            events[*result].owner = Some(calls[place]);
        }
    }
}

/// The calls of one tool in a turn, by their places.
#[derive(Default)]
struct Line {
    /// Those that are still to come.
    ahead: VecDeque<usize>,
    /// Those that were passed over.
    behind: VecDeque<usize>,
}

impl Line {
    /// The first open call from a place on, or else the first one before it: results are usually in the order of their
    /// calls.
    fn take(&mut self, from: usize, is_answered: &[bool]) -> Option<usize> {
        while let Some(passed) = self.ahead.pop_front_if(|place| *place < from || is_answered[*place]) {
            self.behind.push_back(passed);
        }
        while self.behind.pop_front_if(|place| is_answered[*place]).is_some() {}
        self.ahead.pop_front().or_else(|| self.behind.pop_front())
    }
}
