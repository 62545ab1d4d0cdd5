//! The calls in responses, and how later requests keep them.
//!
//! A file of exchanges may contain several interleaved conversations. A request continues an earlier exchange if its
//! history begins with the history of that exchange; the messages after that should be what the model answered.

mod answers;
mod changes;
mod context;
mod histories;
mod older;
mod reasoning;

use std::collections::VecDeque;

use crate::finding::{Draft, Spot};
use foldhash::{HashMap, HashSet};
use toolcheck_core::RuleId;
use toolcheck_core::ir::{Body, Executor, Part, Place, Transcript};
use toolcheck_core::response::{Choice, ChoiceCall, ChoiceReasoning};
use toolcheck_json::{Document, Record};

use crate::report::{locate_all, locate_places};
use crate::server_state::ServerState;
use crate::view::arguments::hash_of;

use self::answers::{NewMessages, compare};
use self::changes::SaidArguments;
use self::context::{RefusedRequests, RepeatedCalls};
use self::histories::NO_HISTORY;

pub(crate) use self::changes::{Change, is_json};
pub(crate) use self::context::{ExchangeContext, UnansweredCalls, forces_a_call};
pub(crate) use self::histories::Histories;
pub(crate) use self::reasoning::ReasoningChange;

/// The maximum number of exchanges that later requests may continue. The log of a gateway may contain many
/// conversations.
const MOST_OPEN: usize = 256;
/// The maximum number of findings of a conversation that are remembered, so that its next request does not repeat them.
const MOST_REPORTED: usize = 1024;
/// The maximum number of ids from answers that are remembered.
const MOST_IDS: usize = 1 << 20;

/// The exchanges of a file that later requests may continue.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    open: VecDeque<Open>,
    /// The number of exchanges that are no longer open.
    closed: usize,
    by_history: HashMap<u64, Vec<usize>>,
    /// The ids in all answers, with the number of the exchange: a call with one of them belongs to that answer only. `None`
    /// is that of several.
    given: HashMap<u64, Option<usize>>,
    /// The requests that were refused, and may be sent again.
    sent: RefusedRequests,
    /// The tools whose calls were answered, and those that a request declared.
    answered: HashSet<u64>,
    declared: HashSet<u64>,
    /// The ids that the results of requests name: a log may have a request before the response that it goes on from.
    results: HashSet<u64>,
    /// What the server keeps after them.
    pub(crate) server: ServerState,
    /// The exchanges whose calls nothing has answered, by the ids of the calls.
    owed_by_id: HashMap<u64, usize>,
}

/// An exchange that a later request may continue.
#[derive(Debug)]
struct Open {
    /// The hashes of its history, both verbatim and by its calls alone, because clients change texts that they have
    /// sent; and both without the user's last text, which some clients replace with every request.
    histories: Vec<u64>,
    /// The hash of the format and the model of its request.
    sent_to: u64,
    /// The hash of its messages as they are written, and that of their arguments.
    written: u64,
    arguments: u64,
    answers: Vec<PastChoice>,
    /// Whether a later request has been compared with it, so that no other request is.
    is_compared: bool,
    /// The hashes of the findings in the conversation so far.
    reported: HashSet<u64>,
    /// The hashes of the findings in the response, with their calls: the history of the next request repeats them.
    reported_of_choice: HashSet<u64>,
    /// Whether it is in an earlier record than the one that is being read.
    is_elsewhere: bool,
    /// The same calls so far, one response after the other.
    run: RepeatedCalls,
    /// What is reported if nothing answers its calls.
    owed: Option<UnansweredCalls>,
}

#[derive(Debug)]
pub(crate) struct PastChoice {
    /// The calls that the client must keep.
    pub(crate) calls: Vec<PastCall>,
    /// The text besides the calls.
    pub(crate) text: String,
    pub(crate) reasoning: Vec<ChoiceReasoning>,
    /// The reasoning once more, as a gateway keeps it with its signatures.
    pub(crate) details: Vec<ChoiceReasoning>,
    /// Where the reasoning starts, if it is in another record.
    pub(crate) spot_of_reasoning: Option<Spot>,
    pub(crate) is_whole: bool,
}

