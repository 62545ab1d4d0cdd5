//! Which result answers which call, how far away, and in what order.
//!
//! Computed once for a transcript, in one pass and linear in its calls and results; every pairing rule reads it.
//! What the provider runs itself is left out: nobody owes a result for it.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};
use toolcheck_core::ir::{Body, Call, Executor, Message, Part, Role, ToolResult, Transcript};
use toolcheck_core::target::{Placement, Target};

/// A call of the client, where it stands.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallSite<'t, 's> {
    /// Its number among the calls.
    pub number: usize,
    /// The call.
    pub call: &'t Call<'s>,
    /// The part that holds it.
    pub part: &'t Part<'s>,
    /// The number of its part in the transcript.
    pub part_number: usize,
    /// Its message.
    pub message: &'t Message<'s>,
    /// The number of its message in the transcript.
    pub message_number: usize,
    /// The number of its turn.
    pub turn: usize,
}

/// A result of the client, where it stands.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ResultSite<'t, 's> {
    /// Its number among the results.
    pub number: usize,
    /// The result.
    pub result: &'t ToolResult<'s>,
    /// The part that holds it.
    pub part: &'t Part<'s>,
    /// The number of its part in the transcript.
    pub part_number: usize,
    /// Its message.
    pub message: &'t Message<'s>,
    /// The number of its message in the transcript.
    pub message_number: usize,
    /// The number of its turn.
    pub turn: usize,
    /// The call that it belongs to.
    pub paired_with: PairedWith,
}

/// The call that a result belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedWith {
    /// The call of this number, and it is the first to do so.
    First(usize),
    /// The call of this number, which an earlier result has answered.
    Repeated(usize),
    /// A call of this number, which comes only later.
    LaterCall(usize),
    /// No call at all.
    NoCall,
}

impl PairedWith {
    /// The call's number.
    #[must_use]
    pub fn call(self) -> Option<usize> {
        match self {
            Self::First(number) | Self::Repeated(number) | Self::LaterCall(number) => Some(number),
            Self::NoCall => None,
        }
    }
}

/// Consecutive messages of one role.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Turn {
    /// Whose they are.
    pub role: Role,
    /// Their numbers.
    pub messages: Range<usize>,
    /// The numbers of the calls in them.
    calls: Range<usize>,
    /// The numbers of the results in them.
    results: Range<usize>,
}

/// The pairing of a transcript's calls and results.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pairing<'t, 's> {
    /// The turns.
    pub turns: Vec<Turn>,
    /// The calls that the client owes a result for.
    pub calls: Vec<CallSite<'t, 's>>,
    /// The results that the client brings.
    pub results: Vec<ResultSite<'t, 's>>,
    /// For each call, the result that answers it first.
    answered_by: Vec<Option<usize>>,
    /// For each call, the first call of the same turn that has the same id.
    same_id_in_turn: Vec<Option<usize>>,
    /// Whether an id is that of several calls.
    repeats_ids: bool,
    /// For each call that nothing answers, the result in its place that names another call.
    stand_ins: FxHashMap<usize, usize>,
    /// The same, by the result.
    stands_for: FxHashMap<usize, usize>,
    placement: Placement,
    merges: bool,
    merges_user: bool,
    first_unknown_index: usize,
}

/// The calls of one id that no result has answered yet. Almost always there is one, which costs no memory of its own.
#[derive(Default)]
struct Open {
    /// The latest turn with such calls, the first of them, and the others.
    turn: usize,
    first: Option<usize>,
    others: VecDeque<usize>,
    /// The same of earlier turns.
    earlier: Vec<(usize, VecDeque<usize>)>,
    /// The call that was answered last.
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

    /// The call that the next result answers: of the latest turn, the first.
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

    /// The first open call of this turn.
    fn first_of(&self, turn: usize) -> Option<usize> {
        self.first.filter(|_| self.turn == turn)
    }
}

/// The calls of the latest turn, for results that name none of them.
#[derive(Default)]
struct Latest<'t> {
    turn: Option<usize>,
    in_line: VecDeque<usize>,
    /// The same calls by their tool; made when a result first asks for it.
    by_name: Option<FxHashMap<&'t str, VecDeque<usize>>>,
    /// The call that was paired last.
    last: Option<usize>,
}

