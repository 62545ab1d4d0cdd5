//! GitHub Copilot CLI: the events of a session.
//!
//! A message of the model asks for calls, and an event tells that one of them is done. The event that a call starts
//! repeats the request, and may come before it; where there was none, it is the call.

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::file_style::{FileFixStyle, NewRecord, members_of};
use super::threads::{Thread, Threads};
use super::{ConversationEnd, Reader, Reading, next, own_shape, parts};
use crate::fix_style::{FixStyle, Missing};
use crate::ir::{Body, Call, Role, ToolKind};
use crate::names::words;

pub(super) static READER: Reader =
    Reader::log("copilot-cli", "GitHub Copilot CLI session", sniff, read).or_one_list().fixed_by(&FILE_STYLE);

/// The end of a call is an event, which names the event before it.
static FILE_STYLE: FileFixStyle = FileFixStyle {
    message: Some("data"),
    has_kinds: true,
    links: Some(("id", "parentId")),
    record,
    ..FileFixStyle::plain(&FIX_STYLE)
};

static FIX_STYLE: FixStyle = FixStyle {
    calls: Some(("toolRequests", "content")),
    result_id: Some("toolCallId"),
    takes_lists: false,
    result,
    text: |text| text,
    user: |_| Piece::object([("content", Piece::text(""))]),
    said: |text| Piece::object([("content", text)]),
    ..FixStyle::OF_PROGRAM
};

fn result(missing: &Missing) -> Option<Piece> {
    let error = Piece::object([("message", missing.said())]);
    let failed = Piece::Raw(b"false".to_vec());
    Some(Piece::object([("toolCallId", missing.id.clone()?), ("success", failed), ("error", error)]))
}

fn record(added: NewRecord<'_, '_>) -> Piece {
    let is_end = matches!(&added.message, Piece::Object(members) if members.iter().any(|(key, _)| key == "toolCallId"));
    let kind = if is_end { "tool.execution_complete" } else { "user.message" };
    let parent = added.before.or_else(|| Some(Piece::Node(added.after.get("id")?.id())));
    let mut members =
        vec![("type".into(), Piece::text(kind)), ("data".into(), added.message), ("id".into(), added.id)];
    members.extend(members_of(added.after, &["timestamp"]));
    members.extend(parent.map(|parent| ("parentId".into(), parent)));
    Piece::Object(members)
}

/// The events that are certainly of this program.
const OWN_EVENTS: [&str; 8] = words(
    "session.start session.resume user.message assistant.message assistant.turn_start assistant.turn_end \
    tool.execution_start tool.execution_complete",
);

/// What events are about that only tell of the calls, or repeat them for another program.
const SUBJECTS: [&str; 10] =
    words("session system permission external_tool user_input elicitation sampling subagent skill command");

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        record.has("id")
            && record.has("timestamp")
            && record.has_object("data")
            && record.is_one_of("type", &OWN_EVENTS)
    })
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut log = Log::new(requested(records));
    for &record in records {
        let data = record.get("data").filter(|data| data.is_object());
        match (record.get_str("type").as_deref(), data) {
            (Some(kind), Some(data)) => log.add(kind, record, data),
            _ => log.threads.leave_out_unknown("records that are not events", record),
        }
    }
    let mut reading = log.threads.finish();
    next::mark(&mut reading.conversations, "main", READER.id);
    reading
}

/// The ids of the calls that a message asks for before they are done.
fn requested<'s>(records: &[Value<'_, 's>]) -> HashSet<&'s [u8]> {
    let (mut requested, mut done) = (HashSet::default(), HashSet::default());
    for record in records {
        let Some(data) = record.get("data") else { continue };
        match record.get_str("type").as_deref() {
            Some("assistant.message") => {
                let ids = data.list("toolRequests").filter_map(|call| call.get("toolCallId")).map(Value::raw);
                requested.extend(ids.filter(|id| !done.contains(id)));
            }
            Some("tool.execution_complete") => done.extend(data.get("toolCallId").map(Value::raw)),
            _ => {}
        }
    }
    requested
}

