//! What a server keeps of conversations, so that a request need not bring it again.
//!
//! A request may name a response that it goes on from, a conversation, or single items. What it names is not in it, so it
//! takes what was sent and answered before to say whether its results have calls, and whether every call has a result.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::{HashMap, HashSet};
use toolcheck_core::ir::{Body, Executor, Named, Place, ToolKind, Transcript};
use toolcheck_core::pairing::ResultSite;
use toolcheck_core::response::{Choice, ChoiceCall, KeptIds};

/// The maximum number of responses and conversations that are known, of items, and of ids of calls. The first of them are
/// forgotten, and nothing is said of what refers to them.
const MOST_KEPT: usize = 1 << 16;
/// The maximum length of an id that is known, in bytes.
const LONGEST_ID: usize = 512;

/// The conversations that a server keeps.
#[derive(Debug, Default)]
pub struct ServerState {
    /// Whether it was there from the start: what it does not know does not exist.
    is_complete: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The conversations, by the ids of responses and of conversations.
    conversations: Bounded<Option<Kept>>,
    /// The ids of the calls, by those of the items that are calls; `None` for items that the server was told not to keep.
    items: Bounded<Option<Option<String>>>,
    /// The ids of all calls that were made.
    calls: HashSet<String>,
    /// Whether something was forgotten.
    is_partial: bool,
}

/// What is known by ids, of which the first are forgotten.
#[derive(Debug)]
struct Bounded<T> {
    by_id: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { by_id: HashMap::default(), order: VecDeque::new() }
    }
}

impl<T> Bounded<T> {
    fn get(&self, id: &str) -> Option<&T> {
        self.by_id.get(id)
    }

    fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.by_id.get_mut(id)
    }

    /// Notes what is known by an id, and returns whether something else is forgotten for it.
    fn note(&mut self, id: &str, value: T) -> bool {
        if id.len() > LONGEST_ID {
            return true;
        }
        if self.by_id.insert(id.to_owned(), value).is_none() {
            self.order.push_back(id.to_owned());
        }
        let oldest = if self.by_id.len() > MOST_KEPT { self.order.pop_front() } else { None };
        oldest.is_some_and(|oldest| self.by_id.remove(&oldest).is_some())
    }
}

#[derive(Debug, Clone, Default)]
struct Kept {
    owed: Arc<[PendingCall]>,
    /// Whether all of it is known, from its start.
    is_whole: bool,
    /// The number of turns of the model.
    turns: usize,
    /// Whether a request has gone on from it.
    is_continued: bool,
    /// The ids of the items in the last response.
    items: Arc<HashSet<String>>,
}

/// A call of a conversation that is kept, without a result there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall {
    pub(crate) id: String,
    pub(crate) tool: Option<String>,
    pub(crate) kind: ToolKind,
}

/// What a request goes on from.
#[derive(Debug, Clone, Default)]
pub struct RemoteHistory {
    /// The calls without a result before it.
    pub(crate) owed: Arc<[PendingCall]>,
    /// The same, if a later request may answer them as well.
    deferred: Arc<[PendingCall]>,
    /// Whether all before it is known.
    pub(crate) is_whole: bool,
    /// What the request names and the server does not have, and whether the server was told not to keep it.
    pub(crate) missing: Vec<(Missing, Place, String)>,
    /// Where it says what it goes on from.
    pub(crate) place: Option<Place>,
    /// The calls that it refers to as items, with the places where it does.
    pub(crate) referred: Vec<(PendingCall, Place)>,
    /// The ids of the items in the response that it goes on from.
    items: Arc<HashSet<String>>,
    /// What it names and is unknown, and may be there nevertheless.
    unclear: Vec<(Missing, Place, String)>,
    /// The ids of calls that are not in it and that its results answer.
    known_calls: HashSet<String>,
    /// The number of turns of the model before it, if that is known.
    turns: Option<usize>,
}

/// Something that a request names and the server does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Response,
    Conversation,
    Item,
    /// The response is there, but a request has gone on from it, and only one may.
    Continued,
}

/// What a request leaves on the server once it is answered.
#[derive(Debug, Clone)]
pub struct StoredAfterResponse {
    is_kept: bool,
    continues: Option<String>,
    conversation: Option<String>,
    kept: Kept,
    calls: Vec<String>,
    /// Whether it is what a request puts into the conversation, which has no response.
    is_put: bool,
}

impl StoredAfterResponse {
    /// Whether the server keeps the response.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// The same, put there without a response or not.
    pub(crate) fn put(self, is_put: bool) -> Self {
        Self { is_put, ..self }
    }

    /// The same after this number of turns of the model.
    pub fn after_turns(mut self, turns: usize) -> Self {
        self.kept.turns = turns;
        self
    }
}

impl RemoteHistory {
    /// Expects no answer to the calls before it, because the model is not asked yet.
    pub(crate) fn defer(&mut self) {
        self.deferred = std::mem::take(&mut self.owed);
    }

