//! Which result answers which call, wherever they are from: a transcript, a comparison, or a conversation without a format.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt};
use toolcheck_json::Span;

pub(crate) trait Half {
    fn id(&self) -> Option<&str>;
    fn name(&self) -> Option<&str>;
    fn position(&self) -> Position;
    /// Where it is in its document. A program may keep a result in its call.
    fn span(&self) -> Option<Span> {
        None
    }
    /// Whether two results say the same, as far as it is known.
    fn says_same(&self, _: &Self) -> bool {
        true
    }
}

/// Where a call or a result is in a conversation: the numbers of its turn, its message and its part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) turn: usize,
    pub(crate) message: usize,
    pub(crate) part: usize,
}

/// The call that a result belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedWith {
    /// The call with this number, as its first result.
    First(usize),
    /// The call with this number, which already has an earlier result.
    Repeated(usize),
    /// The call with this number, which comes after the result.
    LaterCall(usize),
    /// No call.
    NoCall,
}

impl PairedWith {
    /// The number of the call.
    pub fn call(self) -> Option<usize> {
        match self {
            Self::First(number) | Self::Repeated(number) | Self::LaterCall(number) => Some(number),
            Self::NoCall => None,
        }
    }
}

/// How calls and results are matched that no id binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// As their sender means them: by the names of the tools and then by the order, even if one side has lost its id.
    /// Whoever asks so reports the loss, and wants no other finding because of it.
    AsMeant,
    /// As an API reads them: by the order, if both sides are without ids. Names count only for a turn with more or fewer
    /// results than calls.
    AsRead,
}

/// Which calls and results belong together. Both have numbers.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// For each result, its call.
    pub(crate) paired_with: Vec<PairedWith>,
    /// For each call, its first result.
    pub(crate) answered_by: Vec<Option<usize>>,
    /// For each call, the first call of the same turn that has the same id.
    pub(crate) same_id_in_turn: Vec<Option<usize>>,
    /// Whether several calls have the same id.
    pub(crate) repeats_ids: bool,
}

/// The calls with one id that have no result yet. Almost always there is only one, which needs no allocation.
#[derive(Default)]
struct Open {
    /// The latest turn with such calls, the first of these calls, and the others.
    turn: usize,
    first: Option<usize>,
    others: VecDeque<usize>,
    /// The turns before it, with their calls.
    earlier: Vec<(usize, VecDeque<usize>)>,
    /// The call that was paired most recently.
    answered: Option<usize>,
}

impl Open {
    fn push(&mut self, turn: usize, call: usize) {
        match self.first {
            Some(_) if self.turn == turn => self.others.push_back(call),
            Some(first) => {
                let mut calls = std::mem::take(&mut self.others);
                calls.push_front(first);
                self.earlier.push((self.turn, calls));
                (self.turn, self.first) = (turn, Some(call));
            }
            None => (self.turn, self.first) = (turn, Some(call)),
        }
    }

    /// Takes the call that the next result answers: the first one of the latest turn.
    fn take(&mut self) -> Option<usize> {
        if self.first.is_none()
            && let Some((turn, calls)) = self.earlier.pop()
        {
            (self.turn, self.others) = (turn, calls);
            self.first = self.others.pop_front();
        }
        let call = self.first.take()?;
        self.first = self.others.pop_front();
        self.answered = Some(call);
        Some(call)
    }

    /// Takes one of the next calls of the latest turn.
    fn take_own(&mut self, is_own: impl Fn(usize) -> bool) -> Option<usize> {
        if self.others.is_empty() || self.first.is_some_and(&is_own) {
            return None;
        }
        let at = self.others.iter().take(LOOKED_AHEAD).position(|call| is_own(*call))?;
        self.answered = self.others.remove(at);
        self.answered
    }

    fn first_of(&self, turn: usize) -> Option<usize> {
        self.first.filter(|_| self.turn == turn)
    }
}

/// The calls of the latest turn, for results whose id matches none of them.
#[derive(Default)]
struct Latest<'m> {
    turn: Option<usize>,
    in_line: VecDeque<usize>,
    /// The same calls by tool name; computed when first needed.
    by_name: Option<HashMap<&'m str, VecDeque<usize>>>,
    /// Whether as many results follow as there are calls.
    is_even: bool,
    /// Whether more do.
    has_too_many: bool,
    /// The call that was paired most recently.
    last: Option<usize>,
    /// The only call of each name that was paired, if there are too many results.
    only_of_name: HashMap<&'m str, Option<usize>>,
}

