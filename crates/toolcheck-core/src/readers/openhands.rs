//! OpenHands: the events of a conversation, of version 0 (`action` and `observation`) and of version 1 (`kind`), and
//! the `output.jsonl` of evaluations, which has them under `history`.

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::file_style::{FileFixStyle, NewRecord, members_of};
use super::nested::{self, List};
use super::parts::{call, id, is_media, reasoning, result};
use super::{Conversation, ConversationEnd, Reader, Reading};
use crate::fix_style::{self, FixStyle, Missing};
use crate::ir::{Body, Role, ToolKind, Transcript, UnpairedReason};
use crate::names::words;
use crate::unread;

pub(super) static READER: Reader =
    Reader::log("openhands", "OpenHands trajectory", sniff, read).fixed_by(&FILE_STYLE);

/// Each message is an event, which says itself what it is.
static FILE_STYLE: FileFixStyle = FileFixStyle {
    has_kinds: true,
    fixed_records: Some((
        &["args", "extras"],
        "it is a trajectory of version 0, from which OpenHands does not go on",
    )),
    links: Some(("id", "parent_id")),
    record,
    ..FileFixStyle::plain(&FIX_STYLE)
};

static FIX_STYLE: FixStyle = FixStyle {
    result_id: Some("tool_call_id"),
    result: missing_result,
    user: |blocks| Piece::object([("content", Piece::List(blocks))]),
    said: |text| Piece::object([("content", Piece::List(vec![fix_style::typed_text(text)]))]),
    ..FixStyle::OF_PROGRAM
};

fn missing_result(missing: &Missing) -> Option<Piece> {
    let id = missing.id.clone().filter(|_| missing.kind == ToolKind::Function)?;
    Some(fix_style::object([
        ("tool_name", missing.name.clone()),
        ("tool_call_id", Some(id)),
        ("error", Some(missing.said())),
    ]))
}

/// An event of version 1.
fn record(added: NewRecord<'_, '_>) -> Piece {
    let is_result =
        matches!(&added.message, Piece::Object(members) if members.iter().any(|(key, _)| key == "error"));
    let (kind, source) = if is_result { ("AgentErrorEvent", "agent") } else { ("MessageEvent", "user") };
    let mut members = vec![
        ("kind".into(), Piece::text(kind)),
        ("id".into(), added.id),
        ("source".into(), Piece::text(source)),
    ];
    members.extend(members_of(added.after, &["timestamp"]));
    match added.message {
        Piece::Object(own) if is_result => members.extend(own),
        Piece::Object(mut own) => {
            own.insert(0, ("role".into(), Piece::text("user")));
            members.push(("llm_message".into(), Piece::Object(own)));
        }
        message => return message,
    }
    if let Some(parent) = added.after.get("id").filter(|_| added.after.has("parent_id")) {
        members.push(("parent_id".into(), added.before.unwrap_or(Piece::Node(parent.id()))));
    }
    Piece::Object(members)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_paired = |record: &Value<'_, '_>| pairs(*record).is_some();
    if records.iter().any(is_paired) {
        return crate::claim::certainty::OWN_SHAPE;
    }
    nested::certainty_of(records, is_event)
}

fn is_event(value: Value<'_, '_>) -> bool {
    if !value.is_object() || value.get("timestamp").is_none() {
        return false;
    }
    let is_text = |key: &str| value.has_text(key);
    let has = |key: &str| value.get(key).is_some();
    is_text("action") && has("args") && has("message")
        || is_text("observation") && has("extras") && has("content")
        || is_text("source") && value.get_str("kind").is_some_and(|kind| is_kind(&kind))
}

/// Whether a value is an event of version 1, also of a kind that does not show the program.
fn is_any_event(value: Value<'_, '_>) -> bool {
    is_event(value)
        || value.has_all(&["id", "timestamp", "source"])
            && value.get_str("kind").is_some_and(|kind| kind.ends_with("Event"))
}

fn is_kind(kind: &str) -> bool {
    const KINDS: [&str; 9] = words(
        "SystemPromptEvent MessageEvent ActionEvent ObservationEvent AgentErrorEvent UserRejectObservation Condensation \
        ConversationStateUpdateEvent PauseEvent",
    );
    KINDS.contains(&kind)
}