    /// Whether a result that has no call in the request answers one that the server keeps.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        self.known_calls.contains(id)
    }

    /// Whether the calls before a request are known well enough to say of a result that it has none: nothing else is there,
    /// or one of the last calls, which must all be answered, has none of these results.
    pub(crate) fn knows_calls_of(&self, results: &[ResultSite<'_, '_>]) -> bool {
        self.is_whole || {
            let ids = results.iter().filter_map(|site| site.result.call_id.as_ref());
            let answered: HashSet<&str> = ids.map(|id| &*id.text).collect();
            self.owed.iter().any(|call| !answered.contains(&*call.id))
        }
    }

    /// Whether the response that the request goes on from has this item.
    pub(crate) fn has_item(&self, id: &str) -> bool {
        self.items.contains(id)
    }

    /// Whether all that the request names is known to be there or not to be there.
    pub fn is_clear(&self) -> bool {
        self.unclear.is_empty()
    }

    /// Takes the server's word for what it does not have.
    pub(crate) fn lacks_what_is_named(&mut self, error: &str) {
        let is_named = |(_, _, id): &mut (Missing, Place, String)| error.contains(&**id);
        self.missing.extend(self.unclear.extract_if(.., is_named));
    }

    /// The number of turns of the model in what the server keeps before the request; `None` if that is unknown.
    pub fn turns(&self) -> Option<usize> {
        self.turns
    }
}

impl ServerState {
    /// The state of a server from its start, which has nothing yet.
    pub fn of_server() -> Self {
        Self { is_complete: true, known: Mutex::default() }
    }

    /// What a request goes on from; `None` if it brings everything itself.
    pub(crate) fn continued_by(&self, transcript: &Transcript<'_>) -> Option<RemoteHistory> {
        let request = &transcript.request;
        let stored = &transcript.details.stored_items;
        if !request.continues_remote_state && stored.is_empty() {
            return None;
        }
        let known = self.known();
        let mut continued =
            RemoteHistory { is_whole: !request.continues_remote_state, ..RemoteHistory::default() };
        let is_complete = self.is_complete && !known.is_partial;
        // What is no string is another rule's.
        let is_id = |named: &&Named<'_>| named.instead.is_none() && !named.text.is_empty();
        // The two exclude each other, which is the mistake then.
        let conversation = request.conversation.as_ref().filter(|_| request.previous_response.is_none());
        let named =
            [(Missing::Response, request.previous_response.as_ref()), (Missing::Conversation, conversation)];
        for (what, named) in named.into_iter().filter_map(|(is, named)| Some((is, named.filter(is_id)?))) {
            continued.place = Some(named.place);
            match known.conversations.get(&named.text) {
                Some(Some(kept)) => {
                    continued.owed = Arc::clone(&kept.owed);
                    continued.items = Arc::clone(&kept.items);
                    continued.is_whole = kept.is_whole && !known.is_partial;
                    continued.turns = Some(kept.turns);
                    if kept.is_continued && request.continues_once {
                        continued.missing.push((Missing::Continued, named.place, named.text.to_string()));
                    }
                }
                // The server was told not to keep it, or never had it.
                unknown => {
                    let is_unclear = unknown.is_none() && !is_complete;
                    let named = (what, named.place, named.text.to_string());
                    if is_unclear { &mut continued.unclear } else { &mut continued.missing }.push(named);
                }
            }
        }
        for item in stored.iter().filter(is_id) {
            match known.items.get(&item.text) {
                Some(None) => continued.missing.push((Missing::Item, item.place, item.text.to_string())),
                Some(Some(call)) => {
                    let referred = call.iter().map(|id| {
                        let owed = PendingCall { id: id.clone(), tool: None, kind: ToolKind::Function };
                        (owed, item.place)
                    });
                    continued.referred.extend(referred);
                    continued.known_calls.extend(call.clone());
                }
                None => {
                    let named = (Missing::Item, item.place, item.text.to_string());
                    if is_complete { &mut continued.missing } else { &mut continued.unclear }.push(named);
                }
            }
        }
        if request.continues_remote_state {
            let known_calls = transcript.result_ids().filter(|id| known.calls.contains(*id));
            continued.known_calls.extend(known_calls.map(str::to_owned));
        }
        Some(continued)
    }

