//! What events do to the calls of a session: they make, answer, cancel and delete them, and declare tools.

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::Value;

use super::event_calls::OpenCall;
use super::event_session::Session;
use super::events::{Anew, CallStep, Paths, ResultStep, Tools};
use super::parts;
use crate::ir::{
    Arguments, Body, Executor, MisplacedEvent, Misplacement, Named, Place, Role, ToolDef, UnpairedReason,
};

impl<'s> Session<'s> {
    /// What is not whole yet was never meant to be run.
    pub(super) fn cut_off(&mut self) {
        let open = self.protocol.cut_off.as_deref().and_then(|thing| self.open.get(thing));
        for called in open.into_iter().flatten().filter_map(|(id, _)| self.calls.get(&**id)) {
            if let Some(Body::Call(call)) =
                self.transcript.parts.get_mut(called.part).map(|part| &mut part.body)
            {
                call.unpaired.get_or_insert(UnpairedReason::Aborted);
            }
        }
    }

    /// Remembers the result of a call that is not open: it probably is that of one which gets none.
    pub(super) fn stray(&mut self, step: &ResultStep, item: Value<'_, 's>) {
        let id = step.id.of(item).and_then(Named::of);
        let new = id.filter(|id| self.orphans.insert(id.text.clone()));
        self.strays.extend(new.map(|id| (self.transcript.parts.len(), id.text)));
    }

    /// Settles a call without a result for each result that was refused, which is the one mistake.
    pub(super) fn settle_strays(&mut self) {
        let lost = |called: &&OpenCall<'s>| !called.has_result;
        let mut strays = std::mem::take(&mut self.strays);
        // Its call may come after it.
        let late = |id: &Cow<'s, str>| self.calls.get(id).filter(lost).map(|called| called.part);
        let late: HashSet<usize> =
            strays.extract_if(.., |(_, id)| late(id).is_some()).filter_map(|(_, id)| late(&id)).collect();
        let mut lost: Vec<usize> = self.calls.values().filter(lost).map(|called| called.part).collect();
        lost.sort_unstable();
        let mut lost = lost.into_iter().filter(|part| !late.contains(part)).peekable();
        let earlier = strays.into_iter().filter_map(|(before, _)| lost.next_if(|part| *part < before));
        for part in late.iter().copied().chain(earlier) {
            if let Body::Call(call) = &mut self.transcript.parts[part].body {
                call.unpaired.get_or_insert(UnpairedReason::Elsewhere);
            }
        }
    }

    /// Adds what an event tells of a call.
    pub(super) fn make(&mut self, step: &CallStep, kind: &str, item: Value<'_, 's>) {
        let of = |at: &Paths| at.of(item).and_then(Named::of).map(|id| id.text);
        let own = of(&step.item);
        // An item is one call, whatever tells of it.
        let is_other = own.as_ref().map_or(step.item.is_empty(), |own| !self.items.contains_key(own));
        let anew = if is_other { step.anew } else { Anew::Never };
        let Some(id) = of(&step.id) else {
            return self.call(item, None, step.name.of(item), step.arguments.of(item), anew);
        };
        if let Some(then) = &step.taken_for_earlier
            && self.calls.get(&id).is_some_and(|called| self.is_over(called, anew))
        {
            let why = Misplacement::Again {
                thing: "tool call".to_owned(),
                id: id.to_string(),
                then: Some(then.clone()),
            };
            let event = MisplacedEvent {
                place: Place::of(item),
                kind: kind.to_owned(),
                why,
                says: None,
                is_doubtful: true,
            };
            self.again.entry(id.clone()).or_insert(event);
        }
        self.call(item, step.id.of(item), step.name.of(item), step.arguments.of(item), anew);
        let Some(called) = self.calls.get(&id) else { return };
        if step.by_server.of(item).and_then(Value::as_bool) == Some(true)
            && let Body::Call(call) = &mut self.transcript.parts[called.part].body
        {
            call.executor = Executor::Server;
        }
        self.items.extend(own.map(|own| (own, (id, called.part))));
    }