/// The number of calls after the last paired one that are considered for a result without an id.
const LOOKED_AHEAD: usize = 64;

impl Matches {
    /// Matches calls and results, which are both in the order of the conversation: by id, and the results whose id belongs
    /// to no call by the names of the tools and the order.
    pub(crate) fn of<C: Half, R: Half>(calls: &[C], results: &[R], how: Match) -> Self {
        let matches = Self {
            paired_with: vec![PairedWith::NoCall; results.len()],
            answered_by: vec![None; calls.len()],
            same_id_in_turn: vec![None; calls.len()],
            repeats_ids: false,
        };
        let mut matching = Matching { calls, results, how, matches };
        matching.pair();
        matching.free_misnamed();
        matching.matches
    }
}

struct Matching<'m, C, R> {
    calls: &'m [C],
    results: &'m [R],
    how: Match,
    matches: Matches,
}

impl<'m, C: Half, R: Half> Matching<'m, C, R> {
    fn pair(&mut self) {
        // Data sets have neither ids nor names of what results are of.
        let with_ids = self.calls.iter().filter(|call| call.id().is_some()).count();
        let mut by_id: HashMap<&'m str, Open> = HashMap::with_capacity(with_ids);
        let names_results = self.results.iter().any(|result| result.name().is_some());
        let mut latest = Latest::default();
        let mut unmatched = Vec::new();
        let mut next_call = 0;
        for number in 0..self.results.len() {
            let result = &self.results[number];
            let part = result.position().part;
            while let Some(call) =
                self.calls.get(next_call).map(Half::position).filter(|call| call.part < part)
            {
                self.open(next_call, &mut by_id);
                let turn = call.turn;
                if latest.turn != Some(turn) {
                    latest.in_line.clear();
                    let in_line = std::mem::take(&mut latest.in_line);
                    latest = Latest { turn: Some(turn), in_line, ..Latest::default() };
                }
                latest.in_line.push_back(next_call);
                next_call += 1;
            }
            let span = result.span();
            let is_own = |call: usize| {
                let both = self.calls[call].span().zip(span);
                let is_named = result.name().is_some() && self.calls[call].name() == result.name();
                both.is_some_and(|(call, result)| call.contains(result)) || is_named
            };
            let open = result.id().and_then(|id| by_id.get_mut(id));
            self.matches.paired_with[number] = match open {
                Some(open) => match open.take_own(is_own).or_else(|| open.take()) {
                    Some(call) => PairedWith::First(call),
                    None => open.answered.map_or(PairedWith::NoCall, PairedWith::Repeated),
                },
                None => {
                    unmatched.push(number);
                    PairedWith::NoCall
                }
            };
            if let PairedWith::First(call) = self.matches.paired_with[number] {
                self.matches.answered_by[call] = Some(number);
            } else if self.matches.paired_with[number] == PairedWith::NoCall {
                if latest.by_name.is_none() {
                    self.keep_own_calls(number, next_call, &mut latest);
                }
                self.pair_by_position(number, names_results, &mut latest);
            }
        }
        for call in next_call..self.calls.len() {
            self.open(call, &mut by_id);
        }
        let are_bare = by_id.is_empty() && self.results.iter().all(|result| result.id().is_none());
        // The remaining results may name a call that comes after them.
        for number in unmatched {
            if self.matches.paired_with[number] != PairedWith::NoCall {
                continue;
            }
            let call = match self.results[number].id() {
                Some(id) => by_id.get_mut(id).and_then(Open::take),
                None => self.later_without_id(number, are_bare),
            };
            if let Some(call) = call {
                self.matches.paired_with[number] = PairedWith::LaterCall(call);
                self.matches.answered_by[call] = Some(number);
            }
        }
    }

