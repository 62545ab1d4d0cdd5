//! Codex: the rollout of a session.
//!
//! The items are those of the Responses API, each in a record of its own. Records of events repeat them for the screen, so
//! only the events that change the conversation count. A compaction says what takes the place of everything before it.

use foldhash::HashSet;
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::file_style::{FileFixStyle, NewRecord, members_of};
use super::{Conversation, ConversationEnd, Reader, Reading};
use crate::claim::certainty;
use crate::fix_style::FixStyle;
use crate::formats::openai_responses;
use crate::ir::{Body, Place, Role, Transcript, UnpairedReason};
use crate::names::words;

pub(super) static READER: Reader =
    Reader::log("codex", "Codex session", sniff, read).or_one_list().or_wrapped().fixed_by(&FILE_STYLE);

static FILE_STYLE: FileFixStyle = FileFixStyle {
    format: Some(&openai_responses::FORMAT),
    message: Some("payload"),
    fixed_records: Some((
        &["ordinal"],
        "its records are numbered, and versions of the program refuse a file with a gap in the numbers",
    )),
    record,
    ..FileFixStyle::plain(&FIX_STYLE)
};

/// A message names its type and has a list of texts (`ResponseItem` in `codex-rs/protocol/src/models.rs`). Codex passes over a
/// line that it cannot parse (`codex-rs/rollout/src/recorder.rs`).
static FIX_STYLE: FixStyle = FixStyle {
    user: message,
    said: |text| message(vec![(openai_responses::FIX_STYLE.text)(text)]),
    ..openai_responses::FIX_STYLE
};

fn message(content: Vec<Piece>) -> Piece {
    let (kind, role) = (Piece::text("message"), Piece::text("user"));
    Piece::object([("type", kind), ("role", role), ("content", Piece::List(content))])
}

fn record(added: NewRecord<'_, '_>) -> Piece {
    if added.after.get("payload").is_none() {
        return added.message;
    }
    let mut members = members_of(added.after, &["timestamp"]);
    members.push(("type".into(), Piece::text("response_item")));
    members.push(("payload".into(), added.message));
    Piece::Object(members)
}

const KINDS: [&str; 10] = words(
    "session_meta response_item event_msg turn_context compacted world_state token_usage_record \
    inter_agent_communication inter_agent_communication_metadata history_mutation",
);

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_record = |record: &Value<'_, '_>| {
        record.has("timestamp") && record.has_object("payload") && record.is_one_of("type", &KINDS)
    };
    if records.iter().any(is_record) || is_of_first_version(records) { certainty::OWN_SHAPE } else { 0 }
}

/// Whether the records have no wrapper: after a header, the first version wrote the items as they are.
fn is_of_first_version(records: &[Value<'_, '_>]) -> bool {
    let [first, second, ..] = records else { return false };
    let is_header = first.has("id")
        && first.has("timestamp")
        && first.has("instructions")
        && !first.has("type")
        && !first.has("input");
    is_header && (second.has("record_type") || second.has("type"))
}

