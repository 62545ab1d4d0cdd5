//! OpenCode: the export of a session.
//!
//! One part is both a call and its result, so a result can't get lost; a call that was still running has none.

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_json::{Document, Value};

use super::file_style::FileFixStyle;
use super::parts::{self, in_order};
use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading, own_shape};
use crate::fix_style::FixStyle;
use crate::ir::{Body, Named, Place, Role, Text, Transcript, UnpairedReason};

pub(super) static READER: Reader =
    Reader::log("opencode", "OpenCode session", sniff, read).fixed_by(&FILE_STYLE);

/// A part is both a call and its result, so that nothing has to be added.
static FILE_STYLE: FileFixStyle = FileFixStyle::plain(&FIX_STYLE);

static FIX_STYLE: FixStyle = FixStyle { blocks: Some("parts"), ..FixStyle::OF_PROGRAM };

/// What OpenCode sends in the place of a result that it has cleared, and of the message that asks for a summary
/// (`toModelMessages` in `packages/opencode/src/session/message-v2.ts`).
const CLEARED: &[u8] = br#""[Old tool result content cleared]""#;
const ASKS_FOR_SUMMARY: &[u8] = br#""What did we do so far?""#;

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        let Some(list) = messages_of(record) else { return false };
        let is_named = || {
            let info = record.get("info");
            info.and_then(|info| info.get_str("id")).is_some_and(|id| id.starts_with("ses_"))
        };
        match list.elements().next() {
            Some(first) => is_message(first),
            None => is_named(),
        }
    })
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
    let is_part_list = message.has_list("parts");
    is_part_list && message.get_in(&["info", "role"]).is_some()
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    Reading::of_sessions(records, |record, reading| {
        let list = messages_of(record);
        list.map(|list| read_session(record, list, records.len() > 1, reading)).is_some()
    })
}

fn read_session<'s>(
    record: Value<'_, 's>,
    list: Value<'_, 's>,
    is_one_of_many: bool,
    reading: &mut Reading<'s>,
) {
    let info = record.get("info");
    let is_child = info.and_then(|info| info.get("parentID")).is_some_and(|parent| !parent.is_null());
    let own = info.and_then(|info| info.get_str("id")).filter(|_| is_one_of_many);
    let title = own.map_or_else(|| if is_child { "agent" } else { "main" }.to_owned(), Cow::into_owned);
    let mut messages: Vec<KeptMessage<'_, 's>> = list.elements().map(KeptMessage::of).collect();
    let reverted = info.and_then(|info| info.get("revert")).map(|revert| take_back(&mut messages, revert));
    let next = sent_next(&messages);
    let is_next: HashSet<usize> = next.iter().copied().collect();
    let hidden = (0..messages.len()).filter(|number| !is_next.contains(number));
    let (failed, compacted): (Vec<_>, Vec<_>) = hidden.partition(|number| messages[*number].is_failed());
    let mut session = Session { title, root: record.document().root(), reading };
    let at = |numbers: &[usize]| numbers.iter().map(|number| &messages[*number]).collect::<Vec<_>>();
    for part in compacted.chunk_by(|_, next| messages[*next].compaction().is_none()) {
        session.add(&at(part), ConversationEnd::Compacted);
    }
    let (failed, empty): (Vec<_>, Vec<_>) =
        failed.into_iter().partition(|number| messages[*number].says_something());
    session.reading.left_out.add("messages that failed", empty.len());
    session.add(&at(&failed), ConversationEnd::Aborted);
    session.add(&at(&next), ConversationEnd::Open);
    session.add(&reverted.iter().flatten().collect::<Vec<_>>(), ConversationEnd::Abandoned);
    in_order(&mut session.reading.conversations);
}

/// A message, with those of its parts that the user has not taken back.
struct KeptMessage<'d, 's> {
    message: Value<'d, 's>,
    info: Option<Value<'d, 's>>,
    parts: Vec<Value<'d, 's>>,
}