/// The history of an early `output.jsonl`: pairs of an action and its observation.
fn pairs<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let history = record.get("history")?;
    let first = history.elements().next().filter(|first| first.is_array())?;
    first.elements().any(|event| is_event(event)).then_some(history)
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut others = 0;
    let (paired, plain): (Vec<_>, Vec<_>) = records.iter().partition(|record| pairs(**record).is_some());
    for (number, record) in paired.into_iter().enumerate() {
        let history = pairs(record).into_iter().flat_map(|history| history.elements());
        let messages: Vec<_> = history.flat_map(|pair| pair.elements()).collect();
        let title = format!("record {} /history", number + 1);
        let list = List { title, messages, is_of_span: false };
        reading.conversations.extend(conversations(&list, &mut others));
    }
    let found = nested::find(&plain, is_any_event);
    for list in &found.lists {
        reading.conversations.extend(conversations(list, &mut others));
    }
    // Its agents keep a file for each event.
    let is_alone = matches!(records, [only] if only.has("kind") && is_any_event(*only));
    reading.left_out.add(NEIGHBOURS, usize::from(is_alone));
    reading.left_out.add("events that are not messages", others);
    reading.left_out.add("events outside of lists", found.alone);
    reading
}

/// What is not read of a file that holds one event.
const NEIGHBOURS: &str = "other files of this conversation, which has one for each event";

struct Events<'d, 's> {
    transcript: Transcript<'s>,
    /// The id of the call of each action of version 0, by the id of the event.
    by_event: HashMap<&'s [u8], Value<'d, 's>>,
    others: usize,
}

/// The conversation that is sent next, after what its summary has taken the place of.
fn conversations<'s>(list: &List<'_, 's>, others: &mut usize) -> Vec<Conversation<'s>> {
    let title = if list.title == "messages" { "events" } else { &*list.title };
    let (branch, left): (Vec<_>, Vec<_>) = on_branch(&list.messages);
    let view = View::of(&branch);
    let (forgotten, kept): (Vec<_>, Vec<_>) = branch.into_iter().partition(|event| view.forgets(*event));
    let mut found = Vec::new();
    if !left.is_empty() {
        let mut before = conversation(format!("{title}, left"), &left, None, others);
        before.transcript.settle_calls_of_last_turn(UnpairedReason::Aborted);
        before.end = ConversationEnd::Abandoned;
        found.push(before);
    }
    if !forgotten.is_empty() {
        let mut before = conversation(format!("{title}, forgotten"), &forgotten, None, others);
        before.transcript.settle_calls_of_last_turn(UnpairedReason::Aborted);
        before.end = ConversationEnd::Compacted;
        found.push(before);
    }
    if !kept.is_empty() {
        let mut next = conversation(title.to_owned(), &kept, view.summary, others);
        if matches!(next.end, ConversationEnd::Open | ConversationEnd::Aborted) {
            next.transcript.sent_next_by = Some(READER.id);
        }
        found.push(next);
    }
    found
}

/// The events on the way from the first to the last one, and those that the user went back from. An event that names none
/// before it follows the one that is written before it (`path_to_root` in
/// `openhands-sdk/openhands/sdk/conversation/event_store.py`).
fn on_branch<'d, 's>(events: &[Value<'d, 's>]) -> (Vec<Value<'d, 's>>, Vec<Value<'d, 's>>) {
    if events.iter().all(|event| event.get("parent_id").is_none_or(Value::is_null)) {
        return (events.to_vec(), Vec::new());
    }
    let moves = |event: &Value<'_, '_>| {
        let kind = event.get_str("kind");
        !matches!(kind.as_deref(), Some("ConversationStateUpdateEvent" | "ConversationErrorEvent"))
    };
    let mut number_of: HashMap<&[u8], usize> = HashMap::default();
    let mut parents = Vec::with_capacity(events.len());
    for (number, event) in events.iter().enumerate() {
        let parent = event.get("parent_id").filter(|parent| !parent.is_null());
        // A parent stands before its children, so that there are no circles.
        parents.push(match parent {
            Some(parent) => number_of.get(parent.raw()).copied(),
            None => number.checked_sub(1),
        });
        number_of.extend(event.get("id").map(|id| (id.raw(), number)));
    }
    let last = events.iter().rposition(moves);
    let way: HashSet<usize> = std::iter::successors(last, |number| parents[*number]).collect();
    let is_on_way = |(number, event): &(usize, Value<'_, '_>)| way.contains(number) || !moves(event);
    let (way, left): (Vec<_>, Vec<_>) = events.iter().copied().enumerate().partition(is_on_way);
    let events = |list: Vec<(usize, Value<'d, 's>)>| list.into_iter().map(|(_, event)| event).collect();
    (events(way), events(left))
}