enum RecordKind<'d, 's> {
    Item(Value<'d, 's>),
    /// Items that TRAE CLI, which goes on from Codex, adds at once.
    Items(Value<'d, 's>),
    /// A compaction: what takes the place of what was said.
    Compaction(Value<'d, 's>),
    /// The user or an error ended the turn, or the program was started again.
    Abort,
    /// The user took back as many turns.
    RolledBack(u64),
    /// The model's answer is whole: what it says next is of another one.
    Answered,
    /// Anything else, by its kind.
    Other(&'static str),
    Unknown,
}

fn entry<'d, 's>(record: Value<'d, 's>) -> RecordKind<'d, 's> {
    let Some(payload) = record.get("payload").filter(|payload| payload.is_object()) else {
        return entry_of_first_version(record);
    };
    match record.get_str("type").as_deref() {
        Some("response_item") => item(payload),
        Some("compacted") => RecordKind::Compaction(payload),
        Some("history_mutation") if payload.is("operation", "append") => {
            payload.get("items").map_or(RecordKind::Unknown, RecordKind::Items)
        }
        Some("event_msg") => match payload.get_str("type").as_deref() {
            Some("turn_aborted" | "error") => RecordKind::Abort,
            // It comes with the end of a response, and when its headers say what is left of a limit.
            Some("token_count") => RecordKind::Answered,
            Some("thread_rolled_back") => {
                RecordKind::RolledBack(payload.get("num_turns").and_then(Value::as_u64).unwrap_or(1))
            }
            _ => RecordKind::Other("event records"),
        },
        // Each start writes one. What ran when the program was ended is not answered any more.
        Some("session_meta") => RecordKind::Abort,
        Some("turn_context" | "world_state" | "token_usage_record") => RecordKind::Other("settings records"),
        Some("inter_agent_communication" | "inter_agent_communication_metadata") => {
            RecordKind::Other("messages between agents")
        }
        _ => RecordKind::Unknown,
    }
}

fn item<'d, 's>(item: Value<'d, 's>) -> RecordKind<'d, 's> {
    let is_hosted = match item.get_str("type").as_deref() {
        Some("web_search_call" | "file_search_call" | "code_interpreter_call") => true,
        Some("image_generation_call" | "mcp_call") => true,
        Some("tool_search_call" | "tool_search_output") => item.is("execution", "server"),
        _ => false,
    };
    if is_hosted { RecordKind::Other("calls that the provider ran") } else { RecordKind::Item(item) }
}

fn entry_of_first_version<'d, 's>(record: Value<'d, 's>) -> RecordKind<'d, 's> {
    if record.has("type") && record.get_any(&["payload", "timestamp"]).is_none() {
        item(record)
    } else if record.has("record_type") || record.has("instructions") {
        RecordKind::Other("settings records")
    } else {
        RecordKind::Unknown
    }
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut history = History::default();
    for &record in records {
        // That of a fork, or of a session that was continued (`history_base` in `SessionMeta`, since 0.146).
        let base = record.get_in(&["payload", "history_base"]);
        history.is_continued |= history.items.is_empty() && base.is_some_and(Value::is_object);
        match entry(record) {
            RecordKind::Item(item) => history.add(item),
            RecordKind::Items(items) => {
                for one in items.elements() {
                    match item(one) {
                        RecordKind::Other(what) => reading.left_out.add(what, 1),
                        _ => history.add(one),
                    }
                }
            }
            RecordKind::Compaction(payload) => {
                let kept = history.kept(payload);
                history.end(ConversationEnd::Replaced, &mut reading);
                history.kept = kept;
                match payload.get("replacement_history").filter(|items| items.is_array()) {
                    Some(items) => items.elements().for_each(|item| history.add(item)),
                    None => history.items.extend(summary_of(payload).map(|_| payload)),
                }
            }
            RecordKind::Abort => history.abort(),
            RecordKind::RolledBack(turns) => {
                history.roll_back(turns).end(ConversationEnd::Replaced, &mut reading);
            }
            RecordKind::Answered => {
                history.answers.push(history.items.len());
                reading.leave_out("event records");
            }
            RecordKind::Other(what) => reading.left_out.add(what, 1),
            RecordKind::Unknown => reading.leave_out_unknown("records of unknown kinds", record),
        }
    }
    let end = if history.is_aborted() { ConversationEnd::Aborted } else { ConversationEnd::Open };
    history.end(end, &mut reading);
    reading.in_order()
}

/// What the model sees, as far as it has been read.
#[derive(Default)]
struct History<'d, 's> {
    /// What the user has said before the last compaction. It is read once, where it is sent next.
    kept: Vec<Value<'d, 's>>,
    items: Vec<Value<'d, 's>>,
    /// The numbers of the items with which the user began a turn.
    turns: Vec<usize>,
    /// The numbers of the items before which a turn was aborted.
    aborts: Vec<usize>,
    /// The numbers of the items before which an answer ended.
    answers: Vec<usize>,
    /// Whether it goes on from what only another file has.
    is_continued: bool,
}

impl<'d, 's> History<'d, 's> {
    fn add(&mut self, item: Value<'d, 's>) {
        if begins_turn(item) {
            self.turns.push(self.items.len());
        }
        self.items.push(item);
    }

    /// What the user has said before a compaction, if that says only what it was about: the first versions put it before the
    /// summary (`build_compacted_history` in `codex-rs/core/src/compact.rs`).
    fn kept(&mut self, payload: Value<'d, 's>) -> Vec<Value<'d, 's>> {
        if payload.has_list("replacement_history") {
            return Vec::new();
        }
        let mut kept = std::mem::take(&mut self.kept);
        kept.extend(self.turns.iter().map(|turn| self.items[*turn]).filter(|item| is_of(*item, "user")));
        kept
    }

    fn abort(&mut self) {
        if self.aborts.last() != Some(&self.items.len()) {
            self.aborts.push(self.items.len());
        }
    }

    fn is_aborted(&self) -> bool {
        !self.items.is_empty() && self.aborts.last() == Some(&self.items.len())
    }