#[derive(Debug)]
pub(crate) struct PastCall {
    pub(crate) call: ChoiceCall,
    arguments: SaidArguments,
    pub(crate) is_cut: bool,
    /// Whether the model did not finish its arguments.
    pub(crate) is_unfinished: bool,
    /// Whether another call of the answer has the same id.
    shares_id: bool,
    /// Its place, if it is in another record.
    pub(crate) spot: Option<Spot>,
}

impl PastCall {
    pub(crate) fn meaning(&self) -> u64 {
        self.arguments.meaning
    }

    /// Whether its arguments are there, and no JSON object.
    pub(crate) fn has_odd_arguments(&self) -> bool {
        self.arguments.is_odd
    }
}

impl PastChoice {
    fn new(answer: Choice) -> Self {
        let mut calls: Vec<ChoiceCall> =
            answer.calls.into_iter().filter(|call| call.executor == Executor::Client).collect();
        // Nothing more comes of the arguments that a response broke off in.
        let may_break_off = !answer.is_whole && answer.fault.is_none();
        // What the pieces of a stream do not tell is not known.
        calls.iter_mut().for_each(|call| call.has_all_arguments &= answer.fault.is_none());
        let broke_off = calls.last_mut().filter(|call| may_break_off && call.is_of_function());
        let has_none = broke_off.is_some_and(|call| {
            call.has_all_arguments = true;
            call.arguments.trim().is_empty()
        });
        let mut uses: HashMap<u64, usize> = HashMap::default();
        for id in calls.iter().filter_map(|call| call.id.as_deref()) {
            *uses.entry(hash_of(id)).or_default() += 1;
        }
        let last = calls.len().saturating_sub(1);
        let calls = calls.into_iter().enumerate().map(|(number, call)| {
            let arguments = SaidArguments::of(&call);
            // Where arguments are objects, or none have come yet, it does not show whether the end of the response is in
            // them.
            let may_end_here = may_break_off && number == last && !call.is_sent_whole;
            let is_cut = may_end_here && (call.is_object || has_none);
            let is_unfinished = is_cut || arguments.is_broken;
            let shares_id = call.id.as_deref().is_some_and(|id| uses[&hash_of(id)] > 1);
            let call = ChoiceCall { arguments: String::new(), ..call };
            PastCall { call, arguments, is_cut, is_unfinished, shares_id, spot: None }
        });
        Self {
            calls: calls.collect(),
            text: answer.text,
            reasoning: answer.reasoning,
            details: answer.details,
            spot_of_reasoning: None,
            is_whole: answer.is_whole,
        }
    }
}

/// A choice, matched with the history of a later request.
#[derive(Debug)]
pub(crate) struct HistoryMatch<'e> {
    pub(crate) answer: &'e PastChoice,
    /// For each of its calls, the call in the history.
    pub(crate) calls: Vec<Option<MatchedCall>>,
    /// The number of the first message in the history that was not sent before.
    pub(crate) first_new: usize,
    /// The evidence that the history continues with this answer and not with another one.
    evidence: Evidence,
    /// Whether the answer is of another model, or of the API of another format.
    pub(crate) is_of_another: bool,
    /// Whether an earlier request has kept it: this one has an older turn otherwise.
    pub(crate) is_later: bool,
    /// The calls of older turns with other arguments than in their responses.
    older: Vec<(&'e PastCall, MatchedCall)>,
}

/// A call of a choice, found in the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatchedCall {
    /// The number of its part among all parts.
    pub(crate) part: usize,
    pub(crate) message: usize,
    /// Whether it has a different id.
    pub(crate) is_renamed: bool,
    /// The number of its assistant turn, counted from the first new message.
    pub(crate) turn: usize,
    pub(crate) change: Change,
    pub(crate) meaning: u64,
}

/// The evidence that a history continues with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// None: it may be another answer to the same history, or a side question.
    Nothing,
    /// Calls of the same tools with the same arguments, or the same text.
    Alike,
    Same,
}