/// How many calls behind the last one a result without an id is held against.
const LOOKED_AHEAD: usize = 64;

impl<'t, 's> Pairing<'t, 's> {
    /// Pairs the transcript's calls and results as `target` does.
    #[must_use]
    pub fn new(transcript: &'t Transcript<'s>, target: &Target) -> Self {
        let mut pairing = Self {
            turns: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            answered_by: Vec::new(),
            same_id_in_turn: Vec::new(),
            repeats_ids: false,
            stand_ins: FxHashMap::default(),
            stands_for: FxHashMap::default(),
            placement: target.result_placement(),
            merges: target.merges_assistant_messages(),
            merges_user: target.merges_user_messages(),
            first_unknown_index: usize::MAX,
        };
        pairing.collect(transcript);
        pairing.first_unknown_index = if target.format.as_deref() != transcript.format.map(|format| format.id)
        {
            0
        } else if transcript.batches_results {
            let run = pairing.turns.iter().find(|turn| turn.messages.len() > 1);
            run.map_or(usize::MAX, |turn| turn.messages.start + 1)
        } else {
            usize::MAX
        };
        pairing.pair();
        pairing.find_stand_ins();
        pairing
    }

    /// Lists turns, calls and results.
    fn collect(&mut self, transcript: &'t Transcript<'s>) {
        // Growing would copy what is there again and again.
        let (calls, results) = transcript.counts();
        self.calls.reserve_exact(calls);
        self.results.reserve_exact(results);
        self.turns.reserve(transcript.messages.len());
        for (message_number, (message, parts)) in transcript.messages_with_parts().enumerate() {
            // What only sets parameters may stand anywhere, also between calls and their results.
            if message.is_directive {
                continue;
            }
            match self.turns.last_mut() {
                Some(turn) if turn.role == message.role => turn.messages.end = message_number + 1,
                _ => self.turns.push(Turn {
                    role: message.role,
                    messages: message_number..message_number + 1,
                    calls: self.calls.len()..self.calls.len(),
                    results: self.results.len()..self.results.len(),
                }),
            }
            let turn = self.turns.len() - 1;
            for (part_number, part) in (message.parts.start as usize..).zip(parts) {
                match &part.body {
                    Body::Call(call) if call.executor == Executor::Client => {
                        let number = self.calls.len();
                        self.calls.push(CallSite {
                            number,
                            call,
                            part,
                            part_number,
                            message,
                            message_number,
                            turn,
                        });
                    }
                    Body::Result(result) if result.executor == Executor::Client => {
                        let number = self.results.len();
                        let paired_with = PairedWith::NoCall;
                        self.results.push(ResultSite {
                            number,
                            result,
                            part,
                            part_number,
                            message,
                            message_number,
                            turn,
                            paired_with,
                        });
                    }
                    _ => {}
                }
            }
            let (calls, results) = (self.calls.len(), self.results.len());
            if let Some(turn) = self.turns.last_mut() {
                (turn.calls.end, turn.results.end) = (calls, results);
            }
        }
        self.answered_by = vec![None; self.calls.len()];
        self.same_id_in_turn = vec![None; self.calls.len()];
    }

    fn pair(&mut self) {
        let mut by_id: FxHashMap<&'t str, Open> =
            FxHashMap::with_capacity_and_hasher(self.calls.len(), FxBuildHasher);
        let mut latest = Latest::default();
        let mut unmatched = Vec::new();
        let mut next_call = 0;
        for number in 0..self.results.len() {
            let site = self.results[number];
            while next_call < self.calls.len() && self.is_before(next_call, &site) {
                self.open(next_call, &mut by_id);
                let turn = self.calls[next_call].turn;
                if latest.turn != Some(turn) {
                    latest = Latest { turn: Some(turn), ..Latest::default() };
                }
                latest.in_line.push_back(next_call);
                next_call += 1;
            }
            let id = site.result.call_id.as_ref().map(|id| &*id.text);
            let open = id.and_then(|id| by_id.get_mut(id));
            self.results[number].paired_with = match open {
                Some(open) => match open.take() {
                    Some(call) => PairedWith::First(call),
                    None => open.answered.map_or(PairedWith::NoCall, PairedWith::Repeated),
                },
                None => {
                    unmatched.push(number);
                    PairedWith::NoCall
                }
            };
            if let PairedWith::First(call) = self.results[number].paired_with {
                self.answered_by[call] = Some(number);
            } else if self.results[number].paired_with == PairedWith::NoCall {
                self.pair_by_position(number, &mut latest);
            }
        }
        for call in next_call..self.calls.len() {
            self.open(call, &mut by_id);
        }
        // What is left may name a call that comes only after it.
        for number in unmatched {
            let site = &self.results[number];
            if site.paired_with != PairedWith::NoCall {
                continue;
            }
            let Some(open) = site.result.call_id.as_ref().and_then(|id| by_id.get_mut(&*id.text)) else {
                continue;
            };
            if let Some(call) = open.take() {
                self.results[number].paired_with = PairedWith::LaterCall(call);
                self.answered_by[call] = Some(number);
            }
        }
    }