    /// Takes the last turns away, and returns them.
    fn roll_back(&mut self, turns: u64) -> Self {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let kept = self.turns.len().saturating_sub(turns);
        let Some(&start) = self.turns.get(kept) else { return Self::default() };
        self.turns.truncate(kept);
        self.answers.retain(|answer| *answer <= start);
        let aborts = self.aborts.split_off(self.aborts.partition_point(|abort| *abort <= start));
        let aborts = aborts.into_iter().map(|abort| abort - start).collect();
        Self { items: self.items.split_off(start), aborts, ..Self::default() }
    }

    /// Ends the conversation here; what follows is another.
    fn end(&mut self, end: ConversationEnd, reading: &mut Reading<'s>) {
        let history = std::mem::take(self);
        let answered: HashSet<&[u8]> = history
            .items
            .iter()
            .filter(|item| !is_notice(**item))
            .filter_map(|item| output_id(*item))
            .collect();
        let Some(first) = history.items.first() else { return };
        let mut transcript = Transcript::of_conversation(READER.key(), first.document().root());
        let mut aborts = history.aborts.iter().copied().peekable();
        let mut answers = history.answers.iter().copied().peekable();
        let mut turn = 0;
        for (number, item) in history.kept.iter().enumerate().filter(|_| end != ConversationEnd::Replaced) {
            openai_responses::read_item(&mut transcript, *item, number);
        }
        for (number, item) in history.items.iter().enumerate() {
            if aborts.next_if_eq(&number).is_some() {
                transcript.abort_calls_from(turn);
                turn = transcript.parts.len();
            }
            if begins_turn(*item) {
                turn = transcript.parts.len();
            }
            while answers.next_if_eq(&number).is_some() {
                transcript.details.answers.push(transcript.parts.len());
            }
            if is_notice(*item) && output_id(*item).is_some_and(|id| answered.contains(id)) {
                reading.leave_out("notices of calls that were under way");
                continue;
            }
            if let Some(summary) = summary_of(*item) {
                transcript.next_message(Role::User, *item).part(summary, Body::text(Some(summary)));
                continue;
            }
            openai_responses::read_item(&mut transcript, *item, history.kept.len() + number);
            let arguments = item.get("arguments").filter(|arguments| arguments.is_object());
            transcript.details.arguments_of_other_type.extend(arguments.map(Place::of));
        }
        if end != ConversationEnd::Open {
            transcript.settle_calls_from(turn, UnpairedReason::Aborted);
        }
        transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        if history.is_continued {
            reading.leave_out("earlier content that only another file has");
            transcript.settle_results_before_calls(UnpairedReason::Elsewhere);
        }
        if end != ConversationEnd::Replaced {
            transcript.sent_next_by = Some(READER.id);
        }
        reading.conversations.push(Conversation::new("main", transcript, end));
    }
}

/// The id of the call that an output of a custom tool answers.
fn output_id<'s>(item: Value<'_, 's>) -> Option<&'s [u8]> {
    let is_output = item.is("type", "custom_tool_call_output");
    item.get("call_id").filter(|_| is_output).map(Value::raw)
}

/// Whether an output is what a script said while it ran, with `notify`: it names the tool, and the result does not
/// (`codex-rs/core/src/tools/code_mode`). It is sent beside the result.
fn is_notice(item: Value<'_, '_>) -> bool {
    item.get_str("name").is_some() && output_id(item).is_some()
}

/// The summary in the record of a compaction of the first versions.
fn summary_of<'d, 's>(item: Value<'d, 's>) -> Option<Value<'d, 's>> {
    item.get("message").filter(|summary| item.get("type").is_none() && summary.is_string())
}

fn is_of(item: Value<'_, '_>, role: &str) -> bool {
    item.is("role", role)
}

/// The beginnings of what Codex itself adds in the name of the user (`codex-rs/core/src/context/contextual_user_message.rs`).
const ADDED: &str = include_str!("codex_added.txt");

/// Whether a turn begins with an item, as far as Codex takes turns back: with a message of the user in which Codex has added
/// nothing, or with what another agent says (`is_user_turn_boundary` in `codex-rs/core/src/context_manager/history.rs`).
fn begins_turn(item: Value<'_, '_>) -> bool {
    let has = |beginnings: &str| {
        let parts = item.list("content");
        let mut texts = parts.filter_map(|part| part.get_str("text"));
        texts.any(|text| beginnings.lines().any(|start| text.trim_start().starts_with(start)))
    };
    item.is("type", "agent_message")
        || is_of(item, "user") && !has(ADDED)
        || is_of(item, "assistant") && has("{\"author\":")
}
