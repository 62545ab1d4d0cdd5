//! Which calls of a history are those of an answer.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};
use toolcheck_core::ir::{Body, Call, Executor, Message, Part, Role, Transcript};
use toolcheck_json::Document;

use super::changes::{self, Change};
use super::{Evidence, HistoryMatch, MatchedCall, PastChoice, brings_results};
use crate::view::arguments::hash_of;

pub(super) struct HistoryCall<'t, 's> {
    pub(super) call: &'t Call<'s>,
    pub(super) at: MatchedCall,
    pub(super) text: Cow<'s, [u8]>,
    /// Whether it may be a call of the answer with a different id: it comes before the next user message, and no answer
    /// contains its id.
    is_free: bool,
}

/// The messages of a history after those of the exchange, for comparing them with any number of choices.
pub(super) struct NewMessages<'t, 's> {
    transcript: &'t Transcript<'s>,
    first_new: usize,
    /// Whether everything before it is verbatim the exchange's own history.
    pub(super) is_verbatim: bool,
    pub(super) calls: Vec<HistoryCall<'t, 's>>,
    /// The hashes of their ids, made when an answer that was compared asks for them.
    ids: OnceCell<HashSet<u64>>,
}

/// Compares an answer with the history after the exchange's own.
pub(super) fn compare<'e>(answer: &'e PastChoice, behind: &NewMessages<'_, '_>) -> HistoryMatch<'e> {
    let mut is_taken = vec![false; behind.calls.len()];
    let mut calls: Vec<Option<usize>> = vec![None; answer.calls.len()];
    match_by_id(answer, behind, &mut calls, &mut is_taken);
    let is_same = calls.iter().any(Option::is_some);
    // Clients may drop the ids.
    let has_ids = answer.calls.iter().any(|given| given.call.id.is_some())
        && behind.calls.iter().any(|stored| stored.call.id.is_some());
    let in_turn = behind.calls.iter().filter(|call| call.at.turn == 0).count();
    let is_in_place = !has_ids && behind.is_verbatim && answer.calls.len() == in_turn;
    match_by_tool(answer, behind, &mut calls, &mut is_taken, (is_same, is_in_place));
    let kept = calls.iter().flatten().count();
    // All calls with other ids, or some calls if there are no ids, or the text, or nothing in their place.
    let is_alike = says_the_same(answer, behind)
        || if kept > 0 {
            kept == answer.calls.len() || !has_ids && behind.is_verbatim
        } else {
            says_nothing(answer, behind)
        };
    let evidence = match (is_same, is_alike) {
        (true, _) => Evidence::Same,
        (false, true) => Evidence::Alike,
        // The same request again, another answer to it, or a side question.
        (false, false) => Evidence::Nothing,
    };
    let is_all_there = behind.is_verbatim && kept == answer.calls.len() && kept == in_turn;
    let calls = answer.calls.iter().zip(calls).map(|(given, kept)| {
        let stored = &behind.calls[kept?];
        let ids = (given.call.id.as_deref(), stored.call.id.as_ref().map(|id| &*id.text));
        // A new id repairs a call that shares its id with another.
        let is_renamed = matches!(ids, (Some(given), Some(stored)) if given != stored) && !given.shares_id;
        // A call with another id may be another call; without ids, all must be there.
        let is_certain =
            if has_ids && given.call.id.is_some() { is_same && !is_renamed } else { is_all_there };
        let change =
            if is_certain { given.arguments.change(stored.at.meaning, &stored.text) } else { Change::Same };
        Some(MatchedCall { is_renamed, change, ..stored.at })
    });
    let first_new = behind.first_new;
    let (calls, older) = (calls.collect(), Vec::new());
    HistoryMatch { answer, calls, first_new, evidence, is_of_another: false, is_later: false, older }
}

/// Matches calls by their ids. Calls may share an id: then they are matched by tool and arguments, and for the same tool
/// by order.
fn match_by_id(
    answer: &PastChoice,
    behind: &NewMessages<'_, '_>,
    calls: &mut [Option<usize>],
    is_taken: &mut [bool],
) {
    for (by_name, by_arguments) in [(true, true), (true, false), (false, false)] {
        let key = |id, name, arguments| {
            (id, if by_name { name } else { "" }, if by_arguments { arguments } else { 0 })
        };
        let mut left: HashMap<(&str, &str, u64), VecDeque<usize>> = HashMap::default();
        for (number, stored) in behind.calls.iter().enumerate().filter(|(number, _)| !is_taken[*number]) {
            let name = stored.call.name.as_ref().map_or("", |name| &*name.text);
            if let Some(id) = &stored.call.id {
                left.entry(key(&*id.text, name, stored.at.meaning)).or_default().push_back(number);
            }
        }
        for (given, kept) in answer.calls.iter().zip(&mut *calls).filter(|(_, kept)| kept.is_none()) {
            let Some(id) = given.call.id.as_deref() else { continue };
            let name = given.call.name.as_deref().unwrap_or_default();
            *kept = left.get_mut(&key(id, name, given.arguments.meaning)).and_then(VecDeque::pop_front);
            if let Some(number) = *kept {
                is_taken[number] = true;
            }
        }
    }
}

