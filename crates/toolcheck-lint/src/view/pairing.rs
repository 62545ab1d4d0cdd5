//! Which result answers which call, how far away, and in what order.
//!
//! The pairing is computed once per transcript, in one pass and in linear time; every pairing rule reads it.
//! Server tools are left out: the provider runs them itself, and the client owes no result for them.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt};
use toolcheck_core::ir::{Body, Call, Executor, Message, Part, Role, Settled, ToolResult, Transcript};
use toolcheck_core::targets::{Placement, Target};

/// A call of a client tool, with its position.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallSite<'t, 's> {
    /// Its number among the calls.
    pub number: usize,
    /// The call.
    pub call: &'t Call<'s>,
    /// The part that contains it.
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

/// A result of a client tool, with its position.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ResultSite<'t, 's> {
    /// Its number among the results.
    pub number: usize,
    /// The result.
    pub result: &'t ToolResult<'s>,
    /// The part that contains it.
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
    /// The role.
    pub role: Role,
    /// The numbers of the messages.
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
    /// The calls that need a result from the client.
    pub calls: Vec<CallSite<'t, 's>>,
    /// The results from the client.
    pub results: Vec<ResultSite<'t, 's>>,
    /// For each call, its first result.
    answered_by: Vec<Option<usize>>,
    /// For each call, the first call of the same turn that has the same id.
    same_id_in_turn: Vec<Option<usize>>,
    /// Whether several calls have the same id.
    repeats_ids: bool,
    /// For each call without a result, the result in its place that has another id.
    stand_ins: HashMap<usize, usize>,
    /// The reverse of `stand_ins`: for each such result, the call.
    stands_for: HashMap<usize, usize>,
    placement: Placement,
    merges: bool,
    merges_user: bool,
    first_unknown_index: usize,
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

    /// The first open call of this turn.
    fn first_of(&self, turn: usize) -> Option<usize> {
        self.first.filter(|_| self.turn == turn)
    }
}

/// The calls of the latest turn, for results whose id matches none of them.
#[derive(Default)]
struct Latest<'t> {
    turn: Option<usize>,
    in_line: VecDeque<usize>,
    /// The same calls by tool name; computed when first needed.
    by_name: Option<HashMap<&'t str, VecDeque<usize>>>,
    /// The call that was paired most recently.
    last: Option<usize>,
}

/// Whether a call or result is the client's, with an id that tells what it belongs to.
fn is_paired(executor: Executor, settled: Option<Settled>) -> bool {
    executor == Executor::Client && settled != Some(Settled::UnknownId)
}