impl<'d, 's> KeptMessage<'d, 's> {
    fn of(message: Value<'d, 's>) -> Self {
        let parts = message.list("parts").collect();
        Self { message, info: message.get("info"), parts }
    }

    fn of_info(&self, key: &str) -> Option<Value<'d, 's>> {
        self.info.and_then(|info| info.get(key))
    }

    fn id(&self) -> Option<&'s [u8]> {
        self.of_info("id").map(Value::raw)
    }

    fn is_of_model(&self) -> bool {
        self.of_info("role").and_then(Value::as_str).as_deref() == Some("assistant")
    }

    fn error(&self) -> Option<Value<'d, 's>> {
        self.of_info("error").filter(|error| !error.is_null())
    }

    /// Whether an error ended it, so that it is not sent. What the user stopped is, if there is anything in it.
    fn is_failed(&self) -> bool {
        let Some(error) = self.error().filter(|_| self.is_of_model()) else { return false };
        !error.is("name", "MessageAbortedError") || !self.says_something()
    }

    fn says_something(&self) -> bool {
        self.parts.iter().any(|part| !part.is("type", "step-start") && !part.is("type", "reasoning"))
    }

    /// The part that asks for a summary.
    fn compaction(&self) -> Option<Value<'d, 's>> {
        self.parts.iter().copied().find(|part| !self.is_of_model() && part.is("type", "compaction"))
    }

    /// The message with which what a summary leaves begins; `None` if it leaves nothing.
    fn tail(&self) -> Option<&'s [u8]> {
        self.compaction()?.get("tail_start_id").filter(|id| !id.is_null()).map(Value::raw)
    }

    /// The message that asked for it, if it is a summary.
    fn summarises(&self) -> Option<&'s [u8]> {
        let is_summary = self.of_info("summary").and_then(Value::as_bool) == Some(true);
        self.of_info("parentID").filter(|_| self.is_of_model() && is_summary).map(Value::raw)
    }
}

/// Takes away what the user took back: a message or one of its parts, and everything after it.
fn take_back<'d, 's>(
    messages: &mut Vec<KeptMessage<'d, 's>>,
    revert: Value<'d, 's>,
) -> Vec<KeptMessage<'d, 's>> {
    let id = revert.get("messageID").map(Value::raw);
    let Some(number) = messages.iter().position(|message| id.is_some() && message.id() == id) else {
        return Vec::new();
    };
    let Some(part) = revert.get("partID").map(Value::raw) else { return messages.split_off(number) };
    let mut taken = messages.split_off(number + 1);
    let cut = &mut messages[number];
    let is_it = |one: &Value<'_, '_>| one.get("id").is_some_and(|id| id.raw() == part);
    if let Some(start) = cut.parts.iter().position(is_it) {
        let parts = cut.parts.split_off(start);
        taken.insert(0, KeptMessage { parts, ..*cut });
    }
    taken
}

/// The numbers of the messages that OpenCode sends next, in its order: `filterCompacted` in
/// `packages/opencode/src/session/message-v2.ts`. Only a summary that is finished hides what is before it.
fn sent_next(messages: &[KeptMessage<'_, '_>]) -> Vec<usize> {
    let mut completed = HashSet::default();
    let mut tail = None;
    let mut first = 0;
    for (number, message) in messages.iter().enumerate().rev() {
        if tail.is_none() && message.id().is_some_and(|id| completed.contains(id)) {
            match (message.compaction(), message.tail()) {
                (Some(_), None) => {
                    first = number;
                    break;
                }
                (_, wanted) => tail = wanted,
            }
        }
        if tail.is_some() && message.id() == tail {
            first = number;
            break;
        }
        let is_finished = message.of_info("finish").is_some() && message.error().is_none();
        completed.extend(message.summarises().filter(|_| is_finished && tail.is_none()));
    }
    let mut order: Vec<usize> = (first..messages.len()).collect();
    // The summary comes before what it leaves.
    if let Some(asked) = order.iter().rposition(|number| messages[*number].tail().is_some()) {
        let (id, tail) = (messages[order[asked]].id(), messages[order[asked]].tail());
        let summary = (asked + 1..order.len()).find(|at| messages[order[*at]].summarises() == id);
        let start = order[..asked].iter().position(|number| messages[*number].id() == tail);
        if let (Some(summary), Some(start)) = (summary, start) {
            let kept = start..asked;
            let rest = order[asked..=summary].iter().chain(&order[kept]).chain(&order[summary + 1..]);
            order = rest.copied().collect();
        }
    }
    order.retain(|number| !messages[*number].is_failed());
    order
}