/// Matches calls with a different id, or without one: by tool and arguments, then by tool alone, because the client may
/// repair arguments, and in the place of the answer by arguments alone. If ids are kept, another id is another call, but
/// for the same one in the turn of the answer.
fn match_by_tool(
    answer: &PastChoice,
    behind: &NewMessages<'_, '_>,
    calls: &mut [Option<usize>],
    is_taken: &mut [bool],
    (are_ids_kept, is_in_place): (bool, bool),
) {
    let ways = [(true, true), (true, false), (false, true)];
    let none = changes::meaning(b"{}");
    for (by_name, by_arguments) in ways.into_iter().filter(|(by_name, _)| *by_name || is_in_place) {
        let key =
            |name, arguments| (if by_name { name } else { "" }, if by_arguments { arguments } else { 0 });
        let mut left: HashMap<(&str, u64), VecDeque<usize>> = HashMap::default();
        for (number, stored) in behind.calls.iter().enumerate() {
            if stored.is_free && !is_taken[number] {
                let name = stored.call.name.as_ref().map_or("", |name| &*name.text);
                left.entry(key(name, stored.at.meaning)).or_default().push_back(number);
            }
        }
        for (given, kept) in answer.calls.iter().zip(&mut *calls).filter(|(_, kept)| kept.is_none()) {
            let is_strict = are_ids_kept && given.call.id.is_some() && !given.shares_id;
            if is_strict && !(by_name && by_arguments) || !by_name && given.arguments.meaning == none {
                continue;
            }
            let name = given.call.name.as_deref().unwrap_or_default();
            let found = left.get_mut(&key(name, given.arguments.meaning));
            let found = found.filter(|left| {
                !is_strict || left.front().is_some_and(|number| behind.calls[*number].at.turn == 0)
            });
            *kept = found.and_then(VecDeque::pop_front);
            if let Some(number) = *kept {
                is_taken[number] = true;
            }
        }
    }
}

/// Whether the history continues with the text of the answer.
fn says_the_same(answer: &PastChoice, behind: &NewMessages<'_, '_>) -> bool {
    let first = behind.transcript.messages.get(behind.first_new);
    let first = first.filter(|message| message.role == Role::Assistant);
    let said = first.map(|message| text_of(behind.transcript, message)).unwrap_or_default();
    !said.trim().is_empty() && said.trim() == answer.text.trim()
}

/// Whether an empty message of the assistant stands in the place of an answer with calls: nobody else writes one.
fn says_nothing(answer: &PastChoice, behind: &NewMessages<'_, '_>) -> bool {
    let first = behind.transcript.messages.get(behind.first_new);
    let Some(first) = first.filter(|message| message.role == Role::Assistant) else { return false };
    let is_empty = |part: &Part<'_>| matches!(part.body, Body::Text(_) | Body::Reasoning(_));
    behind.is_verbatim
        && !answer.calls.is_empty()
        && behind.transcript.parts_of(first).iter().all(is_empty)
        && text_of(behind.transcript, first).trim().is_empty()
}

impl<'t, 's> NewMessages<'t, 's> {
    pub(super) fn new(
        document: &Document<'s>,
        transcript: &'t Transcript<'s>,
        first_new: usize,
        is_verbatim: bool,
        given: &HashMap<u64, Option<usize>>,
    ) -> Self {
        let mut calls = Vec::new();
        let (mut turn, mut last, mut is_near) = (0, None, true);
        for (number, (message, parts)) in transcript.messages_with_parts().enumerate().skip(first_new) {
            is_near &= message.role != Role::User || brings_results(parts) || number == first_new;
            if last.is_some_and(|last| last != message.role) && message.role == Role::Assistant {
                turn += 1;
            }
            last = Some(message.role);
            for (index, part) in parts.iter().enumerate() {
                let Body::Call(call) = &part.body else { continue };
                if call.executor != Executor::Client {
                    continue;
                }
                let id = call.id.as_ref().map(|id| &*id.text);
                let part = message.parts.start as usize + index;
                let text = call.arguments.json(document);
                let meaning = changes::meaning(&text);
                let (message, change) = (number, Change::Same);
                calls.push(HistoryCall {
                    call,
                    at: MatchedCall { part, message, is_renamed: false, turn, change, meaning },
                    text,
                    is_free: is_near && !id.is_some_and(|id| given.contains_key(&hash_of(id))),
                });
            }
        }
        Self { transcript, first_new, is_verbatim, calls, ids: OnceCell::new() }
    }

    pub(super) fn has(&self, id: &str) -> bool {
        let ids = || self.calls.iter().filter_map(|stored| Some(hash_of(&*stored.call.id.as_ref()?.text)));
        self.ids.get_or_init(|| ids().collect()).contains(&hash_of(id))
    }
}

fn text_of(transcript: &Transcript<'_>, message: &Message<'_>) -> String {
    let mut said = String::new();
    for part in transcript.parts_of(message) {
        if let Body::Text(text) = &part.body {
            text.string.decode_into(&mut said);
        }
    }
    said
}