/// What condensations leave of the events: `View` in `openhands-sdk/openhands/sdk/context/view/view.py`.
#[derive(Default)]
struct View<'d, 's> {
    forgotten: HashSet<&'s [u8]>,
    /// Version 0 may name the first and the last number.
    ranges: Vec<(u64, u64)>,
    summary: Option<Summary<'d, 's>>,
}

/// What stands in the place of forgotten events.
#[derive(Clone, Copy)]
struct Summary<'d, 's> {
    event: Value<'d, 's>,
    text: Value<'d, 's>,
    /// How many messages are before it.
    offset: usize,
}

impl<'d, 's> View<'d, 's> {
    fn of(events: &[Value<'d, 's>]) -> Self {
        let mut view = Self::default();
        for &event in events {
            let condensation = match (event.get_str("kind").as_deref(), event.get_str("action").as_deref()) {
                (Some("Condensation"), _) => event,
                (_, Some("condensation")) => event.get("args").unwrap_or(event),
                _ => continue,
            };
            let ids = condensation.list("forgotten_event_ids");
            view.forgotten.extend(ids.map(Value::raw));
            let number = |key: &str| condensation.get(key).and_then(Value::as_u64);
            view.ranges.extend(number("forgotten_events_start_id").zip(number("forgotten_events_end_id")));
            if let Some(text) = condensation.get("summary").filter(|text| text.is_string()) {
                let offset = number("summary_offset").and_then(|offset| usize::try_from(offset).ok());
                view.summary = Some(Summary { event, text, offset: offset.unwrap_or_default() });
            }
        }
        view.ranges = merged(view.ranges);
        view.forget_batches(events);
        view
    }

    /// What is forgotten of the calls of a response takes the others along, and what was observed of them
    /// (`BatchAtomicityProperty` in `openhands-sdk/openhands/sdk/context/view/properties/batch_atomicity.py`).
    fn forget_batches(&mut self, events: &[Value<'d, 's>]) {
        let raw = |event: &Value<'d, 's>, key: &str| event.get(key).map(Value::raw);
        let batch =
            |event: &Value<'d, 's>| raw(event, "llm_response_id").filter(|_| event.is("kind", "ActionEvent"));
        let gone: HashSet<_> = events.iter().filter(|one| self.forgets(**one)).filter_map(batch).collect();
        let is_gone = |event: &&Value<'d, 's>| batch(event).is_some_and(|id| gone.contains(id));
        let calls: HashSet<_> = events.iter().filter(is_gone).filter_map(|event| raw(event, "id")).collect();
        let answers = |event: &&Value<'d, 's>| raw(event, "action_id").is_some_and(|id| calls.contains(id));
        self.forgotten.extend(events.iter().filter(answers).filter_map(|event| raw(event, "id")));
        self.forgotten.extend(calls);
    }

    fn forgets(&self, event: Value<'_, '_>) -> bool {
        let Some(id) = event.get("id") else { return false };
        let is_in = |number: u64| {
            let before = self.ranges.partition_point(|(start, _)| *start <= number);
            before > 0 && number <= self.ranges[before - 1].1
        };
        self.forgotten.contains(id.raw()) || id.as_u64().is_some_and(is_in)
    }
}