    /// Finds results that stand where an unanswered call's result should, under an id that no call has: the id was
    /// changed on one side, and that is one fault, not two.
    fn find_stand_ins(&mut self) {
        let mut calls = self.calls.iter().filter(|call| self.answered_by[call.number].is_none()).peekable();
        for result in self.results.iter().filter(|result| result.paired_with == PairedWith::NoCall) {
            while calls.next_if(|call| call.turn + 1 < result.turn).is_some() {}
            if let Some(call) = calls.next_if(|call| call.turn + 1 == result.turn) {
                self.stand_ins.insert(call.number, result.number);
                self.stands_for.insert(result.number, call.number);
            }
        }
    }

    /// The unanswered call in whose place the result stands.
    #[must_use]
    pub fn stands_for(&self, result: &ResultSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        self.stands_for.get(&result.number).map(|number| &self.calls[*number])
    }

    /// Whether a result under another id stands in the place of the call's result.
    #[must_use]
    pub fn has_stand_in(&self, call: &CallSite<'_, '_>) -> bool {
        self.stand_ins.contains_key(&call.number)
    }

    /// Whether the call stands before the result in the text.
    fn is_before(&self, call: usize, result: &ResultSite<'_, '_>) -> bool {
        self.calls[call].part.place.node < result.part.place.node
    }

    fn open(&mut self, call: usize, by_id: &mut FxHashMap<&'t str, Open>) {
        let site = self.calls[call];
        let Some(id) = &site.call.id else { return };
        let open = match by_id.entry(&*id.text) {
            Entry::Occupied(known) => {
                self.repeats_ids = true;
                known.into_mut()
            }
            Entry::Vacant(new) => new.insert(Open::default()),
        };
        self.same_id_in_turn[call] = open.first_of(site.turn);
        open.push(site.turn, call);
    }

    /// Pairs a result that names no call by its place among the results of the latest turn, and by its tool's
    /// name where it has one.
    fn pair_by_position(&mut self, number: usize, latest: &mut Latest<'t>) {
        let result = self.results[number].result;
        let calls = &self.calls;
        let by_name = latest.by_name.get_or_insert_with(|| {
            let mut by_name: FxHashMap<&'t str, VecDeque<usize>> = FxHashMap::default();
            for &call in &latest.in_line {
                if let Some(name) = &calls[call].call.name {
                    by_name.entry(&name.text).or_default().push_back(call);
                }
            }
            by_name
        });
        let answered_by = &self.answered_by;
        // A result with an id belongs to no call that has another one.
        let is_free = |call: usize| result.call_id.is_none() || calls[call].call.id.is_none();
        let next = |line: &mut VecDeque<usize>| {
            while line.front().is_some_and(|call| answered_by[*call].is_some()) {
                line.pop_front();
            }
            line.front().copied().filter(|call| is_free(*call))
        };
        let named = result.name.as_ref().and_then(|name| by_name.get_mut(&*name.text)).and_then(|line| {
            // Results mostly keep the order of their calls: go on behind the last one before going back.
            let ahead = line.partition_point(|call| latest.last.is_some_and(|last| *call <= last));
            let in_order = line.iter().skip(ahead).take(LOOKED_AHEAD).copied();
            in_order
                .into_iter()
                .find(|call| answered_by[*call].is_none() && is_free(*call))
                .or_else(|| next(line))
        });
        let Some(call) = named.or_else(|| next(&mut latest.in_line)) else { return };
        latest.last = Some(call);
        self.results[number].paired_with = PairedWith::First(call);
        self.answered_by[call] = Some(number);
    }