impl HistoryMatch<'_> {
    pub(crate) fn calls_kept(&self) -> impl Iterator<Item = (&PastCall, &MatchedCall)> {
        let calls = self.answer.calls.iter().zip(&self.calls);
        calls.filter_map(|(given, stored)| Some((given, stored.as_ref()?)))
    }

    /// The calls of the answer that the history keeps, and those of older turns that have other arguments.
    pub(crate) fn calls_changed(&self) -> impl Iterator<Item = (&PastCall, &MatchedCall)> {
        self.calls_kept().chain(self.older.iter().map(|(given, stored)| (*given, stored)))
    }

    /// Whether a call is of an older turn, in which a client may leave something out to save room.
    pub(crate) fn is_old(&self, stored: &MatchedCall) -> bool {
        self.is_later || stored.message < self.first_new
    }

    pub(crate) fn count(&self) -> usize {
        self.calls.iter().flatten().count()
    }

    /// Whether it lacks a call or has other arguments.
    fn is_changed(&self) -> bool {
        self.calls.iter().any(|call| call.is_none_or(|call| call.change != Change::Same))
    }

    /// How well the history matches the answer, to choose among several.
    fn rank(&self) -> (Evidence, bool, usize, usize) {
        let is_same = |call: &&MatchedCall| call.change == Change::Same;
        let unchanged = self.calls.iter().flatten().filter(is_same).count();
        (self.evidence, self.count() == self.answer.calls.len(), self.count(), unchanged)
    }

    /// Whether a call with this id was made but is not kept.
    pub(crate) fn has_dropped(&self, id: &str) -> bool {
        let calls = self.answer.calls.iter().zip(&self.calls);
        self.answer.is_whole
            && calls.into_iter().any(|(given, kept)| kept.is_none() && given.call.id.as_deref() == Some(id))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Continued {
    number: usize,
    /// The number of the first message after its history.
    first_new: usize,
}

impl Continued {
    /// The number of the first message after its history.
    pub(crate) fn first_new(self) -> usize {
        self.first_new
    }
}

impl Exchanges {
    /// The exchange that a request continues, and how the request keeps its answer. Among the exchanges whose history
    /// the request begins with, the longest one counts, and among equals the one whose answer matches best. The match
    /// is `None` if there is nothing to compare.
    pub(crate) fn continued_by<'e, 's>(
        &'e self,
        document: &Document<'s>,
        transcript: &Transcript<'s>,
        histories: &Histories,
    ) -> Option<(Continued, Option<HistoryMatch<'e>>)> {
        if self.open.is_empty() || transcript.request.continues_remote_state {
            return None;
        }
        // An exchange with the same request, as far as calls and texts tell.
        let mut again = None;
        'lengths: for (length, hashes) in histories.first.iter().enumerate().rev() {
            for (way, hash) in hashes.iter().enumerate().filter(|(_, hash)| **hash != NO_HISTORY) {
                let Some(numbers) = self.by_history.get(hash) else { continue };
                let behind = NewMessages::new(document, transcript, length, way == 0, &self.given);
                let found = numbers.iter().map(|number| {
                    let continued = Continued { number: *number, first_new: length };
                    let mut kept = self.kept(continued, &behind);
                    if let (Some(kept), Some(open)) = (&mut kept, self.open(continued)) {
                        kept.is_of_another = open.sent_to != histories.sent_to;
                    }
                    (continued, kept)
                });
                // Among equals, the latest one counts: it may be a retry.
                let mut found = found.max_by_key(|(_, kept)| kept.as_ref().map(HistoryMatch::rank));
                if let Some((continued, Some(kept))) = &mut found {
                    kept.older = self.older(document, transcript, (*continued, histories));
                }
                let is_written_so = |number: &usize| {
                    let open = self.open(Continued { number: *number, first_new: 0 });
                    open.is_some_and(|open| open.written == histories.written)
                };
                if again.is_none()
                    && length == transcript.messages.len()
                    && !numbers.iter().any(is_written_so)
                {
                    // Without ids, or with the same ones, it may be another run, which goes on from an answer of its own.
                    again = found;
                    continue 'lengths;
                }
                let is_changed = |(_, kept): &(_, Option<HistoryMatch<'_>>)| {
                    kept.as_ref().is_some_and(HistoryMatch::is_changed)
                };
                let is_told = |(_, kept): &(_, Option<HistoryMatch<'_>>)| {
                    kept.as_ref().is_some_and(|kept| kept.is_later)
                };
                return found
                    .filter(|found| again.is_none() || is_changed(found) && !is_told(found))
                    .or(again);
            }
        }
        again
    }

    /// How a history keeps the answer before it; `None` if there is nothing to compare.
    fn kept<'e>(&'e self, continued: Continued, behind: &NewMessages<'_, '_>) -> Option<HistoryMatch<'e>> {
        let open = self.open(continued)?;
        // The client chooses one of several answers. If one of them is incomplete, it is unknown which one.
        let is_unclear = open.answers.len() > 1 && open.answers.iter().any(|answer| !answer.is_whole);
        let is_here = |call: &PastCall| call.call.id.as_deref().is_some_and(|id| behind.has(id));
        let is_kept = || open.answers.iter().flat_map(|answer| &answer.calls).any(is_here);
        if is_unclear || open.is_compared && !(behind.is_verbatim && is_kept()) {
            return None;
        }
        let compared = open.answers.iter().map(|answer| compare(answer, behind));
        let mut kept = compared.max_by_key(HistoryMatch::rank)?;
        kept.is_later = open.is_compared;
        // An answer that was compared may be one of several to the same request, but for those of its calls that are here.
        let least = if kept.is_later { Evidence::Same } else { Evidence::Alike };
        (kept.evidence >= least && (!kept.is_later || kept.is_changed())).then_some(kept)
    }

    fn open(&self, continued: Continued) -> Option<&Open> {
        self.open.get(continued.number.checked_sub(self.closed)?)
    }

    pub(crate) fn mark_compared(&mut self, continued: Continued) {
        let open = continued.number.checked_sub(self.closed).and_then(|number| self.open.get_mut(number));
        if let Some(open) = open {
            open.is_compared = true;
        }
    }

    /// Whether a finding of a request was reported for an earlier one.
    pub(crate) fn was_reported(
        &self,
        continued: Continued,
        transcript: &Transcript<'_>,
        finding: &Draft,
    ) -> bool {
        let new = transcript.messages.get(continued.first_new..).unwrap_or_default();
        let is_new = new.first().zip(new.last()).is_some_and(|(first, last)| {
            first.place.span.start <= finding.place.span.start
                && finding.place.span.end <= last.place.span.end
        });
        self.open(continued).is_some_and(|open| {
            if is_new {
                let given = |id: &String| self.given.contains_key(&hash_of(&**id));
                open.reported_of_choice.contains(&hash_with_call(finding))
                    // An id that the client added to a call without one does not make it a new finding.
                    || finding.tool_call_id.as_ref().is_some_and(|id| !given(id))
                        && open.reported_of_choice.contains(&hash_without_id(finding))
            } else {
                open.reported.contains(&hash_of_finding(finding))
            }
        })
    }

    /// Whether a finding is about the calls of a tool that an earlier request declared: another agent has taken over.
    pub(crate) fn knows_tool(&self, finding: &Draft) -> bool {
        let name = finding.said().filter(|_| finding.rule == RuleId::UnknownTool);
        let name = name.and_then(|said| said.tool_name.as_deref());
        name.is_some_and(|name| self.declared.contains(&hash_of(name)))
    }

    /// Adds an exchange, with the findings in its request and in its response.
    pub(crate) fn add(
        &mut self,
        histories: &Histories,
        answers: Vec<Choice>,
        continued: Option<Continued>,
        [findings, of_answer, silenced]: [&[Draft]; 3],
        run: RepeatedCalls,
        owed: Option<UnansweredCalls>,
    ) {
        let (sent_to, written) = (histories.sent_to, histories.written);
        let arguments = histories.arguments.last().copied().unwrap_or_default();
        // What is asked again is asked for another answer to it, and not to go on from that.
        let is_asked_again = histories.whole().is_some_and(|whole| self.by_history.contains_key(&whole));
        let owed = owed.filter(|owed| owed.is_certain || !is_asked_again);
        let histories = histories.keys();
        if histories.is_empty() {
            return;
        }
        let before = continued.and_then(|continued| self.open(continued));
        let mut reported = before.map(|open| open.reported.clone()).unwrap_or_default();
        let all = findings.iter().chain(of_answer).chain(silenced);
        let most = MOST_REPORTED.saturating_sub(reported.len());
        reported.extend(all.take(most).map(hash_of_finding));
        let of_answer = of_answer.iter().take(MOST_REPORTED);
        let without_id = of_answer.clone().filter(|finding| finding.tool_call_id.is_none());
        let reported_of_choice =
            of_answer.map(hash_with_call).chain(without_id.map(hash_without_id)).collect();
        if self.open.len() == MOST_OPEN {
            self.close_first();
        }
        let answers: Vec<PastChoice> = answers.into_iter().map(PastChoice::new).collect();
        let number = self.closed + self.open.len();
        // An id that was given before may be answered for the call before.
        let is_paid = |id: &u64| self.results.contains(id) && !self.given.contains_key(id);
        let owed = owed.filter(|owed| !owed.ids.iter().any(is_paid));
        for call in answers.iter().flat_map(|answer| &answer.calls) {
            if let (Some(id), true) = (&call.call.id, self.given.len() < MOST_IDS) {
                let known = self.given.entry(hash_of(&**id)).or_insert(Some(number));
                *known = known.filter(|known| *known == number);
            }
        }
        self.owed_by_id.extend(owed.iter().flat_map(|owed| &owed.ids).map(|id| (*id, number)));
        for history in &histories {
            self.by_history.entry(*history).or_default().push(number);
        }
        self.open.push_back(Open {
            histories,
            sent_to,
            written,
            arguments,
            answers,
            is_compared: false,
            reported,
            reported_of_choice,
            is_elsewhere: false,
            run,
            owed,
        });
    }

    fn close_first(&mut self) {
        let Some(open) = self.open.pop_front() else { return };
        for id in open.owed.iter().flat_map(|owed| &owed.ids) {
            self.owed_by_id.remove(id);
        }
        for history in open.histories {
            if let Some(numbers) = self.by_history.get_mut(&history) {
                numbers.retain(|number| *number != self.closed);
                if numbers.is_empty() {
                    self.by_history.remove(&history);
                }
            }
        }
        self.closed += 1;
    }

    /// Locates what the record's exchanges hold, so that findings in other records can refer to it.
    pub(crate) fn locate_calls(&mut self, document: &Document<'_>, record: &Record<'_>) {
        let mut wanted: Vec<(Place, &mut Option<Spot>)> = self.sent.unplaced();
        let mut drafts = Vec::new();
        let mut owed_here = Vec::new();
        for open in self.open.iter_mut().rev().take_while(|open| !open.is_elsewhere) {
            open.is_elsewhere = true;
            for answer in &mut open.answers {
                wanted.extend(answer.calls.iter_mut().map(|call| (call.call.place, &mut call.spot)));
                let first = answer.reasoning.iter().chain(&answer.details).next().map(|block| block.place);
                wanted.extend(first.map(|place| (place, &mut answer.spot_of_reasoning)));
            }
            let of_run = open.run.first.as_mut().filter(|(_, spot)| spot.is_none());
            wanted.extend(of_run.map(|(place, spot)| (*place, spot)));
            if let Some(owed) = &mut open.owed {
                drafts.extend(owed.draft.take());
                owed_here.push(&mut owed.finding);
            }
        }
        let places: Vec<Place> = wanted.iter().map(|(place, _)| *place).collect();
        for ((_, spot), found) in wanted.into_iter().zip(locate_places(document, record, &places)) {
            *spot = Some(found);
        }
        for (owed, finding) in owed_here.into_iter().zip(locate_all(document, record, drafts)) {
            *owed = Some(finding);
        }
    }
}

fn brings_results(parts: &[Part<'_>]) -> bool {
    parts.iter().any(|part| matches!(part.body, Body::Result(_)))
}

fn hash_of_finding(finding: &Draft) -> u64 {
    hash_of((finding.rule, message_of(finding)))
}

fn hash_with_call(finding: &Draft) -> u64 {
    hash_of((finding.rule, message_of(finding), &finding.tool_call_id))
}

/// The hash of a finding about a call that had no id, whatever id it has now.
fn hash_without_id(finding: &Draft) -> u64 {
    let said = finding.said();
    hash_of((finding.rule, said.map(|said| &said.tool_name), said.and_then(|said| said.cases.first())))
}

fn message_of(finding: &Draft) -> Option<&str> {
    finding.said().map(|said| &*said.message)
}
