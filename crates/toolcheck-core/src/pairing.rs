//! Which result answers which call, how far away, and in what order.
//!
//! The pairing of a transcript is computed once, in one pass and in linear time; rules, fixes and tables read it.
//! Server tools are left out: the provider runs them itself, and the client owes no result for them.
//! Comparisons see more than one transcript, and match calls and results in the same way (`matching`).

use std::ops::Range;

use foldhash::HashMap;
use toolcheck_json::Span;

use crate::conversation::Feature;
use crate::formats::{self, Format};
use crate::ir::{
    Body, Call, Executor, FormatId, Message, Named, Part, Role, ToolKind, ToolResult, Transcript,
    UnpairedReason,
};
use crate::matching::{Half, Match, Matches, Position};
use crate::readers::NextRequest;
use crate::targets::{self, Placement, Target};

pub use crate::matching::PairedWith;

/// At most so many results of a turn are matched again without one of them.
const MOST_COMPARED: usize = 64;

/// How results belong to calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    /// By the ids, if there are some.
    Ids,
    /// By the ids that both have, and otherwise by the names and the order.
    Names,
    /// By the order, whatever the ids and the names.
    Position,
}

impl Binding {
    /// How the results of requests in a format belong to calls. Without a wire format, there are ids.
    pub(crate) fn of(format: Option<&Format>) -> Self {
        match format {
            Some(format) if !format.can_hold(Feature::CallIds) => {
                let takes_any = targets::find(format.id).is_some_and(Target::accepts_unknown_ids);
                if takes_any { Self::Position } else { Self::Names }
            }
            _ => Self::Ids,
        }
    }

    /// How calls and results are matched.
    pub(crate) fn how(self) -> Match {
        if self == Self::Names { Match::AsMeant } else { Match::AsRead }
    }
}

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

impl Half for CallSite<'_, '_> {
    fn id(&self) -> Option<&str> {
        text_of(self.call.id.as_ref())
    }

    fn name(&self) -> Option<&str> {
        text_of(self.call.name.as_ref())
    }

    fn position(&self) -> Position {
        Position { turn: self.turn, message: self.message_number, part: self.part_number }
    }

    fn span(&self) -> Option<Span> {
        Some(self.part.place.span)
    }
}

impl Half for ResultSite<'_, '_> {
    fn id(&self) -> Option<&str> {
        text_of(self.result.call_id.as_ref())
    }

    fn name(&self) -> Option<&str> {
        text_of(self.result.name.as_ref())
    }

    fn says_same(&self, other: &Self) -> bool {
        self.result.content_json == other.result.content_json
    }

    fn position(&self) -> Position {
        Position { turn: self.turn, message: self.message_number, part: self.part_number }
    }

    fn span(&self) -> Option<Span> {
        Some(self.part.place.span)
    }
}

fn text_of<'n>(name: Option<&'n Named<'_>>) -> Option<&'n str> {
    name.map(|name| &*name.text)
}

/// What becomes of the other results of a turn if one is gone. Both are `false` if there are too many to see.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Others {
    /// Whether each answers the call that it answered before, as comparisons see it.
    pub keep_their_calls: bool,
    /// Whether their order and the names of their tools say the same.
    pub are_in_order: bool,
}

/// Consecutive messages of one role.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Turn {
    /// The role.
    pub role: Role,
    /// The numbers of the messages.
    pub messages: Range<usize>,
    calls: Range<usize>,
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
    matches: Matches,
    /// For each call without a result, the result in its place that has another id.
    stand_ins: HashMap<usize, usize>,
    /// The reverse of `stand_ins`: for each such result, the call.
    stands_for: HashMap<usize, usize>,
    /// The results of calls that only the server may have, each with the first that has the same id.
    of_kept: HashMap<usize, usize>,
    /// The results whose calls may be stored items that the request refers to, in order.
    of_stored: Vec<usize>,
    format: Option<FormatId>,
    placement: Placement,
    shares_ids: bool,
    merges: bool,
    merges_user: bool,
    first_unknown_index: usize,
}

/// Whether the agent that sends it joins what the model says in a row.
fn alternates(transcript: &Transcript<'_>) -> bool {
    transcript.sent_next_by.and_then(NextRequest::of).is_some_and(|by| by.alternates)
}

/// Whether a call or result is the client's, in the conversation, with an id that tells what it belongs to.
fn is_paired(executor: Executor, unpaired: Option<UnpairedReason>) -> bool {
    executor == Executor::Client
        && !matches!(unpaired, Some(UnpairedReason::UnknownId | UnpairedReason::Deleted))
}