    /// Whether a call with the id of an earlier one is another one.
    fn is_over(&self, called: &OpenCall<'s>, anew: Anew) -> bool {
        let is_earlier = called.part < self.turn_start;
        let call = self.transcript.parts[called.part].call();
        let is_aborted = || call.is_some_and(|call| call.unpaired == Some(UnpairedReason::Aborted));
        let is_done = || called.has_result || called.is_cancelled || is_aborted();
        match anew {
            Anew::Never => false,
            Anew::InLaterTurn => is_earlier && is_done(),
            Anew::AfterResult => is_earlier || is_done(),
        }
    }

    pub(super) fn call(
        &mut self,
        item: Value<'_, 's>,
        id: Option<Value<'_, 's>>,
        name: Option<Value<'_, 's>>,
        arguments: Option<Value<'_, 's>>,
        anew: Anew,
    ) {
        let Some(id) = id else {
            // Some servers give no ids: each call is one of its own then.
            if name.is_some() {
                let call = parts::call(None, name, arguments);
                self.of_model(item).part(item, Body::Call(call));
            }
            return;
        };
        let Some(named) = Named::of(id) else { return };
        let arguments = arguments.filter(|value| !value.is_null());
        if self.calls.get(&named.text).is_some_and(|called| self.is_over(called, anew))
            && let Some(called) = self.calls.remove(&named.text)
        {
            self.calls.insert(key_of_earlier(&named.text, called.part), called);
        }
        if let Some(called) = self.calls.get_mut(&named.text) {
            let part = self.transcript.parts.get_mut(called.part).map(|part| &mut part.body);
            let Some(Body::Call(call)) = part else { return };
            if call.name.is_none() {
                call.name = name.and_then(Named::of);
            }
            // A text is whole when it comes, and some servers repeat it. An object may be that of a newer state.
            let has_text = called.pieces.is_empty() && matches!(call.arguments, Arguments::Text(..));
            if arguments.is_some() && !has_text {
                called.pieces.clear();
                call.arguments = Arguments::of(arguments);
            }
            return;
        }
        let is_unnamed = self.of_unnamed.contains(&named.text);
        let is_refused = is_unnamed
            || std::mem::take(&mut self.is_piece_refused)
            || self.refused.values().any(|ids| ids.contains(&*named.text));
        let mut call = parts::call(Some(id), name, arguments);
        call.unpaired = is_unnamed.then_some(UnpairedReason::Elsewhere);
        self.of_model(item).part(item, Body::Call(call));
        let part = self.transcript.parts.len() - 1;
        self.waiting.push(named.text.clone());
        self.unanswered += 1;
        self.calls.insert(named.text, OpenCall { part, is_refused, ..OpenCall::default() });
    }

    pub(super) fn result(
        &mut self,
        step: &'static ResultStep,
        kind: &str,
        event: Value<'_, 's>,
        item: Value<'_, 's>,
    ) {
        let id = step.id.of(item);
        let text = id.and_then(Named::of).map(|id| id.text);
        if text.is_none() {
            self.check_id(step, item);
        }
        let called = text.as_ref().and_then(|id| self.calls.get_mut(id));
        let is_known = called.is_some();
        let mut executor = Executor::default();
        // What repeats a result that belongs to no call is no second mistake.
        if !is_known && step.may_repeat && text.as_ref().is_some_and(|id| self.orphans.contains(id)) {
            return;
        }
        if let Some(called) = called {
            let waited = !called.has_result || called.is_preliminary;
            called.is_preliminary =
                waited && step.preliminary.of(item).and_then(Value::as_bool) == Some(true);
            self.unanswered = self.unanswered.saturating_sub(usize::from(waited && !called.is_preliminary));
            if called.has_result && step.may_repeat {
                return;
            }
            if let Some(Body::Call(call)) = self.transcript.parts.get(called.part).map(|part| &part.body) {
                executor = call.executor;
            }
            called.has_result = true;
            called.results.push(self.transcript.parts.len());
            if called.is_cancelled {
                called.is_cancelled = false;
                let id = text.as_deref().unwrap_or_default().to_owned();
                self.misplaced(event, kind, Misplacement::Cancelled(id), None);
            }
        }
        let is_deleted = text.as_ref().is_some_and(|id| self.deleted.contains(id));
        let is_refused = text.as_ref().is_some_and(|id| self.refused.values().any(|ids| ids.contains(&**id)));
        let is_orphan = !is_known && self.protocol.is_continued && self.unanswered > 0;
        if is_orphan {
            self.stray(step, item);
        } else if !is_known {
            self.orphans.extend(text);
        }
        let content = step.content.of(item);
        let mut result = parts::result(id, content, step.is_error);
        result.name = step.name.of(item).and_then(Named::of);
        result.executor = executor;
        let is_of_unnamed = !is_known && std::mem::take(&mut self.is_call_unnamed);
        // A log may begin in the middle, and what was refused may have been the call.
        let is_begun = self.has_begun
            && (is_orphan || self.has_history || !self.protocol.is_continued)
            && !is_refused
            && !is_of_unnamed;
        result.unpaired = (!is_known && !is_deleted && !is_begun).then_some(UnpairedReason::Elsewhere);
        if is_of_unnamed {
            result.unpaired = Some(UnpairedReason::UnknownId);
            self.of_unnamed.extend(result.call_id.as_ref().map(|id| id.text.clone()));
        }
        self.transcript.turn(Role::Tool, item).part(item, Body::Result(result));
    }

