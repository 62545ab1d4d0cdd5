//! OpenCode: the export of a session.
//!
//! One part is both a call and its result, so a result can't get lost; a call that was still running has none.

use toolcheck_json::Value;

use super::parts::{self, number_titles};
use super::{Conversation, Ended, LeftOut, Reader, Reading, Sort, Unit};
use crate::claim::certainty;
use crate::ir::{Body, Named, Role, Settled, Transcript};

pub(super) static READER: Reader =
    Reader { id: "opencode", name: "OpenCode session", sort: Sort::AgentLog, unit: Unit::File, sniff, read };

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_session = |record: &Value<'_, '_>| {
        let Some(list) = messages_of(*record) else { return false };
        let is_named = || {
            let info = record.get("info");
            info.and_then(|info| info.get_str("id")).is_some_and(|id| id.starts_with("ses_"))
        };
        match list.elements().next() {
            Some(first) => is_message(first),
            None => is_named(),
        }
    };
    if records.iter().any(is_session) { certainty::OWN_SHAPE } else { 0 }
}

/// The messages of an export, or of what the server answers, which is only the list.
fn messages_of<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    if record.is_array() {
        return Some(record);
    }
    record.get("info").filter(|info| info.is_object())?;
    record.get("messages").filter(|list| list.is_array())
}

fn is_message(message: Value<'_, '_>) -> bool {
    let is_part_list = message.get("parts").is_some_and(Value::is_array);
    is_part_list && message.get("info").is_some_and(|info| info.get("role").is_some())
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for &record in records {
        let Some(list) = messages_of(record) else {
            reading.leave_out_unknown("records that are not sessions", record);
            continue;
        };
        let info = record.get("info");
        let is_child = info.and_then(|info| info.get("parentID")).is_some_and(|parent| !parent.is_null());
        let title = if is_child { "agent" } else { "main" };
        // The user took back this message and all after it.
        let reverted = info.and_then(|info| info.get("revert")).and_then(|revert| revert.get("messageID"));
        let reverted = reverted.map(Value::raw);
        let mut session = Session::new(title, record, &mut reading.left_out);
        for message in list.elements() {
            session.add(message, reverted, &mut reading.conversations);
        }
        let ended = if session.is_reverted { Ended::Abandoned } else { session.ended };
        session.end(ended, &mut reading.conversations);
    }
    number_titles(&mut reading.conversations);
    reading
}

/// A session while it is read.
struct Session<'l, 's> {
    title: &'static str,
    transcript: Transcript<'s>,
    empty: Transcript<'s>,
    ended: Ended,
    is_reverted: bool,
    left_out: &'l mut LeftOut,
}

impl<'l, 's> Session<'l, 's> {
    fn new(title: &'static str, record: Value<'_, 's>, left_out: &'l mut LeftOut) -> Self {
        let empty = Transcript::of_conversation(READER.key(), record.document().root());
        Self { title, transcript: empty.clone(), empty, ended: Ended::Open, is_reverted: false, left_out }
    }

    fn end(&mut self, ended: Ended, conversations: &mut Vec<Conversation<'s>>) {
        let transcript = std::mem::replace(&mut self.transcript, self.empty.clone());
        if !transcript.messages.is_empty() {
            conversations.push(Conversation { title: self.title.to_owned(), transcript, ended });
        }
    }

    fn add(
        &mut self,
        message: Value<'_, 's>,
        reverted: Option<&[u8]>,
        conversations: &mut Vec<Conversation<'s>>,
    ) {
        let info = message.get("info");
        let is_of_user = info.and_then(|info| info.get_str("role")).as_deref() != Some("assistant");
        let id = info.and_then(|info| info.get("id")).map(Value::raw);
        if reverted.is_some() && id == reverted {
            self.end(Ended::Open, conversations);
            self.is_reverted = true;
        }
        let parts = || message.get("parts").into_iter().flat_map(|parts| parts.elements());
        let is = |part: Value<'_, '_>, kind: &str| part.get_str("type").as_deref() == Some(kind);
        if is_of_user {
            // A summary takes the place of what was said before this message.
            if parts().any(|part| is(part, "compaction")) {
                self.end(Ended::Compacted, conversations);
            }
            self.transcript.next_message(Role::User, message);
            parts().for_each(|part| self.add_part(part));
            return;
        }
        let is_aborted = info.and_then(|info| info.get("error")).is_some_and(|error| !error.is_null());
        self.ended = if is_aborted { Ended::Aborted } else { Ended::Open };
        let mut step: Vec<Value<'_, 's>> = Vec::new();
        for part in parts() {
            if is(part, "step-start") {
                self.add_step(message, &step, is_aborted);
                step.clear();
            } else {
                step.push(part);
            }
        }
        self.add_step(message, &step, is_aborted);
    }

    /// Adds what the model said in one step, and then the results of its calls.
    fn add_step(&mut self, message: Value<'_, 's>, step: &[Value<'_, 's>], is_aborted: bool) {
        if step.is_empty() {
            return;
        }
        self.transcript.next_message(Role::Assistant, message);
        for part in step {
            self.add_part(*part);
        }
        if is_aborted {
            self.transcript.settle_calls_of_last(Settled::Aborted);
        }
        for part in step {
            let is_call = part.get_str("type").as_deref() == Some("tool");
            let Some(state) = part.get("state").filter(|_| is_call) else { continue };
            let is_error = match state.get_str("status").as_deref() {
                Some("completed") => false,
                Some("error") => true,
                _ => continue,
            };
            if state.get("time").and_then(|time| time.get("compacted")).is_some() {
                self.left_out.add("results that were cleared from the context", 1);
            }
            let content = state.get(if is_error { "error" } else { "output" });
            let mut result = parts::result(part.get("callID"), content, Some(is_error));
            result.name = part.get("tool").and_then(Named::of);
            self.transcript.turn(Role::Tool, *part).part(state, Body::Result(result));
        }
    }

    fn add_part(&mut self, part: Value<'_, 's>) {
        let body = match part.get_str("type").as_deref() {
            Some("text") if part.get("ignored").and_then(Value::as_bool) == Some(true) => {
                self.left_out.add("texts that are only shown", 1);
                return;
            }
            Some("text") => Body::text(part.get("text")),
            Some("reasoning") => parts::reasoning(None),
            Some("tool") => {
                let state = part.get("state");
                let input = state.and_then(|state| state.get("input"));
                Body::Call(parts::call(part.get("callID"), part.get("tool"), input))
            }
            Some("file") => Body::Media,
            // Snapshots, costs, names of agents.
            Some(
                "agent" | "compaction" | "patch" | "retry" | "snapshot" | "step-finish" | "step-start"
                | "subtask",
            ) => return,
            _ => {
                self.transcript.unknown(part);
                return;
            }
        };
        self.transcript.part(part, body);
    }
}