/// Ranges in order that do not meet.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn conversation<'d, 's>(
    title: String,
    messages: &[Value<'d, 's>],
    mut summary: Option<Summary<'d, 's>>,
    others: &mut usize,
) -> Conversation<'s> {
    let root = messages[0].document().root();
    let mut events = Events {
        transcript: Transcript::of_conversation(READER.key(), root),
        by_event: HashMap::default(),
        others: 0,
    };
    let mut end = ConversationEnd::Open;
    // The number of events that are sent.
    let mut seen = 0;
    for &event in messages {
        if let Some(due) = summary.take_if(|summary| summary.offset <= seen) {
            events.summarise(due);
        }
        let before = events.transcript.parts.len();
        match event.get_str("kind").as_deref() {
            Some("PauseEvent" | "InterruptEvent") => end = ConversationEnd::Aborted,
            Some(_) if event.has("source") => end = ConversationEnd::Open,
            _ if event.is("action", "finish") => end = ConversationEnd::Complete,
            _ => {}
        }
        match event.get_str("kind").as_deref() {
            Some(kind)
                if event
                    .get_any(&["action", "observation"])
                    .is_none_or(|inner| inner.as_json_str().is_none()) =>
            {
                events.read_kind(event, kind);
            }
            _ => events.read_event(event),
        }
        seen += usize::from(events.transcript.parts.len() > before);
    }
    if let Some(due) = summary {
        events.summarise(due);
    }
    events.transcript.settle_results_of_first(UnpairedReason::Elsewhere);
    *others += events.others;
    Conversation { title, transcript: events.transcript, end }
}

impl<'d, 's> Events<'d, 's> {
    /// A summary takes the place of what was forgotten.
    fn summarise(&mut self, summary: Summary<'d, 's>) {
        self.transcript
            .next_message(Role::User, summary.event)
            .part(summary.text, Body::text(Some(summary.text)));
    }

    fn read_event(&mut self, event: Value<'d, 's>) {
        let metadata = event.get("tool_call_metadata").filter(|metadata| metadata.is_object());
        let action = event.get_str("action").filter(|action| !action.is_empty());
        let Some(action) = action else {
            self.read_observation(event, metadata);
            return;
        };
        let arguments = event.get("args");
        let text = arguments.and_then(|arguments| arguments.get_any(&["content", "thought"]));
        let Some(metadata) = metadata else {
            let role = match (&*action, event.get_str("source").as_deref()) {
                ("system", _) => Role::System,
                ("message", Some("user")) => Role::User,
                ("message" | "finish" | "think" | "run" | "run_ipython" | "edit" | "read" | "write", _) => {
                    Role::Assistant
                }
                _ => {
                    self.others += 1;
                    return;
                }
            };
            self.transcript.next_message(role, event);
            if text.is_some_and(|text| text.is_string()) {
                self.transcript.part(event, Body::text(text));
            }
            return;
        };
        let call_id = id(metadata.get("tool_call_id"));
        if let (Some(number), Some(call_id)) = (event.get("id"), call_id) {
            self.by_event.insert(number.raw(), call_id);
        }
        let thought = arguments.and_then(|arguments| arguments.get("thought"));
        self.transcript.turn(Role::Assistant, event);
        if thought.is_some_and(|text| text.as_json_str().is_some_and(|text| !text.is_empty())) {
            self.transcript.part(event, Body::text(thought));
        }
        let arguments = written_arguments(metadata, call_id).or(arguments);
        let mut call = call(call_id, metadata.get("function_name"), arguments);
        let waits = |arguments: Value<'_, '_>| arguments.is("confirmation_state", "awaiting_confirmation");
        call.unpaired = match &*action {
            // Nothing is ever observed of what ends the work.
            "finish" | "reject" => Some(UnpairedReason::Elsewhere),
            _ if event.get("args").is_some_and(waits) => Some(UnpairedReason::Consent),
            _ => None,
        };
        self.transcript.part(event, Body::Call(call));
    }