    /// The open call of the next turn that a result without an id is of, by its tool, or where nothing has an id and it is the
    /// only one. What a conversation begins with is the result of a call that was cut off.
    fn later_without_id(&self, number: usize, are_bare: bool) -> Option<usize> {
        let (result, at) = (&self.results[number], self.results[number].position());
        let name = result.name();
        if at.part == 0 || !are_bare && (name.is_none() || self.how != Match::AsMeant) {
            return None;
        }
        let turn_of = |call: usize| self.calls.get(call).map(|call| call.position().turn);
        let is_its = |call: &usize| {
            let own = &self.calls[*call];
            let is_next = own.position().turn == at.turn + 1 && own.id().is_none();
            let is_only =
                || ![call.wrapping_sub(1), call + 1].iter().any(|other| turn_of(*other) == turn_of(*call));
            let is_of_tool = if name.is_some() { own.name() == name } else { is_only() };
            is_next && is_of_tool && self.matches.answered_by[*call].is_none()
        };
        let first = self.calls.partition_point(|call| call.position().part < at.part);
        (first..self.calls.len()).take(LOOKED_AHEAD).find(is_its)
    }

    /// Of two results with the id of one call, one is that of another call of the turn, which has none, if the names of their
    /// tools say so, or if these are the same or missing, and there are as many results as calls, which say different things.
    fn free_misnamed(&mut self) {
        for number in 0..self.results.len() {
            let PairedWith::Repeated(call) = self.matches.paired_with[number] else { continue };
            let Some(first) = self.matches.answered_by[call] else { continue };
            let (result, taken) = (&self.results[number], &self.results[first]);
            let turn = self.calls[call].position().turn;
            if [result, taken].iter().any(|result| result.position().turn != turn + 1) {
                continue;
            }
            let is_open = |name: Option<&str>| {
                let is_open = |sibling: usize| {
                    let sibling_of = &self.calls[sibling];
                    sibling_of.position().turn == turn
                        && self.matches.answered_by[sibling].is_none()
                        && (name.is_none() || sibling_of.name() == name)
                };
                let end = self.calls.len().min(call + LOOKED_AHEAD);
                (call.saturating_sub(LOOKED_AHEAD)..end).any(is_open)
            };
            match (self.calls[call].name(), taken.name(), result.name()) {
                (Some(own), Some(other), Some(name))
                    if name == own && other != own && is_open(Some(other)) =>
                {
                    self.matches.paired_with[first] = PairedWith::NoCall;
                    self.matches.paired_with[number] = PairedWith::First(call);
                    self.matches.answered_by[call] = Some(number);
                }
                (Some(own), _, Some(name)) if name != own && is_open(Some(name)) => {
                    self.matches.paired_with[number] = PairedWith::NoCall;
                }
                (own, one, other)
                    if one == other
                        && (one.is_none() || one == own)
                        && !result.says_same(taken)
                        && self.is_even(turn)
                        && is_open(one) =>
                {
                    self.matches.paired_with[number] = PairedWith::NoCall;
                }
                _ => {}
            }
        }
    }

    /// Whether as many results follow a turn as it has calls.
    fn is_even(&self, turn: usize) -> bool {
        fn count<H: Half>(halves: &[H], turn: usize) -> usize {
            let before = |turn| halves.partition_point(|half| half.position().turn < turn);
            before(turn + 1) - before(turn)
        }
        count(self.calls, turn) == count(self.results, turn + 1)
    }

    fn open(&mut self, call: usize, by_id: &mut HashMap<&'m str, Open>) {
        let Some(id) = self.calls[call].id() else { return };
        let turn = self.calls[call].position().turn;
        let open = match by_id.entry(id) {
            Entry::Occupied(known) => {
                self.matches.repeats_ids = true;
                known.into_mut()
            }
            Entry::Vacant(new) => new.insert(Open::default()),
        };
        self.matches.same_id_in_turn[call] = open.first_of(turn);
        open.push(turn, call);
    }