    pub(super) fn cancel(&mut self, id: &str) {
        let Some(called) = self.calls.get_mut(id).filter(|called| !called.has_result) else { return };
        called.is_cancelled = true;
        if let Some(Body::Call(call)) = self.transcript.parts.get_mut(called.part).map(|part| &mut part.body)
        {
            call.unpaired = Some(UnpairedReason::Aborted);
        }
    }

    /// Takes a call out of the conversation, with its results. A later result is one of no call.
    pub(super) fn delete(&mut self, item: &str) {
        let Some((id, part)) = self.items.remove(item) else { return };
        let is_latest = self.calls.get(&id).is_none_or(|called| called.part == part);
        let key = if is_latest { id.clone() } else { key_of_earlier(&id, part) };
        let Some(called) = self.calls.remove(&key) else { return };
        if is_latest {
            self.deleted.insert(id);
        }
        let Some(part) = self.transcript.parts.get_mut(called.part) else { return };
        if let Body::Call(call) = &mut part.body {
            call.unpaired = Some(UnpairedReason::Deleted);
        }
        for number in called.results {
            if let Some(Body::Result(result)) =
                self.transcript.parts.get_mut(number).map(|part| &mut part.body)
            {
                result.unpaired = Some(UnpairedReason::Deleted);
            }
        }
    }

    /// Nobody waits for the results of calls that have none.
    pub(crate) fn abort(&mut self) {
        for id in std::mem::take(&mut self.waiting) {
            let Some(called) = self.calls.get(&id).filter(|called| !called.has_result) else { continue };
            if let Some(Body::Call(call)) =
                self.transcript.parts.get_mut(called.part).map(|part| &mut part.body)
            {
                call.unpaired.get_or_insert(UnpairedReason::Aborted);
            }
        }
    }

    /// Declares the tools of a list, each once: the later one holds.
    pub(super) fn declare(&mut self, step: &Tools, item: Value<'_, 's>) {
        let Some(list) = step.list.of(item).filter(|list| list.is_array()) else { return };
        let tools = &mut self.transcript.request.tools;
        tools.place.get_or_insert(Place::of(list));
        tools.hides_some |= step.are_some;
        let known = tools.list.get_or_insert_default();
        let groups = list.elements().flat_map(|tool| match step.group.of(tool) {
            Some(group) => group.elements().collect(),
            None => vec![tool],
        });
        for tool in groups.filter(|tool| tool.is_object()) {
            let Some(name) = tool.get("name").and_then(Named::of) else {
                // A tool of the server, or of another server, has names that are not here.
                tools.hides_some = true;
                continue;
            };
            let schema = step.schema.of(tool).map(Place::of);
            let text = name.text.clone();
            let tool = ToolDef { name: Some(name), schema, ..ToolDef::new(Place::of(tool)) };
            match self.tools.get(&text) {
                Some(at) => known[*at] = tool,
                None => {
                    self.tools.insert(text, known.len());
                    known.push(tool);
                }
            }
        }
    }
}

/// What a call is known by after another one got its id.
fn key_of_earlier(id: &str, part: usize) -> Cow<'static, str> {
    format!("{id} ({part})").into()
}