struct Session<'r, 'd, 's> {
    title: String,
    root: Value<'d, 's>,
    reading: &'r mut Reading<'s>,
}

impl<'s> Session<'_, '_, 's> {
    fn add(&mut self, messages: &[&KeptMessage<'_, 's>], mut end: ConversationEnd) {
        if messages.is_empty() {
            return;
        }
        let transcript = Transcript::of_conversation(READER.key(), self.root);
        let mut said = OpenConversation { transcript, left_out: &mut self.reading.left_out };
        messages.iter().for_each(|message| said.add(message));
        let mut transcript = said.transcript;
        match end {
            ConversationEnd::Open => transcript.sent_next_by = Some(READER.id),
            _ => transcript.settle_calls_of_last_turn(UnpairedReason::Aborted),
        }
        if end == ConversationEnd::Open
            && messages.iter().rfind(|one| one.is_of_model()).is_some_and(|one| one.error().is_some())
        {
            end = ConversationEnd::Aborted;
        }
        self.reading.conversations.push(Conversation { title: self.title.clone(), transcript, end });
    }
}

struct OpenConversation<'l, 's> {
    transcript: Transcript<'s>,
    left_out: &'l mut LeftOut,
}

impl<'s> OpenConversation<'_, 's> {
    fn add(&mut self, entry: &KeptMessage<'_, 's>) {
        if !entry.is_of_model() {
            self.transcript.next_message(Role::User, entry.message);
            entry.parts.iter().for_each(|part| self.add_part(*part));
            return;
        }
        for step in entry.parts.split(|part| part.is("type", "step-start")) {
            self.add_step(entry.message, step, entry.error().is_some());
        }
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
            self.transcript.settle_calls_of_last(UnpairedReason::Aborted);
        }
        for part in step {
            let is_call = part.is("type", "tool");
            let Some(state) = part.get("state").filter(|_| is_call) else { continue };
            let is_error = match state.get_str("status").as_deref() {
                Some("completed") => false,
                Some("error") => true,
                _ => continue,
            };
            let content = state.get(if is_error { "error" } else { "output" });
            let mut result = parts::result(part.get("callID"), content, Some(is_error));
            if state.get_in(&["time", "compacted"]).is_some() {
                self.left_out.add("results that were cleared from the context", 1);
                (result.content_place, result.content_json) = (None, CLEARED);
            }
            result.name = part.get("tool").and_then(Named::of);
            self.transcript.turn(Role::Tool, *part).part(state, Body::Result(result));
        }
    }

    fn add_part(&mut self, part: Value<'_, 's>) {
        let body = match part.get_str("type").as_deref() {
            Some("text") if part.is_true("ignored") => {
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
            Some("compaction") => {
                let Some(string) = Document::read(ASKS_FOR_SUMMARY).root().as_json_str() else { return };
                Body::Text(Text { string, place: Place::of(part) })
            }
            // Snapshots, costs, names of agents.
            Some("agent" | "patch" | "retry" | "snapshot" | "step-finish" | "step-start" | "subtask") => {
                return;
            }
            _ => {
                self.transcript.unknown(part);
                return;
            }
        };
        self.transcript.part(part, body);
    }
}
