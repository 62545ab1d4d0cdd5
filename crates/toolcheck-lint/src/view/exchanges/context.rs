//! What happens from one exchange to the next: requests that are sent again, calls that are made again, and calls that
//! nothing answers.

use std::collections::VecDeque;

use foldhash::HashMap;
use toolcheck_core::exchange::Exchange;
use toolcheck_core::ir::{Body, Executor, Part, Place, Role, ToolChoiceMode, Transcript};
use toolcheck_core::response::{Choice, ChoiceCall};
use toolcheck_json::Document;

use super::changes::{SaidArguments, meaning};
use super::{Continued, Exchanges, Histories, MOST_IDS};
use crate::finding::{Draft, Finding, Spot};
use crate::view::arguments::hash_of;
use crate::view::failure;

/// The maximum number of refused requests that are remembered.
const MOST_REFUSED: usize = 256;
/// The maximum number of names of tools that are remembered.
const MOST_TOOLS: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct ExchangeContext<'e> {
    pub(crate) answers: &'e [Choice],
    /// The last refusal of the same request.
    pub(crate) resent: Option<Resent>,
    /// The same calls so far, if the model makes the same ones again.
    pub(crate) repeated: Option<Repeated>,
    /// The calls that follow one another in a message of the request and were made in different responses.
    pub(crate) merged: Vec<(usize, usize)>,
}

impl<'e> ExchangeContext<'e> {
    /// What an exchange with these answers has to do with those before it.
    pub(crate) fn new(
        answers: &'e [Choice],
        resent: Option<Resent>,
        run: &RepeatedCalls,
        is_failing: bool,
    ) -> Self {
        let first = run.first.clone().filter(|_| run.count > 1);
        let repeated = first.map(|first| Repeated { count: run.count, is_failing, first });
        Self { answers, resent, repeated, merged: Vec::new() }
    }
}

/// The last refusal of a request that is sent again.
#[derive(Debug, Clone)]
pub(crate) struct Resent {
    pub(crate) status: u16,
    /// How often it was sent before.
    pub(crate) count: usize,
    pub(crate) status_now: Option<u16>,
    /// How many seconds the response asked to wait.
    pub(crate) retry_after: Option<f64>,
    /// How many seconds have passed.
    pub(crate) waited: Option<f64>,
    pub(crate) place: Place,
    /// Its place, if it is in another record.
    pub(crate) spot: Option<Spot>,
}

/// A call that the model makes again and again, with the same result.
#[derive(Debug, Clone)]
pub(crate) struct Repeated {
    pub(crate) count: usize,
    /// Whether its result tells of a problem.
    pub(crate) is_failing: bool,
    pub(crate) first: (Place, Option<Spot>),
}

#[derive(Debug, Default)]
pub(super) struct RefusedRequests {
    by_hash: HashMap<u64, Refused>,
    order: VecDeque<u64>,
}

#[derive(Debug)]
struct Refused {
    status: u16,
    count: usize,
    retry_after: Option<f64>,
    time: Option<f64>,
    place: Place,
    spot: Option<Spot>,
}

impl RefusedRequests {
    /// The last refusal of this request; remembers the one that it gets now.
    fn again(&mut self, exchange: &Exchange<'_, '_>) -> Option<Resent> {
        let is_refused = exchange.status.is_some_and(|status| status >= 400);
        if self.by_hash.is_empty() && !is_refused {
            return None;
        }
        let hash = hash_of((exchange.request.raw(), exchange.url.map(|url| url.raw())));
        let before = self.by_hash.get(&hash).map(|refused| Resent {
            status: refused.status,
            count: refused.count,
            status_now: exchange.status,
            retry_after: refused.retry_after,
            waited: exchange.time.zip(refused.time).map(|(now, then)| now - then),
            place: refused.place,
            spot: refused.spot.clone(),
        });
        let Some(status) = exchange.status.filter(|_| is_refused) else {
            // What is sent after an answer is another request, though it may be the same.
            self.by_hash.remove(&hash);
            return before;
        };
        if before.is_none() {
            self.order.push_back(hash);
            if self.order.len() > MOST_REFUSED
                && let Some(oldest) = self.order.pop_front()
            {
                self.by_hash.remove(&oldest);
            }
        }
        let refused = Refused {
            status,
            count: before.as_ref().map_or(1, |before| before.count + 1),
            retry_after: exchange.retry_after,
            time: exchange.time,
            place: Place::of(exchange.request),
            spot: None,
        };
        self.by_hash.insert(hash, refused);
        before
    }

    /// The refusals in the record that is being read.
    pub(super) fn unplaced(&mut self) -> Vec<(Place, &mut Option<Spot>)> {
        let all = self.by_hash.values_mut().filter(|refused| refused.spot.is_none());
        all.map(|refused| (refused.place, &mut refused.spot)).collect()
    }
}