#[derive(Default)]
struct Own {
    /// The number of messages when a compaction began: what is said until it is done is kept.
    compacting: Option<usize>,
}

struct Log<'s> {
    /// The session itself and its sub-agents.
    threads: Threads<'s, Own>,
    /// The calls that a message asks for before they are done.
    requested: HashSet<&'s [u8]>,
    /// The calls that no message had asked for when they started.
    started: HashSet<&'s [u8]>,
    called_in: HashMap<&'s [u8], usize>,
    /// The threads in which something was said since the last abort.
    running: HashSet<usize>,
    of_user: HashSet<&'s [u8]>,
}

impl<'s> Log<'s> {
    fn new(requested: HashSet<&'s [u8]>) -> Self {
        let (called_in, running, of_user) = (HashMap::default(), HashSet::default(), HashSet::default());
        let (threads, started) = (Threads::new(&READER), HashSet::default());
        Self { threads, requested, started, called_in, running, of_user }
    }

    fn leave_out(&mut self, what: &'static str) {
        self.threads.leave_out(what);
    }

    fn add(&mut self, kind: &str, record: Value<'_, 's>, data: Value<'_, 's>) {
        let id = data.get("toolCallId").map(Value::raw);
        match kind {
            "user.message" => self.say(Role::User, record, data),
            "system.message" => self.say(Role::System, record, data),
            "assistant.message" => self.answer(record, data),
            "tool.user_requested" => {
                self.of_user.extend(id);
                self.leave_out("commands of the user");
            }
            "tool.execution_start" => self.start(record, data),
            "tool.execution_complete" if id.is_some_and(|id| self.of_user.contains(id)) => {
                self.leave_out("commands of the user");
            }
            "tool.execution_complete" => {
                let number = id.and_then(|id| self.called_in.get(id).copied());
                let number = number.unwrap_or_else(|| self.thread(record, data));
                self.threads.get(number).complete(record, data);
            }
            "session.compaction_start" => {
                let number = self.thread(record, data);
                let thread = self.threads.get(number);
                thread.own.compacting = Some(thread.transcript.messages.len());
                self.leave_out("compactions");
            }
            "session.compaction_complete" => {
                if data.get("success").and_then(Value::as_bool) != Some(false) {
                    self.compact(record, data);
                }
                self.leave_out("compactions");
            }
            "abort" | "session.error" | "session.resume" | "session.shutdown" => {
                self.abort(kind == "abort" || kind == "session.error");
                self.leave_out("events of the session");
            }
            _ if kind.starts_with("hook.") => self.leave_out("events of hooks"),
            _ if kind.split_once('.').is_some_and(|(subject, _)| SUBJECTS.contains(&subject))
                || id.is_some_and(|id| self.called_in.contains_key(id)) =>
            {
                self.leave_out("events of the session");
            }
            _ => self.threads.leave_out_unknown("events of the session", record),
        }
    }

    /// The number of the thread that an event belongs to: the session itself, or one of its sub-agents.
    fn thread(&mut self, record: Value<'_, 's>, data: Value<'_, 's>) -> usize {
        let title = match (data.get_str("parentToolCallId"), record.get_str("agentId")) {
            (Some(parent), _) => format!("agent of {parent}"),
            (None, Some(agent)) => format!("agent {agent}"),
            (None, None) => "main".to_owned(),
        };
        let number = self.threads.number(title, record);
        self.running.insert(number);
        number
    }

    /// Puts a summary in the place of what was said before the compaction began.
    fn compact(&mut self, record: Value<'_, 's>, data: Value<'_, 's>) {
        let number = self.thread(record, data);
        let thread = self.threads.get(number);
        let began = thread.own.compacting.take();
        let kept = began.map(|began| thread.transcript.split_off(began)).unwrap_or_default();
        self.threads.divide(number, ConversationEnd::Compacted);
        let thread = self.threads.get(number);
        if let Some(summary) = data.get("summaryContent").filter(|text| text.is_string()) {
            thread.transcript.next_message(Role::User, record).part(summary, Body::text(Some(summary)));
        }
        thread.transcript.append(kept);
    }