    /// The call that is the part of this number in the transcript.
    #[must_use]
    pub fn call_at(&self, part_number: usize) -> Option<&CallSite<'t, 's>> {
        let found = self.calls.binary_search_by_key(&part_number, |site| site.part_number);
        found.ok().map(|number| &self.calls[number])
    }

    /// The result that is the part of this number in the transcript.
    #[must_use]
    pub fn result_at(&self, part_number: usize) -> Option<&ResultSite<'t, 's>> {
        let found = self.results.binary_search_by_key(&part_number, |site| site.part_number);
        found.ok().map(|number| &self.results[number])
    }

    /// The result that answers a call first.
    #[must_use]
    pub fn answer_of(&self, call: &CallSite<'_, '_>) -> Option<&ResultSite<'t, 's>> {
        self.answered_by[call.number].map(|number| &self.results[number])
    }

    /// Whether the result is the one that answers its call.
    #[must_use]
    pub fn is_first_answer(&self, result: &ResultSite<'_, '_>) -> bool {
        result.paired_with.call().is_some_and(|call| self.answered_by[call] == Some(result.number))
    }

    /// The call that the result answers first, where it is of another kind than the result.
    #[must_use]
    pub fn mismatched_call(&self, result: &ResultSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        let call = result.paired_with.call().filter(|_| self.is_first_answer(result));
        call.map(|call| &self.calls[call]).filter(|call| !call.call.kind.is_answered_by(result.result.kind))
    }

    /// Whether several calls of the transcript have one id.
    #[must_use]
    pub fn repeats_ids(&self) -> bool {
        self.repeats_ids
    }

    /// The earlier call of the same turn that has the same id.
    #[must_use]
    pub fn first_of_same_id(&self, call: &CallSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        self.same_id_in_turn[call.number].map(|number| &self.calls[number])
    }

    /// Whether the result stands where the target looks for the results of the call's turn.
    #[must_use]
    pub fn is_in_place(&self, call: &CallSite<'_, '_>, result: &ResultSite<'_, '_>) -> bool {
        match self.placement {
            Placement::Anywhere => true,
            Placement::NextTurn => {
                result.turn == call.turn + 1
                    && (self.merges || self.reaches_end_of_turn(call))
                    && (self.merges_user || self.begins_turn(result))
            }
        }
    }

    /// Whether the results of the result's turn stand in its first message. Where the target does not merge messages,
    /// what comes before them stands between the calls and the results.
    fn begins_turn(&self, result: &ResultSite<'_, '_>) -> bool {
        let start = self.turns[result.turn].messages.start;
        self.results_of_turn(result.turn).first().is_some_and(|first| first.message_number == start)
    }

    /// Whether no message without calls follows the call in its own turn. Where the target does not merge
    /// messages, such a message stands between the call and its result.
    #[must_use]
    pub fn reaches_end_of_turn(&self, call: &CallSite<'_, '_>) -> bool {
        let last = self.turns[call.turn].messages.end - 1;
        call.message_number == last || self.calls_in_message(last)
    }

    fn calls_in_message(&self, message_number: usize) -> bool {
        self.calls.binary_search_by(|site| site.message_number.cmp(&message_number)).is_ok()
    }

    /// The results of a turn; none where there is no such turn.
    pub fn results_of_turn(&self, turn: usize) -> &[ResultSite<'t, 's>] {
        self.turns.get(turn).map_or(&[], |turn| &self.results[turn.results.clone()])
    }

    /// The calls of a turn; none where there is no such turn.
    pub fn calls_of_turn(&self, turn: usize) -> &[CallSite<'t, 's>] {
        self.turns.get(turn).map_or(&[], |turn| &self.calls[turn.calls.clone()])
    }

    /// Whether the number that the provider gives a message is known: it is not where two messages of one role
    /// stand in a row before it, because nobody knows whether the provider counts them before it joins them.
    #[must_use]
    pub fn knows_index(&self, message_number: usize) -> bool {
        message_number < self.first_unknown_index
    }
}