/// The same calls, one response after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepeatedCalls {
    calls: u64,
    results: u64,
    count: usize,
    pub(super) first: Option<(Place, Option<Spot>)>,
}

/// What is reported if nothing answers the calls of a response.
#[derive(Debug)]
pub(crate) struct UnansweredCalls {
    pub(super) ids: Vec<u64>,
    /// The names of their tools.
    tools: Vec<u64>,
    /// Whether an answer is due, whatever else the file holds.
    pub(super) is_certain: bool,
    pub(super) draft: Option<Draft>,
    pub(super) finding: Option<Finding>,
}

impl UnansweredCalls {
    /// What the only choice of a response is owed, with the finding if nothing pays it.
    pub(crate) fn new(answers: &[Choice], draft: Draft) -> Self {
        let is_of_client = |call: &&ChoiceCall| call.executor == Executor::Client;
        let calls = || answers.iter().flat_map(|answer| &answer.calls).filter(is_of_client);
        Self {
            ids: calls().filter_map(key_of).collect(),
            tools: calls().filter_map(|call| call.name.as_deref().map(hash_of)).collect(),
            is_certain: calls().any(|call| SaidArguments::of(call).is_broken),
            draft: Some(draft),
            finding: None,
        }
    }
}

/// What a call is found again by: its id, or without one its tool and arguments.
fn key_of(call: &ChoiceCall) -> Option<u64> {
    let by_contents = |name: &String| hash_of((name.as_str(), meaning(call.arguments.trim().as_bytes())));
    call.id.as_deref().map(hash_of).or_else(|| call.name.as_ref().map(by_contents))
}

/// Whether the request makes the model call a tool, so that the call may be all that the client wants.
pub(crate) fn forces_a_call(transcript: &Transcript<'_>) -> bool {
    let choice = transcript.request.tool_choice.as_ref();
    choice.is_some_and(|choice| !matches!(choice.wanted, ToolChoiceMode::Free | ToolChoiceMode::Nothing))
}

impl Exchanges {
    /// The last refusal of the request of an exchange.
    pub(crate) fn again(&mut self, exchange: &Exchange<'_, '_>) -> Option<Resent> {
        self.sent.again(exchange)
    }

    /// The run of the same calls that a response continues or starts, and whether the results tell of a problem.
    pub(crate) fn run_of(
        &self,
        continued: Option<Continued>,
        transcript: &Transcript<'_>,
        document: &Document<'_>,
        answers: &[Choice],
    ) -> (RepeatedCalls, bool) {
        let [answer] = answers else { return (RepeatedCalls::default(), false) };
        let calls = answer.calls.iter().filter(|call| call.executor == Executor::Client);
        let calls: Vec<_> =
            calls.map(|call| (call.name.as_deref(), meaning(call.arguments.as_bytes()))).collect();
        if calls.is_empty() {
            return (RepeatedCalls::default(), false);
        }
        let first_new = continued.map_or(0, Continued::first_new);
        let new = transcript.messages.get(first_new..).unwrap_or_default();
        let parts = new.iter().flat_map(|message| transcript.parts_of(message));
        let results = parts.filter_map(Part::result).map(|result| (result.is_error, result.content_place));
        let read = |place: Option<Place>| place.map(|place| document.value(place.node).raw());
        let results: Vec<_> = results.map(|(is_error, place)| (is_error, read(place))).collect();
        let tells = |(is_error, text): &(Option<bool>, Option<&[u8]>)| {
            *is_error == Some(true) || text.is_some_and(failure::tells_trouble)
        };
        let (calls, hash) = (hash_of(calls), hash_of(&results));
        let before = continued.and_then(|continued| self.open(continued)).map(|open| &open.run);
        let before = before.filter(|run| run.calls == calls && (run.count == 1 || run.results == hash));
        let here = answer.calls.first().map(|call| (call.place, None));
        let (count, first) = match before {
            Some(run) if run.count > 0 => (run.count + 1, run.first.clone()),
            _ => (1, here),
        };
        // Only the end of a long run asks.
        let is_failing = count > 1 && results.iter().any(tells);
        (RepeatedCalls { calls, results: hash, count, first }, is_failing)
    }