    fn read_observation(&mut self, event: Value<'d, 's>, metadata: Option<Value<'d, 's>>) {
        let kind = event.get_str("observation").unwrap_or_default();
        let own = metadata.and_then(|metadata| id(metadata.get("tool_call_id")));
        let of_cause = || {
            let cause = event.get("cause").filter(|_| kind != "null")?;
            self.by_event.get(cause.raw()).copied()
        };
        let Some(call_id) = own.or_else(of_cause) else {
            let state = event.get("extras").and_then(|extras| extras.get_str("agent_state"));
            if matches!(state.as_deref(), Some("stopped" | "error" | "rejected" | "rate_limited")) {
                self.abort();
            }
            self.others += 1;
            return;
        };
        let is_error = matches!(&*kind, "error" | "user_rejected");
        let result = result(Some(call_id), event.get("content"), is_error.then_some(true));
        self.transcript.turn(Role::Tool, event).part(event, Body::Result(result));
    }

    /// The agent was stopped before the last calls had results.
    fn abort(&mut self) {
        if self.transcript.messages.last().is_some_and(|last| last.role == Role::Assistant) {
            self.transcript.settle_calls_of_last(UnpairedReason::Aborted);
        }
    }

    fn read_kind(&mut self, event: Value<'d, 's>, kind: &str) {
        let blocks = |block: Value<'_, 's>| {
            let kind = block.get_str("type").unwrap_or_default();
            Some(if is_media(&kind) { Body::Media } else { Body::Opaque })
        };
        let transcript = &mut self.transcript;
        let content = match kind {
            "SystemPromptEvent" => {
                let prompt = event.get("system_prompt");
                let text = prompt.and_then(|prompt| prompt.get("text")).or(prompt);
                transcript.next_message(Role::System, event).part(event, Body::text(text));
                return;
            }
            "MessageEvent" => {
                let message = event.get("llm_message");
                let is_user = event.is("source", "user");
                let role = if is_user { Role::User } else { Role::Assistant };
                let content = message.and_then(|message| message.get("content"));
                transcript.next_message(role, event).content(content, blocks);
                return;
            }
            "ActionEvent" => {
                transcript.turn(Role::Assistant, event).content(event.get("thought"), blocks);
                for block in event.list("thinking_blocks") {
                    transcript.part(block, reasoning(block.get("signature")));
                }
                let written = event.get("tool_call");
                let inner = written.map(|written| written.get("function").unwrap_or(written));
                let name = event.get("tool_name").or_else(|| inner?.get("name"));
                let arguments =
                    inner.and_then(|inner| inner.get("arguments")).or_else(|| event.get("action"));
                let call_id = event.get("tool_call_id").or_else(|| written?.get("id"));
                transcript.part(event, Body::Call(call(id(call_id), name, arguments)));
                return;
            }
            "ObservationEvent" => event
                .get("observation")
                .map(|observation| observation.get_any(&["content", "output"]).unwrap_or(observation)),
            "AgentErrorEvent" => event.get("error"),
            "UserRejectObservation" => event.get("rejection_reason"),
            "PauseEvent" | "InterruptEvent" | "ConversationErrorEvent" => {
                self.abort();
                self.others += 1;
                return;
            }
            // What an agent of the Agent Client Protocol has run itself: no model is sent it (`ACPToolCallEvent` in
            // `openhands-sdk/openhands/sdk/event/acp_tool_call.py`).
            "ACPToolCallEvent" => {
                self.others += 1;
                return;
            }
            _ => {
                match unread::record(event) {
                    Some(unread) => transcript.unread.push(unread),
                    None => self.others += 1,
                }
                return;
            }
        };
        let is_error = kind != "ObservationEvent"
            || event.get("observation").and_then(|one| one.get("is_error")?.as_bool()) == Some(true);
        let result = result(id(event.get("tool_call_id")), content, Some(is_error));
        transcript.turn(Role::Tool, event).part(event, Body::Result(result));
    }
}

/// The arguments of a call as the model wrote them, from the response that is kept with an action.
fn written_arguments<'d, 's>(
    metadata: Value<'d, 's>,
    call_id: Option<Value<'d, 's>>,
) -> Option<Value<'d, 's>> {
    let choices = metadata.get("model_response")?.get("choices")?;
    let message = choices.elements().next()?.get("message")?;
    let is_it = |one: &Value<'_, '_>| one.get("id").map(Value::raw) == call_id.map(Value::raw);
    message.get("tool_calls")?.elements().find(is_it)?.get("function")?.get("arguments")
}