    /// A turn may be in several messages, of which an earlier one was interrupted: if its last message has as many calls
    /// as results follow, the results are those of that message.
    fn keep_own_calls(&self, result: usize, next_call: usize, latest: &mut Latest<'m>) {
        let Some(&last) = latest.in_line.back() else { return };
        let message_of = |call: usize| self.calls[call].position().message;
        let message = message_of(last);
        let is_earlier = |call: &usize| message_of(*call) != message;
        let earlier = latest.in_line.iter().take_while(|call| is_earlier(call)).count();
        let next_call = self.calls.get(next_call).map_or(usize::MAX, |call| call.position().part);
        let is_own = |result: &&R| result.position().part < next_call;
        let run = self.results[result..].iter().take_while(is_own).take(latest.in_line.len() + 1).count();
        // Unless their names are those of earlier calls.
        let named = |calls: &[usize], name| calls.iter().any(|call| self.calls[*call].name() == Some(name));
        let (before, own) = latest.in_line.make_contiguous().split_at(earlier);
        let is_of_earlier = |name| named(before, name) && !named(own, name);
        let mut names = self.results[result..].iter().take(run.min(LOOKED_AHEAD)).filter_map(Half::name);
        if run + earlier <= before.len() + own.len() && !names.any(is_of_earlier) {
            latest.in_line.drain(..earlier);
        }
        let is_open = |call: &&usize| self.matches.answered_by[**call].is_none();
        latest.is_even = run == latest.in_line.iter().filter(is_open).count();
        latest.has_too_many = run > latest.in_line.len();
    }

    /// Pairs a result whose id matches no call, by its tool's name if it has one, and otherwise by its position among
    /// the results of the latest turn.
    fn pair_by_position(&mut self, number: usize, names_results: bool, latest: &mut Latest<'m>) {
        let (calls, result) = (self.calls, &self.results[number]);
        let by_name = latest.by_name.get_or_insert_with(|| {
            let mut by_name: HashMap<&'m str, VecDeque<usize>> = HashMap::default();
            for &call in latest.in_line.iter().filter(|_| names_results) {
                if let Some(name) = calls[call].name() {
                    by_name.entry(name).or_default().push_back(call);
                }
            }
            by_name
        });
        let answered_by = &self.matches.answered_by;
        // A result with an id does not belong to a call with a different id.
        let most_ids = usize::from(self.how == Match::AsMeant);
        let is_free = |call: usize| {
            usize::from(result.id().is_some()) + usize::from(calls[call].id().is_some()) <= most_ids
        };
        let next = |line: &mut VecDeque<usize>| {
            while line.front().is_some_and(|call| answered_by[*call].is_some()) {
                line.pop_front();
            }
            line.front().copied().filter(|call| is_free(*call))
        };
        let name = result.name().filter(|_| self.how == Match::AsMeant || !latest.is_even);
        let named = name.and_then(|name| by_name.get_mut(name)).and_then(|line| {
            // Results are usually in the order of their calls, so look after the last paired call before going back.
            let ahead = line.partition_point(|call| latest.last.is_some_and(|last| *call <= last));
            let in_order = line.iter().skip(ahead).take(LOOKED_AHEAD).copied();
            in_order
                .into_iter()
                .find(|call| answered_by[*call].is_none() && is_free(*call))
                .or_else(|| next(line))
        });
        // Of too many results, one of a tool whose only call has its own is a second one.
        if named.is_none()
            && let Some(call) = name.and_then(|name| latest.only_of_name.get(name).copied().flatten())
        {
            self.matches.paired_with[number] = PairedWith::Repeated(call);
            return;
        }
        // A result too many of one tool is not that of another one.
        let is_of_other =
            named.is_none() && !latest.is_even && name.is_some_and(|name| by_name.contains_key(name));
        if is_of_other {
            return;
        }
        // A call whose own result comes later in the turn is not this one's.
        let at = result.position().turn;
        let has_own = |call: usize| {
            let later = self.results[number + 1..].iter().take(LOOKED_AHEAD);
            let mut of_turn = later.take_while(|later| later.position().turn == at);
            calls[call].id().is_some_and(|id| of_turn.any(|later| later.id() == Some(id)))
        };
        let is_open = |call: &usize| answered_by[*call].is_none() && !has_own(*call);
        let excluded = || {
            let line = latest.in_line.iter().copied().take(LOOKED_AHEAD);
            line.into_iter().find(is_open).filter(|call| self.how == Match::AsMeant && is_free(*call))
        };
        let Some(call) = named.or_else(excluded).or_else(|| next(&mut latest.in_line)) else { return };
        latest.last = Some(call);
        if let Some(name) = calls[call].name().filter(|_| latest.has_too_many) {
            latest.only_of_name.entry(name).and_modify(|only| *only = None).or_insert(Some(call));
        }
        self.matches.paired_with[number] = PairedWith::First(call);
        self.matches.answered_by[call] = Some(number);
    }
}
