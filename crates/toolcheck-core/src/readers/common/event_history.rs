//! What a session whose messages are events is told of what was said before.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::event_calls::OpenCall;
use super::event_session::Session;
use super::events::Anew;
use super::shortened::has_shortened;
use super::{parts, vercel_ai};
use crate::ir::{Body, Call, Named, Place, Role, ToolResult, Transcript, UnpairedReason};

/// Where a result has the id of its call.
const RESULT_IDS: [&str; 2] = ["toolCallId", "tool_call_id"];

impl<'s> Session<'s> {
    /// Adds the messages of a list. Where the log has what was said, they repeat it, and only calls and results that it does
    /// not have are new. `is_sent` is whether the other side has nothing but that list.
    pub(super) fn remember(&mut self, list: Value<'_, 's>, is_sent: bool) {
        let is_first = self.transcript.parts.is_empty();
        if !is_first {
            self.compare(list, is_sent);
        }
        for message in list.elements().filter(|message| message.is_object()) {
            let content = message.get("content");
            if is_first && message.get_str("role").is_none_or(|role| role != "tool") {
                self.pass();
            }
            let role = match message.get_str("role").as_deref() {
                Some("assistant" | "reasoning") => Role::Assistant,
                Some("tool") => {
                    self.check_keys(&self.protocol.history_results, message);
                    self.remember_result(message, content, is_first);
                    continue;
                }
                Some("system" | "developer") => Role::System,
                _ => Role::User,
            };
            if is_first {
                self.transcript.turn(role, message).content(content, |_| None);
            }
            let calls = message.get_any(&["toolCalls", "tool_calls"]);
            self.hides_calls |= calls.is_some_and(has_shortened);
            for call in calls.into_iter().flat_map(Value::elements) {
                self.check_keys(&self.protocol.history_calls, call);
                let id = call.get("id").and_then(Named::of);
                if is_first || id.is_some_and(|id| !self.calls.contains_key(&id.text)) {
                    let function = call.get("function").unwrap_or(call);
                    self.call(
                        call,
                        call.get("id"),
                        function.get("name"),
                        function.get("arguments"),
                        Anew::AfterResult,
                    );
                }
            }
        }
    }

    /// Finds the results that a list has twice, and those that it has lost: of calls before its end.
    fn compare(&mut self, list: Value<'_, 's>, is_sent: bool) {
        let mut open: HashMap<Cow<'s, str>, (usize, Value<'_, 's>)> = HashMap::default();
        let mut answered = HashSet::default();
        let mut knows_all = is_sent;
        let mut end = 0;
        for (number, message) in list.elements().enumerate() {
            let calls = message.get_any(&["toolCalls", "tool_calls"]);
            knows_all &= !calls.is_some_and(has_shortened);
            for call in calls.into_iter().flat_map(Value::elements) {
                open.extend(call.get("id").and_then(Named::of).map(|id| (id.text, (number, call))));
            }
            if !message.is("role", "tool") {
                end = number;
                continue;
            }
            let id = message.get_any(&RESULT_IDS).and_then(Named::of).map(|id| id.text);
            let Some(id) = id.filter(|id| self.calls.contains_key(id)) else {
                knows_all = false;
                continue;
            };
            open.remove(&id);
            // The next list has it twice as well.
            if !answered.insert(id.clone()) && self.orphans.insert(id) {
                let result = parts::result(message.get_any(&RESULT_IDS), message.get("content"), None);
                self.transcript.turn(Role::Tool, message).part(message, Body::Result(result));
            }
        }
        for (id, (number, call)) in open {
            let Some(called) = self.calls.get(&id).filter(|_| knows_all && number < end) else { continue };
            for result in &called.results {
                if let Body::Result(result) = &mut self.transcript.parts[*result].body
                    && result.unpaired.replace(UnpairedReason::Deleted).is_none()
                {
                    self.transcript.parts[called.part].place = Place::of(call);
                }
            }
        }
    }

    /// The same of messages that another reader knows.
    pub(super) fn remember_ui(&mut self, list: Value<'_, 's>) {
        let Some(format) = self.transcript.format else { return };
        let mut said = Transcript::of_conversation(format, list);
        let is_first = self.transcript.parts.is_empty();
        let into = if is_first { &mut self.transcript } else { &mut said };
        if list.elements().next().is_some() {
            vercel_ai::read_list(into, list);
        }
        self.has_history |= is_first;
        for (number, part) in self.transcript.parts.iter().enumerate().filter(|_| is_first) {
            match &part.body {
                Body::Call(Call { id: Some(id), .. }) => {
                    let called = OpenCall { part: number, is_passed: true, ..OpenCall::default() };
                    self.calls.insert(id.text.clone(), called);
                }
                Body::Result(ToolResult { call_id: Some(id), .. }) => {
                    self.calls.entry(id.text.clone()).and_modify(|called| called.has_result = true);
                }
                _ => {}
            }
        }
        for part in said.parts {
            let Body::Result(result) = part.body else { continue };
            let called = result.call_id.as_ref().and_then(|id| self.calls.get_mut(&id.text));
            if let Some(called) = called.filter(|called| !called.has_result) {
                called.has_result = true;
                let value = list.document().value(part.place.node);
                self.transcript.turn(Role::Tool, value).part(value, Body::Result(result));
            }
        }
    }

    /// What was said goes on after all calls.
    pub(super) fn pass(&mut self) {
        self.unanswered = 0;
        for id in std::mem::take(&mut self.waiting) {
            if let Some(called) = self.calls.get_mut(&id) {
                called.is_passed = true;
            }
        }
    }

    fn remember_result(&mut self, message: Value<'_, 's>, content: Option<Value<'_, 's>>, is_first: bool) {
        let id = message.get_any(&RESULT_IDS);
        let text = id.and_then(Named::of).map(|id| id.text);
        match text.as_ref().map(|id| self.calls.get_mut(id)) {
            Some(Some(called)) if called.has_result && !is_first => return,
            Some(Some(called)) => called.has_result = true,
            Some(None) if !self.orphans.insert(text.clone().unwrap_or_default()) => return,
            _ => {}
        }
        let is_error = message.get("error").is_some_and(|error| !error.is_null());
        let mut result = parts::result(id, content, is_error.then_some(true));
        let is_unknown = text.is_some_and(|id| !self.calls.contains_key(&id));
        result.unpaired = (is_unknown && self.hides_calls).then_some(UnpairedReason::Elsewhere);
        self.transcript.turn(Role::Tool, message).part(message, Body::Result(result));
    }

    pub(super) fn content(&mut self, content: Value<'_, 's>) {
        let is_of_model = content.is("role", "model");
        let role = if is_of_model { Role::Assistant } else { Role::User };
        for part in content.get("parts").into_iter().flat_map(Value::elements) {
            if let Some(call) = part.get_any(&["functionCall", "function_call"]) {
                self.call(call, call.get("id"), call.get("name"), call.get("args"), Anew::AfterResult);
            } else if let Some(answer) = part.get_any(&["functionResponse", "function_response"]) {
                let mut result = parts::result(answer.get("id"), answer.get("response"), None);
                result.name = answer.get("name").and_then(Named::of);
                if let Some(called) = answer.get("id").and_then(Named::of) {
                    self.calls.entry(called.text).and_modify(|called| called.has_result = true);
                }
                self.transcript.turn(Role::Tool, answer).part(answer, Body::Result(result));
            } else if let Some(text) = part.get("text").filter(|text| text.is_string()) {
                self.transcript.turn(role, content).part(text, Body::text(Some(text)));
            }
        }
    }
}