    /// Notes which calls a request answers, and which exchanges it takes up again or goes on from.
    pub(crate) fn note_answers(
        &mut self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        histories: &Histories,
        known: usize,
    ) {
        let declared = transcript.request.tools.declared().filter_map(|tool| tool.name.as_ref());
        let room = MOST_TOOLS.saturating_sub(self.declared.len());
        self.declared.extend(declared.take(room).map(|name| hash_of(&*name.text)));
        let new = transcript.messages.get(known..).unwrap_or_default();
        let has_results = transcript.counts().1 > 0;
        let parts = new.iter().filter(|_| has_results).flat_map(|message| transcript.parts_of(message));
        let results = parts.clone().filter_map(|part| part.result()?.call_id.as_ref());
        let room = MOST_IDS.saturating_sub(self.results.len());
        self.results.extend(results.take(room).map(|id| hash_of(&*id.text)));
        let called = parts.filter_map(|part| part.call()?.name.as_ref());
        let room = MOST_TOOLS.saturating_sub(self.answered.len());
        self.answered.extend(called.take(room).map(|name| hash_of(&*name.text)));
        if self.open.iter().all(|open| open.owed.is_none()) {
            return;
        }
        let mut paid: Vec<usize> = self.goes_on_from(transcript, histories);
        let first_new = new.first().map_or(transcript.parts.len(), |message| message.parts.start as usize);
        for (number, part) in transcript.parts.iter().enumerate() {
            let id = match &part.body {
                Body::Call(call) => call.id.as_ref(),
                Body::Result(result) => result.call_id.as_ref(),
                _ => None,
            };
            let id = id.map(|id| hash_of(&*id.text)).filter(|id| self.given.contains_key(id));
            // Where a fault has cut a history off from those before it, a call without the id of a response is known by what
            // it says.
            let key = id.or_else(|| match &part.body {
                Body::Call(call) if number >= first_new && has_results => {
                    let arguments = meaning(&call.arguments.json(document));
                    call.name.as_ref().map(|name| hash_of((&*name.text, arguments)))
                }
                _ => None,
            });
            paid.extend(key.and_then(|key| self.owed_by_id.get(&key)));
        }
        for number in paid {
            let owed = number.checked_sub(self.closed).and_then(|number| self.open.get_mut(number));
            for id in owed.and_then(|open| open.owed.take()).into_iter().flat_map(|owed| owed.ids) {
                self.owed_by_id.remove(&id);
            }
        }
    }

    /// The messages in which calls of several answers are one turn, each with a call of an earlier answer and one of a later:
    /// the numbers of their parts.
    pub(crate) fn merged_in(&self, transcript: &Transcript<'_>, known: usize) -> Vec<(usize, usize)> {
        let mut merged = Vec::new();
        if self.given.is_empty() {
            return merged;
        }
        for message in transcript.messages.get(known..).unwrap_or_default() {
            let parts = message.parts.start as usize..message.parts.end as usize;
            let calls = parts.filter_map(|part| {
                let Body::Call(call) = &transcript.parts[part].body else { return None };
                Some((part, (*self.given.get(&hash_of(&*call.id.as_ref()?.text))?)?))
            });
            let calls: Vec<(usize, usize)> = calls.collect();
            let in_order = |pair: &[(usize, usize)]| {
                if pair[0].1 < pair[1].1 { (pair[0].0, pair[1].0) } else { (pair[1].0, pair[0].0) }
            };
            merged.extend(calls.windows(2).find(|pair| pair[0].1 != pair[1].1).map(in_order));
        }
        merged
    }

    /// The exchanges with the longest history that a request begins with, if it is the same request again or goes on
    /// with what the model said. One that was sent before may have a new answer before it, in a recording of several runs.
    fn goes_on_from(&self, transcript: &Transcript<'_>, histories: &Histories) -> Vec<usize> {
        let mut from = Vec::new();
        let has_id = |part: &Part<'_>| matches!(&part.body, Body::Call(call) if call.id.is_some());
        let has_ids = transcript.parts.iter().any(has_id);
        let owes = |number: &usize| {
            self.open(Continued { number: *number, first_new: 0 }).is_some_and(|open| open.owed.is_some())
        };
        for (length, hashes) in histories.first.iter().enumerate().rev() {
            let Some(numbers) = hashes.iter().find_map(|hash| self.by_history.get(hash)) else { continue };
            let next = transcript.messages.get(length);
            if next.is_none_or(|message| message.role != Role::User) {
                from.extend(numbers);
            }
            // A history with the same call twice may go on from an earlier one, where no id tells.
            if next.is_some() && (has_ids || numbers.iter().any(owes)) {
                break;
            }
        }
        from
    }

    /// The findings about calls that nothing answered in the whole file. It takes a tool whose calls are answered
    /// elsewhere: a call may be all that a client wants. After the only exchange of a file, nothing was recorded.
    pub(crate) fn unpaid(&mut self) -> Vec<Finding> {
        let is_alone = self.closed + self.open.len() < 2;
        let answered = &self.answered;
        let is_due = |owed: &UnansweredCalls| {
            owed.is_certain || !is_alone && owed.tools.iter().any(|tool| answered.contains(tool))
        };
        let owed = self.open.iter_mut().filter_map(|open| open.owed.take());
        owed.filter(is_due).filter_map(|owed| owed.finding).collect()
    }
}