    /// The turns that run end here, whether or not their calls are done.
    fn abort(&mut self, is_for_good: bool) {
        for number in self.running.drain() {
            let thread = self.threads.get(number);
            thread.transcript.abort_calls_from(thread.turn);
            thread.turn = thread.transcript.parts.len();
            thread.is_aborted = is_for_good;
        }
    }

    fn say(&mut self, role: Role, record: Value<'_, 's>, data: Value<'_, 's>) {
        let number = self.thread(record, data);
        let thread = self.threads.get(number);
        thread.is_aborted = false;
        thread.turn = thread.transcript.parts.len();
        thread.transcript.next_message(role, record);
        if let Some(content) = data.get("content") {
            thread.transcript.part(content, Body::text(Some(content)));
        }
    }

    fn answer(&mut self, record: Value<'_, 's>, data: Value<'_, 's>) {
        let text = data.get("content").filter(|text| text.as_json_str().is_some_and(|text| !text.is_empty()));
        let id = |call: Value<'_, 's>| call.get("toolCallId").map(Value::raw);
        let (told, calls): (Vec<_>, Vec<_>) =
            data.list("toolRequests").partition(|call| id(*call).is_some_and(|id| self.started.contains(id)));
        told.iter().for_each(|_| self.leave_out("events that repeat calls"));
        if text.is_none() && calls.is_empty() {
            // It may hold sealed reasoning, which is not sent again alone.
            self.leave_out("empty messages");
            return;
        }
        let number = self.thread(record, data);
        self.called_in.extend(calls.iter().filter_map(|call| id(*call)).map(|id| (id, number)));
        let thread = self.threads.get(number);
        thread.is_aborted = false;
        // Of a message whose calls were told before, only the text is new.
        let place = text.filter(|_| !told.is_empty()).unwrap_or(record);
        let transcript = thread.transcript.next_message(Role::Assistant, place);
        if let Some(reasoning) = data.get("reasoningText") {
            transcript
                .part(reasoning, parts::reasoning(data.get_any(&["reasoningOpaque", "encryptedContent"])));
        }
        if let Some(text) = text {
            transcript.part(text, Body::text(Some(text)));
        }
        for call in calls {
            transcript.part(call, Body::Call(self::call(call, "name")));
        }
    }

    fn start(&mut self, record: Value<'_, 's>, data: Value<'_, 's>) {
        let id = data.get("toolCallId").map(Value::raw);
        let is_told =
            |id| self.requested.contains(id) || self.called_in.contains_key(id) || self.of_user.contains(id);
        if id.is_none_or(is_told) {
            self.leave_out("events that repeat calls");
            return;
        }
        let number = self.thread(record, data);
        self.called_in.extend(id.map(|id| (id, number)));
        self.started.extend(id);
        let call = self::call(data, "toolName");
        self.threads.get(number).transcript.turn(Role::Assistant, record).part(data, Body::Call(call));
    }
}

/// A call. What a custom tool gets is a text in a grammar of its own (`type` of `toolRequests` in the schema of the SDK's
/// session events). The event that a call starts has no type, and the arguments of a function as an object.
fn call<'s>(call: Value<'_, 's>, name_key: &str) -> Call<'s> {
    let arguments = call.get("arguments");
    let is_text = || arguments.is_some_and(|arguments| arguments.is_string());
    let is_custom = match call.get_str("type") {
        Some(kind) => kind == "custom",
        None => name_key == "toolName" && is_text(),
    };
    let mut read = parts::call(call.get("toolCallId"), call.get(name_key), arguments);
    if is_custom && is_text() {
        read.kind = ToolKind::Custom;
    }
    read
}

impl<'s> Thread<'s, Own> {
    fn complete(&mut self, record: Value<'_, 's>, data: Value<'_, 's>) {
        let content = data.get_in(&["result", "content"]);
        let content = content.or_else(|| data.get_in(&["error", "message"]));
        let is_error = data.get("success").and_then(Value::as_bool).map(|success| !success);
        let result = parts::result(data.get("toolCallId"), content, is_error);
        self.transcript.next_message(Role::Tool, record).part(data, Body::Result(result));
    }
}