impl<'t, 's> Pairing<'t, 's> {
    /// Pairs the transcript's calls and results as `target` does.
    pub fn new(transcript: &'t Transcript<'s>, target: &Target) -> Self {
        let mut pairing = Self {
            turns: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            matches: Matches::default(),
            stand_ins: HashMap::default(),
            stands_for: HashMap::default(),
            of_kept: HashMap::default(),
            of_stored: Vec::new(),
            format: transcript.format,
            placement: target.result_placement(transcript),
            shares_ids: transcript.details.shares_ids,
            merges: target.merges_assistant_messages() || alternates(transcript),
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
        pairing.matches = Matches::of(&pairing.calls, &pairing.results, Match::AsMeant);
        for (site, paired_with) in pairing.results.iter_mut().zip(&pairing.matches.paired_with) {
            site.paired_with = *paired_with;
        }
        pairing.find_stand_ins(transcript);
        pairing
    }

    /// Lists turns, calls and results.
    fn collect(&mut self, transcript: &'t Transcript<'s>) {
        // Growing would copy the contents again and again.
        let (calls, results) = transcript.counts();
        self.calls.reserve_exact(calls);
        self.results.reserve_exact(results);
        self.turns.reserve(transcript.messages.len());
        // Such an agent answers calls before whatever the model says next.
        let by = transcript.sent_next_by.and_then(NextRequest::of);
        let is_closed = by.is_some_and(|by| by.answers_late || by.moves_unseen());
        for (message_number, (message, parts)) in transcript.messages_with_parts().enumerate() {
            // A message that only sets parameters may appear anywhere, even between calls and their results.
            if message.is_directive {
                continue;
            }
            match self.turns.last_mut() {
                Some(turn)
                    if turn.role == message.role
                        && (!is_closed || message.role != Role::Assistant || turn.calls.is_empty()) =>
                {
                    turn.messages.end = message_number + 1;
                }
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
                    Body::Call(call) if is_paired(call.executor, call.unpaired) => {
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
                    Body::Result(result) if is_paired(result.executor, result.unpaired) => {
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
    }

    /// Finds results in the place of an unanswered call's result whose id matches no call: the id was changed on one
    /// side, which is one problem, not two. If the server may have the call of a result, that is what it answers.
    fn find_stand_ins(&mut self, transcript: &Transcript<'_>) {
        let mut calls =
            self.calls.iter().filter(|call| self.matches.answered_by[call.number].is_none()).peekable();
        let mut references = transcript.details.stored_calls().map(|item| item.place.span.start).peekable();
        let mut known = 0_usize;
        let mut first = HashMap::default();
        for result in self.results.iter().filter(|result| result.paired_with == PairedWith::NoCall) {
            // Each item that is referred to may be one call. The ids of other calls than those of functions say of which
            // kind they are, which is known where they are read.
            while references.next_if(|start| *start < result.part.place.span.start).is_some() {
                known += 1;
            }
            if known > 0 && matches!(result.result.kind, None | Some(ToolKind::Function)) {
                known -= 1;
                self.of_stored.push(result.number);
                continue;
            }
            if transcript.request.continues_remote_state {
                if let Some(id) = result.id() {
                    self.of_kept.insert(result.number, *first.entry(id).or_insert(result.number));
                }
                continue;
            }
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
    pub fn stands_for(&self, result: &ResultSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        self.stands_for.get(&result.number).map(|number| &self.calls[*number])
    }

    /// Whether the call of a result may be a stored item that the request refers to.
    pub fn may_answer_stored(&self, result: &ResultSite<'_, '_>) -> bool {
        self.of_stored.binary_search(&result.number).is_ok()
    }

    /// The result with a different id that is in the place of the call's result.
    pub fn stand_in_of(&self, call: &CallSite<'_, '_>) -> Option<&ResultSite<'t, 's>> {
        self.stand_ins.get(&call.number).map(|number| &self.results[*number])
    }

    /// Whether a result with a different id is in the place of the call's result.
    pub fn has_stand_in(&self, call: &CallSite<'_, '_>) -> bool {
        self.stand_ins.contains_key(&call.number)
    }

    /// The call in the part with this number in the transcript.
    pub fn call_at(&self, part_number: usize) -> Option<&CallSite<'t, 's>> {
        let found = self.calls.binary_search_by_key(&part_number, |site| site.part_number);
        found.ok().map(|number| &self.calls[number])
    }

    /// The result in the part with this number in the transcript.
    pub fn result_at(&self, part_number: usize) -> Option<&ResultSite<'t, 's>> {
        let found = self.results.binary_search_by_key(&part_number, |site| site.part_number);
        found.ok().map(|number| &self.results[number])
    }

    /// The first result of a call.
    pub fn answer_of(&self, call: &CallSite<'_, '_>) -> Option<&ResultSite<'t, 's>> {
        self.matches.answered_by[call.number].map(|number| &self.results[number])
    }

    /// The first result of the call that this is a further result of.
    pub fn first_result(&self, result: &ResultSite<'_, '_>) -> Option<&ResultSite<'t, 's>> {
        let number = match result.paired_with {
            PairedWith::Repeated(call) => self.matches.answered_by[call]?,
            PairedWith::NoCall => *self.of_kept.get(&result.number)?,
            PairedWith::First(_) | PairedWith::LaterCall(_) => return None,
        };
        (number != result.number).then(|| &self.results[number])
    }

    /// What becomes of the other results of its turn if a result without an id is gone, and those that `is_gone` names.
    pub fn without(&self, gone: &ResultSite<'_, '_>, is_gone: impl Fn(usize) -> bool) -> Others {
        if gone.result.call_id.is_some() {
            return Others { keep_their_calls: true, are_in_order: true };
        }
        let calls = &self.calls[self.turns[gone.turn.saturating_sub(1)].calls.start..];
        let calls = &calls[..calls.partition_point(|call| call.turn <= gone.turn)];
        let own = self.results_of_turn(gone.turn);
        if own.len().max(calls.len()) > MOST_COMPARED {
            return Others { keep_their_calls: false, are_in_order: false };
        }
        let before = own.iter().filter(|site| !is_gone(site.number)).copied().collect::<Vec<_>>();
        let after = before.iter().filter(|site| site.number != gone.number).copied().collect::<Vec<_>>();
        let calls_of = |results: &[_], how| {
            let pairs = Matches::of(calls, results, how).paired_with.into_iter();
            pairs.map(PairedWith::call).collect::<Vec<_>>()
        };
        let how = Binding::of(self.format.and_then(|format| formats::find(format.id))).how();
        let pairs = before.iter().zip(calls_of(&before, how)).filter(|(site, _)| site.number != gone.number);
        Others {
            keep_their_calls: pairs.map(|(_, call)| call).eq(calls_of(&after, how)),
            are_in_order: calls_of(&after, Match::AsMeant) == calls_of(&after, Match::AsRead),
        }
    }

    /// Whether the result is the first one of its call.
    pub fn is_first_answer(&self, result: &ResultSite<'_, '_>) -> bool {
        result.paired_with.call().is_some_and(|call| self.matches.answered_by[call] == Some(result.number))
    }

    /// The call of which this is the first result, if the two are of different kinds.
    pub fn mismatched_call(&self, result: &ResultSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        let call = result.paired_with.call().filter(|_| self.is_first_answer(result));
        call.map(|call| &self.calls[call]).filter(|call| !call.call.kind.is_answered_by(result.result.kind))
    }

    /// Whether several calls of the transcript have the same id.
    pub fn repeats_ids(&self) -> bool {
        self.matches.repeats_ids && !self.shares_ids
    }

    /// The earlier call of the same turn that has the same id.
    pub fn first_of_same_id(&self, call: &CallSite<'_, '_>) -> Option<&CallSite<'t, 's>> {
        let first = self.matches.same_id_in_turn[call.number].filter(|_| !self.shares_ids);
        first.map(|number| &self.calls[number])
    }

    /// Whether the result is where the target expects the results of the call's turn.
    pub fn is_in_place(&self, call: &CallSite<'_, '_>, result: &ResultSite<'_, '_>) -> bool {
        match self.placement {
            Placement::Anywhere => true,
            Placement::AfterCall => result.turn > call.turn,
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
    pub fn reaches_end_of_turn(&self, call: &CallSite<'_, '_>) -> bool {
        let last = self.turns[call.turn].messages.end - 1;
        let has_calls = || self.calls.binary_search_by_key(&last, |site| site.message_number).is_ok();
        call.message_number == last || has_calls()
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
    pub fn knows_index(&self, message_number: usize) -> bool {
        message_number < self.first_unknown_index
    }
}