    /// What a request leaves on the server once it is answered; `None` if that is nothing.
    pub fn sent(
        transcript: &Transcript<'_>,
        continued: Option<&RemoteHistory>,
    ) -> Option<StoredAfterResponse> {
        if transcript.request.is_kept.is_none() && transcript.request.conversation.is_none() {
            return None;
        }
        // A call before that still has none is reported here, and not again at later requests.
        let mut owed = continued.map_or_else(Vec::new, |continued| continued.deferred.to_vec());
        let mut answered: HashSet<&str> = HashSet::default();
        let mut calls = Vec::new();
        for part in &transcript.parts {
            match &part.body {
                Body::Call(call) if call.executor == Executor::Client => {
                    let Some(id) = &call.id else { continue };
                    calls.push(id.text.to_string());
                    owed.push(PendingCall {
                        id: id.text.to_string(),
                        tool: call.name.as_ref().map(|name| name.text.to_string()),
                        kind: call.kind,
                    });
                }
                Body::Result(result) => answered.extend(result.call_id.as_ref().map(|id| &*id.text)),
                _ => {}
            }
        }
        owed.retain(|call| !answered.contains(&*call.id));
        let request = &transcript.request;
        let is_whole = continued.is_none_or(|continued| continued.is_whole && continued.missing.is_empty());
        Some(StoredAfterResponse {
            is_kept: request.is_kept == Some(true),
            continues: request.previous_response.as_ref().map(|id| id.text.to_string()),
            conversation: request
                .conversation
                .as_ref()
                .filter(|id| id.instead.is_none() && !id.text.is_empty())
                .map(|id| id.text.to_string()),
            kept: Kept {
                owed: owed.into(),
                is_whole,
                turns: continued.and_then(RemoteHistory::turns).unwrap_or_default(),
                ..Kept::default()
            },
            calls,
            is_put: false,
        })
    }

    /// Notes the answer to a request, with its status if that is known: only now can a later one go on from it.
    pub fn keep(&self, sent: StoredAfterResponse, ids: &KeptIds, answers: &[Choice], status: Option<u16>) {
        let StoredAfterResponse { is_kept, continues, conversation, kept, calls, is_put } = sent;
        if status.is_some_and(|status| status >= 400) {
            return;
        }
        let Some(response) = &ids.response else {
            // What became of it is unknown, and so is the conversation from there on.
            if let Some(conversation) = &conversation {
                let kept = if is_put { kept } else { Kept { turns: kept.turns, ..Kept::default() } };
                let mut known = self.known();
                known.conversations.note(conversation, Some(kept));
                known.calls.extend(calls.into_iter().filter(|_| is_put));
            }
            return;
        };
        let mut known = self.known();
        if known.calls.len() > MOST_KEPT {
            known.calls.clear();
            known.is_partial = true;
        }
        known.calls.extend(calls.into_iter().filter(|id| id.len() <= LONGEST_ID));
        let made: Vec<&ChoiceCall> = match answers {
            [answer] => answer.calls.iter().filter(|call| call.executor == Executor::Client).collect(),
            _ => Vec::new(),
        };
        known
            .calls
            .extend(made.iter().filter_map(|call| call.id.clone()).filter(|id| id.len() <= LONGEST_ID));
        let owed = made.iter().filter_map(|call| {
            Some(PendingCall { id: call.id.clone()?, tool: call.name.clone(), kind: call.kind })
        });
        let owed: Arc<[PendingCall]> = kept.owed.iter().cloned().chain(owed).collect();
        let is_whole = kept.is_whole
            && matches!(answers, [answer] if answer.is_whole)
            && made.iter().all(|call| call.id.is_some());
        let items = Arc::new(ids.items.iter().map(|(item, _)| item.clone()).collect());
        let kept = Kept { owed, is_whole, items, ..kept };
        // A client sends a request again if the response broke off.
        let before = continues.filter(|_| !answers.is_empty());
        if let Some(Some(before)) = before.and_then(|id| known.conversations.get_mut(&id)) {
            before.is_continued = true;
        }
        let under = is_kept.then(|| kept.clone());
        let mut forgets = known.conversations.note(response, under);
        if let Some(conversation) = &conversation {
            forgets |= known.conversations.note(conversation, Some(kept));
        }
        for (item, call) in &ids.items {
            let call = call.clone().filter(|call| call.len() <= LONGEST_ID);
            forgets |= known.items.note(item, is_kept.then_some(call));
        }
        known.is_partial |= forgets;
    }

    /// Notes items that were put into a conversation without a model, each with its id and that of the call that it is, and
    /// the number of turns of the model in them. Nothing is said of what goes on from there: nobody knows what the API makes
    /// of them.
    pub fn put(&self, conversation: &str, items: Vec<(String, Option<String>)>, turns: usize) {
        let mut known = self.known();
        let before =
            known.conversations.get(conversation).and_then(Option::as_ref).map_or(0, |kept| kept.turns);
        let kept = Kept { turns: before + turns, ..Kept::default() };
        let mut forgets = known.conversations.note(conversation, Some(kept));
        for (item, call) in items {
            let call = call.filter(|call| call.len() <= LONGEST_ID);
            known.calls.extend(call.clone());
            forgets |= known.items.note(&item, Some(call));
        }
        known.is_partial |= forgets;
    }

    /// Forgets a response or a conversation that was deleted.
    pub fn forget(&self, response: &str) {
        let mut known = self.known();
        let forgets = known.conversations.note(response, None);
        known.is_partial |= forgets;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What is known is added as a whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