/// The number of calls after the last paired one that are considered for a result without an id.
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
            stand_ins: HashMap::default(),
            stands_for: HashMap::default(),
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
        // Growing would copy the contents again and again.
        let (calls, results) = transcript.counts();
        self.calls.reserve_exact(calls);
        self.results.reserve_exact(results);
        self.turns.reserve(transcript.messages.len());
        for (message_number, (message, parts)) in transcript.messages_with_parts().enumerate() {
            // A message that only sets parameters may appear anywhere, even between calls and their results.
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
                    Body::Call(call) if is_paired(call.executor, call.settled) => {
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
                    Body::Result(result) if is_paired(result.executor, result.settled) => {
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
        let mut by_id: HashMap<&'t str, Open> = HashMap::with_capacity(self.calls.len());
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
                if latest.by_name.is_none() {
                    self.keep_own_calls(number, next_call, &mut latest);
                }
                self.pair_by_position(number, &mut latest);
            }
        }
        for call in next_call..self.calls.len() {
            self.open(call, &mut by_id);
        }
        // The remaining results may name a call that comes after them.
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

    /// Finds results in the place of an unanswered call's result whose id matches no call: the id was changed on one
    /// side, which is one problem, not two.
    fn find_stand_ins(&mut self) {
        let mut calls = self.calls.iter().filter(|call| self.answered_by[call.number].is_none()).peekable();
        for result in self.results.iter().filter(|result| result.paired_with == PairedWith::NoCall) {
            while calls.next_if(|call| call.turn + 1 < result.turn).is_some() {}
            let is_of_other_tool = |call: &CallSite<'_, '_>| {
                let names = call.call.name.as_ref().zip(result.result.name.as_ref());
                names.is_some_and(|(called, labelled)| called.text != labelled.text)
            };
            if let Some(call) = calls.next_if(|call| call.turn + 1 == result.turn && !is_of_other_tool(call))
            {
                self.stand_ins.insert(call.number, result.number);
                self.stands_for.insert(result.number, call.number);
            }
        }
    }

    /// The unanswered call that the result probably belongs to, although its id is different.
    #[must_use]
    pub fn stands_for(&self, result: &ResultSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        self.stands_for.get(&result.number).map(|number| &self.calls[*number])
    }

    /// Whether a result with a different id is in the place of the call's result.
    #[must_use]
    pub fn has_stand_in(&self, call: &CallSite<'_, '_>) -> bool {
        self.stand_ins.contains_key(&call.number)
    }

    /// Whether the call comes before the result.
    fn is_before(&self, call: usize, result: &ResultSite<'_, '_>) -> bool {
        self.calls[call].part_number < result.part_number
    }

    fn open(&mut self, call: usize, by_id: &mut HashMap<&'t str, Open>) {
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

    /// A turn may be in several messages, of which an earlier one was interrupted: if its last message has as many calls
    /// as results follow, the results are those of that message.
    fn keep_own_calls(&self, result: usize, next_call: usize, latest: &mut Latest<'t>) {
        let Some(&last) = latest.in_line.back() else { return };
        let message = self.calls[last].message_number;
        let is_earlier = |call: &usize| self.calls[*call].message_number != message;
        let earlier = latest.in_line.iter().take_while(|call| is_earlier(call)).count();
        let own = latest.in_line.len() - earlier;
        let next_call = self.calls.get(next_call).map_or(usize::MAX, |call| call.part_number);
        let mut run = self.results[result..].iter().take_while(|site| site.part_number < next_call);
        if earlier > 0 && run.nth(own).is_none() {
            latest.in_line.drain(..earlier);
        }
    }

    /// Pairs a result whose id matches no call, by its tool's name if it has one, and otherwise by its position among
    /// the results of the latest turn.
    fn pair_by_position(&mut self, number: usize, latest: &mut Latest<'t>) {
        let result = self.results[number].result;
        let calls = &self.calls;
        let by_name = latest.by_name.get_or_insert_with(|| {
            let mut by_name: HashMap<&'t str, VecDeque<usize>> = HashMap::default();
            for &call in &latest.in_line {
                if let Some(name) = &calls[call].call.name {
                    by_name.entry(&name.text).or_default().push_back(call);
                }
            }
            by_name
        });
        let answered_by = &self.answered_by;
        // A result with an id does not belong to a call with a different id.
        let is_free = |call: usize| result.call_id.is_none() || calls[call].call.id.is_none();
        let next = |line: &mut VecDeque<usize>| {
            while line.front().is_some_and(|call| answered_by[*call].is_some()) {
                line.pop_front();
            }
            line.front().copied().filter(|call| is_free(*call))
        };
        let named = result.name.as_ref().and_then(|name| by_name.get_mut(&*name.text)).and_then(|line| {
            // Results are usually in the order of their calls, so look after the last paired call before going back.
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

    /// The call in the part with this number in the transcript.
    #[must_use]
    pub fn call_at(&self, part_number: usize) -> Option<&CallSite<'t, 's>> {
        let found = self.calls.binary_search_by_key(&part_number, |site| site.part_number);
        found.ok().map(|number| &self.calls[number])
    }

    /// The result in the part with this number in the transcript.
    #[must_use]
    pub fn result_at(&self, part_number: usize) -> Option<&ResultSite<'t, 's>> {
        let found = self.results.binary_search_by_key(&part_number, |site| site.part_number);
        found.ok().map(|number| &self.results[number])
    }

    /// The first result of a call.
    #[must_use]
    pub fn answer_of(&self, call: &CallSite<'_, '_>) -> Option<&ResultSite<'t, 's>> {
        self.answered_by[call.number].map(|number| &self.results[number])
    }

    /// Whether the result is the first one of its call.
    #[must_use]
    pub fn is_first_answer(&self, result: &ResultSite<'_, '_>) -> bool {
        result.paired_with.call().is_some_and(|call| self.answered_by[call] == Some(result.number))
    }

    /// The call of which this is the first result, if the two are of different kinds.
    #[must_use]
    pub fn mismatched_call(&self, result: &ResultSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        let call = result.paired_with.call().filter(|_| self.is_first_answer(result));
        call.map(|call| &self.calls[call]).filter(|call| !call.call.kind.is_answered_by(result.result.kind))
    }

    /// Whether several calls of the transcript have the same id.
    #[must_use]
    pub fn repeats_ids(&self) -> bool {
        self.repeats_ids
    }

    /// The earlier call of the same turn that has the same id.
    #[must_use]
    pub fn first_of_same_id(&self, call: &CallSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        self.same_id_in_turn[call.number].map(|number| &self.calls[number])
    }

    /// Whether the result is where the target expects the results of the call's turn.
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

    /// Whether the results of the result's turn are in its first message. If the target does not merge messages, an
    /// earlier message of the turn separates the calls from the results.
    fn begins_turn(&self, result: &ResultSite<'_, '_>) -> bool {
        let start = self.turns[result.turn].messages.start;
        self.results_of_turn(result.turn).first().is_some_and(|first| first.message_number == start)
    }

    /// Whether no message without calls follows the call in its own turn. If the target does not merge messages, such a
    /// message separates the call from its result.
    #[must_use]
    pub fn reaches_end_of_turn(&self, call: &CallSite<'_, '_>) -> bool {
        let last = self.turns[call.turn].messages.end - 1;
        call.message_number == last || self.calls_in_message(last)
    }

    fn calls_in_message(&self, message_number: usize) -> bool {
        self.calls.binary_search_by(|site| site.message_number.cmp(&message_number)).is_ok()
    }

    /// The results of a turn; empty if there is no such turn.
    pub fn results_of_turn(&self, turn: usize) -> &[ResultSite<'t, 's>] {
        self.turns.get(turn).map_or(&[], |turn| &self.results[turn.results.clone()])
    }

    /// The calls of a turn; empty if there is no such turn.
    pub fn calls_of_turn(&self, turn: usize) -> &[CallSite<'t, 's>] {
        self.turns.get(turn).map_or(&[], |turn| &self.calls[turn.calls.clone()])
    }

    /// Whether the provider's number of a message is known. It is unknown after two messages in a row with the same
    /// role, because the provider may merge them before it counts.
    #[must_use]
    pub fn knows_index(&self, message_number: usize) -> bool {
        message_number < self.first_unknown_index
    }
}
