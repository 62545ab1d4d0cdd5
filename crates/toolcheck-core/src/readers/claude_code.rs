//! Claude Code: the log of a session, and what the Agent SDK prints as `stream-json`.
//!
//! A record holds one block of a turn, so the blocks of one `message.id` are put together, in the order of the file. The
//! tree of `parentUuid` is no help: the results of parallel calls are siblings in it and not a chain, so that a walk from
//! the last record would lose them. Only where the user went back to an earlier message does it tell what was left.

use foldhash::{HashMap, HashSet};
use toolcheck_json::edit::Piece;
use toolcheck_json::{NodeId, Value};

use super::file_style::{FileFixStyle, NewRecord, members_of};
use super::next::NextRequest;
use super::{Conversation, ConversationEnd, Reader, Reading, qwen_code};
use crate::claim::certainty;
use crate::formats::anthropic;
use crate::ir::{Role, Transcript, UnpairedReason};
use crate::names::words;

pub(super) static READER: Reader = Reader::log("claude-code", "Claude Code session", sniff, read)
    .or_one_list()
    .or_wrapped()
    .fixed_by(&FILE_STYLE);

/// Each result is in a record of its own, which names the record of its call.
static FILE_STYLE: FileFixStyle = FileFixStyle {
    format: Some(&anthropic::FORMAT),
    message: Some("message"),
    is_alone: true,
    links: Some(("uuid", "parentUuid")),
    record,
    ..FileFixStyle::plain(anthropic::FORMAT.fix_style)
};

const OF_SESSION: [&str; 10] =
    words("isSidechain userType cwd sessionId version gitBranch slug agentId session_id parent_tool_use_id");

fn record(added: NewRecord<'_, '_>) -> Piece {
    let mut members = Vec::new();
    let parent = added.after.get("uuid").map(|id| Piece::Node(id.id()));
    // The stream of the SDK has no chain of records.
    let is_chained = added.after.has("parentUuid");
    members.extend(parent.clone().filter(|_| is_chained).map(|parent| ("parentUuid".into(), parent)));
    members.extend(members_of(added.after, &OF_SESSION));
    members.push(("type".into(), Piece::text("user")));
    members.push(("message".into(), added.message));
    members.push(("uuid".into(), added.id));
    members.extend(members_of(added.after, &["timestamp"]));
    members.extend(parent.filter(|_| is_chained).map(|parent| ("sourceToolAssistantUUID".into(), parent)));
    Piece::Object(members)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    // Qwen Code has the same tree of records.
    let is_other = || records.iter().any(|record| qwen_code::is_record(*record));
    let sure = records.iter().map(|record| certainty_of(*record)).max().unwrap_or_default();
    if sure > 0 && is_other() { 0 } else { sure }
}

fn certainty_of(record: Value<'_, '_>) -> u8 {
    let has = |key: &str| record.get(key).is_some();
    let kind = record.get_str("type");
    let is_message = || record.has_object("message");
    // The SDK's stream names the session in snake case.
    let is_of_stream = || match kind.as_deref() {
        Some("assistant" | "user") => is_message() && has("parent_tool_use_id"),
        // Hooks may run before anything else is told.
        Some("system") => match record.get_str("subtype").as_deref() {
            Some("init") => has("cwd"),
            Some("hook_started" | "hook_response") => has("hook_id") && has("hook_event"),
            _ => false,
        },
        _ => false,
    };
    if has("sessionId") && has("uuid") && (has("isSidechain") || has("parentUuid"))
        || has("session_id") && is_of_stream()
    {
        return certainty::OWN_SHAPE;
    }
    // What may stand at the start of a log, before the first message.
    let of_session =
        || has("sessionId") && kind.is_some() && (has("operation") || has("messageId") || is_message());
    if of_session()
        || has("summary") && has("leafUuid")
        || has("messageId") && has("snapshot") && kind.is_some()
    {
        certainty::LIKELY
    } else {
        0
    }
}

enum RecordKind<'d, 's> {
    Message(Role, Value<'d, 's>),
    /// A summary replaces what was said before, but for the records that it keeps.
    Compaction,
    /// An error of the API ended the turn. It is shown to the user, and not sent.
    Failure,
    /// Anything else, by its kind.
    Other(&'static str),
    /// A record of a type that has nothing to do with the conversation, or is new.
    Unknown,
}

fn entry<'d, 's>(record: Value<'d, 's>) -> RecordKind<'d, 's> {
    let kind = record.get_str("type");
    let role = match kind.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") if record.is("subtype", "compact_boundary") => {
            return RecordKind::Compaction;
        }
        // It repeats the whole messages of a sub-agent, which has a file of its own.
        Some("progress") => return RecordKind::Other("progress records"),
        Some("stream_event") => return RecordKind::Other("stream events"),
        _ => return RecordKind::Unknown,
    };
    let Some(message) = record.get("message").filter(|message| message.is_object()) else {
        return RecordKind::Unknown;
    };
    if record.is_true("isApiErrorMessage") || message.is("model", "<synthetic>") {
        return RecordKind::Failure;
    }
    RecordKind::Message(role, message)
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut threads: Vec<Thread<'_, 's>> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::default();
    let mut seen = HashSet::default();
    let snipped = snipped(records);
    for &record in records {
        let entry = entry(record);
        match entry {
            RecordKind::Other(what) => reading.leave_out(what),
            RecordKind::Unknown => reading.leave_out_unknown("records that are not messages", record),
            _ => {}
        }
        if matches!(entry, RecordKind::Other(_) | RecordKind::Unknown) {
            if let Some(&number) = numbers.get(&title(record)) {
                threads[number].places.add_link(record);
            }
            continue;
        }
        // A session that was resumed repeats what was said before.
        let uuid = record.get("uuid").filter(|_| matches!(entry, RecordKind::Message(..))).map(Value::raw);
        if let Some(uuid) = uuid
            && !seen.insert(uuid)
        {
            reading.leave_out("repeated records");
            continue;
        }
        let title = title(record);
        let number = *numbers.entry(title).or_insert_with_key(|title| {
            threads.push(Thread { title: title.clone(), ..Thread::default() });
            threads.len() - 1
        });
        let thread = &mut threads[number];
        match entry {
            RecordKind::Message(role, message) if uuid.is_some_and(|uuid| snipped.contains(uuid)) => {
                thread.snipped.push(Turn { role, messages: vec![message], unpaired: None });
            }
            RecordKind::Message(role, message) => thread.add(role, (record, uuid), message),
            RecordKind::Compaction => thread.compact(record),
            RecordKind::Failure => {
                thread.abort(UnpairedReason::Aborted);
                reading.leave_out("error messages");
            }
            RecordKind::Other(_) | RecordKind::Unknown => {}
        }
    }
    let version = records.iter().rev().find_map(|record| record.get_str("version"));
    let agent = NextRequest::at_version(READER.id, version.as_deref());
    for thread in threads {
        thread.finish(agent, &mut reading.conversations);
    }
    reading
}

/// The ids of the messages that the program has taken out of what it sends (`applySnipRemovals`).
fn snipped<'s>(records: &[Value<'_, 's>]) -> HashSet<&'s [u8]> {
    let bytes = records.first().map_or(&b""[..], |first| first.document().bytes());
    if memchr::memmem::find(bytes, b"\"snipMetadata\"").is_none() {
        return HashSet::default();
    }
    let snips = records.iter().filter_map(|record| record.get("snipMetadata")?.get("removedUuids"));
    snips.flat_map(Value::elements).map(Value::raw).collect()
}

/// The thread that a record belongs to: the session itself, or one of its sub-agents.
fn title(record: Value<'_, '_>) -> String {
    let agent = record.get_str("agentId").filter(|_| record.is_true("isSidechain"));
    let parent = record.get_str("parent_tool_use_id");
    match (agent, parent) {
        (Some(agent), _) => format!("agent {agent}"),
        (None, Some(parent)) => format!("agent of {parent}"),
        _ if record.is_true("isSidechain") => "agents".to_owned(),
        _ => "main".to_owned(),
    }
}

/// A conversation while it is read, as turns: a block may belong to an earlier one than the last.
#[derive(Default)]
struct Thread<'d, 's> {
    title: String,
    parts: Vec<(Vec<Turn<'d, 's>>, ConversationEnd)>,
    turns: Vec<Turn<'d, 's>>,
    /// The number of the turn of each `message.id`.
    by_id: HashMap<&'s [u8], usize>,
    /// The records that something follows that is not a result.
    followed: HashSet<&'s [u8]>,
    /// What a compaction keeps, which comes after its summary.
    kept: Vec<Turn<'d, 's>>,
    /// What was taken out of what is sent.
    snipped: Vec<Turn<'d, 's>>,
    /// Where each record is. What was left by going back stays here.
    places: Places<'s>,
}

/// The place of a record: the number of its turn, how many messages the turn had with it, and its message.
type RecordPlace = (usize, usize, NodeId);

/// Where records are, by their ids. Most logs never ask.
#[derive(Default)]
struct Places<'s> {
    listed: Vec<(&'s [u8], RecordPlace)>,
    by_id: HashMap<&'s [u8], RecordPlace>,
    /// The ids of records that are no messages, such as attachments, with those of the records that they follow.
    links: Vec<(&'s [u8], &'s [u8])>,
    /// The id of the last record.
    last: Option<&'s [u8]>,
}

impl<'s> Places<'s> {
    fn add_link(&mut self, record: Value<'_, 's>) {
        let ids = record.get("uuid").zip(record.get("parentUuid"));
        self.links.extend(ids.map(|(own, parent)| (own.raw(), parent.raw())));
        self.last = ids.map(|(own, _)| own.raw()).or(self.last);
    }

    /// The place of a record, or of the message that it follows.
    fn get(&mut self, id: &[u8]) -> Option<RecordPlace> {
        self.by_id.extend(self.listed.drain(..));
        // A record stands behind the one that it follows.
        for (own, parent) in self.links.drain(..) {
            let place = self.by_id.get(parent).copied();
            self.by_id.extend(place.map(|place| (own, place)));
        }
        self.by_id.get(id).copied()
    }
}

struct Turn<'d, 's> {
    role: Role,
    messages: Vec<Value<'d, 's>>,
    /// Why its calls may stay without results.
    unpaired: Option<UnpairedReason>,
}

impl<'d, 's> Thread<'d, 's> {
    fn add(&mut self, role: Role, (record, uuid): (Value<'d, 's>, Option<&'s [u8]>), message: Value<'d, 's>) {
        let id = message.get("id").filter(|_| role == Role::Assistant).map(Value::raw);
        if let Some(number) = id.and_then(|id| self.turn_of(id)) {
            self.turns[number].messages.push(message);
            self.place(uuid, number);
            return;
        }
        if role == Role::User && self.begins_again(record, message) {
            self.divide(ConversationEnd::Abandoned);
        }
        if !has_results(message)
            && let Some(parent) = record.get("parentUuid").filter(|parent| !parent.is_null())
        {
            let is_followed = !self.followed.insert(parent.raw());
            if role == Role::User && self.places.last != Some(parent.raw()) {
                self.go_back(parent, is_followed);
            }
        }
        if role == Role::User && is_interruption(message) {
            self.abort(UnpairedReason::Aborted);
        }
        match self.turns.last_mut() {
            Some(last) if last.role == role && role == Role::User => last.messages.push(message),
            _ => self.turns.push(Turn { role, messages: vec![message], unpaired: None }),
        }
        let number = self.turns.len() - 1;
        if let Some(id) = id {
            self.by_id.insert(id, number);
        }
        self.place(uuid, number);
        if !self.kept.is_empty() && record.is_true("isCompactSummary") {
            self.turns.append(&mut self.kept);
            // What follows the summary follows what is kept.
            self.place(uuid, self.turns.len() - 1);
        }
    }

    /// Whether a message of the user takes the place of the first one of a session: nothing is before it in the tree.
    fn begins_again(&self, record: Value<'_, '_>, message: Value<'_, '_>) -> bool {
        self.title == "main"
            && record.get("parentUuid").is_some_and(Value::is_null)
            && !self.followed.is_empty()
            && self.turns.iter().any(|turn| turn.role == Role::Assistant)
            && !has_results(message)
            && !record.is_true("isMeta")
            && !record.is_true("isCompactSummary")
    }

    /// A compaction: what it keeps is sent after its summary, or before it.
    fn compact(&mut self, boundary: Value<'d, 's>) {
        let metadata = boundary.get_any(&["compactMetadata", "compact_metadata"]);
        let kept_in = |key: &str| metadata.and_then(|metadata| metadata.get(key));
        let uuids = kept_in("preservedMessages").and_then(|kept| kept.get("uuids"));
        let mut nodes: HashSet<NodeId> = HashSet::default();
        let mut node_of = |uuid: &[u8]| self.places.get(uuid).map(|(_, _, node)| node);
        nodes.extend(
            uuids.into_iter().flat_map(|uuids| uuids.elements()).filter_map(|uuid| node_of(uuid.raw())),
        );
        if let Some(segment) = kept_in("preservedSegment").filter(|_| uuids.is_none()) {
            let mut end = |key: &str| segment.get(key).and_then(|uuid| node_of(uuid.raw()));
            if let Some((head, tail)) = end("headUuid").zip(end("tailUuid")) {
                let messages = self.turns.iter().flat_map(|turn| &turn.messages).map(|message| message.id());
                nodes.extend(messages.filter(|node| (head..=tail).contains(node)));
            }
        }
        let mut kept = Vec::new();
        if !nodes.is_empty() {
            for turn in &mut self.turns {
                let is_kept = |message: &Value<'_, '_>| nodes.contains(&message.id());
                let (own, gone): (Vec<_>, Vec<_>) = turn.messages.drain(..).partition(is_kept);
                turn.messages = gone;
                if !own.is_empty() {
                    kept.push(Turn { role: turn.role, messages: own, unpaired: turn.unpaired });
                }
            }
            self.turns.retain(|turn| !turn.messages.is_empty());
        }
        self.divide(ConversationEnd::Compacted);
        // What is kept follows its anchor, as the Agent SDK documents it: the last summary, or the boundary itself if what
        // came later is summarised.
        let segment = kept_in("preservedMessages").or_else(|| kept_in("preservedSegment"));
        let anchor = segment.and_then(|segment| segment.get("anchorUuid")).map(Value::raw);
        if anchor.is_some() && anchor == boundary.get("uuid").map(Value::raw) {
            self.turns = kept;
        } else {
            self.kept = kept;
        }
    }

    /// The number of the turn with a `message.id`, unless it was left by going back.
    fn turn_of(&self, id: &[u8]) -> Option<usize> {
        let number = *self.by_id.get(id)?;
        let first = self.turns.get(number)?.messages.first()?;
        (first.get("id").map(Value::raw) == Some(id)).then_some(number)
    }

    /// Notes where a record is: at the end of a turn.
    fn place(&mut self, uuid: Option<&'s [u8]>, turn: usize) {
        let messages = &self.turns[turn].messages;
        let node = messages.last().map_or(NodeId::ROOT, |message| message.id());
        self.places.listed.extend(uuid.map(|uuid| (uuid, (turn, messages.len(), node))));
        self.places.last = uuid.or(self.places.last);
    }

    /// If the user went back to an earlier message, and on from there, what followed it is left, but for the results of its
    /// calls.
    fn go_back(&mut self, to: Value<'d, 's>, is_followed: bool) {
        let place = self.places.get(to.raw()).filter(|(turn, count, node)| {
            let messages = self.turns.get(*turn).map(|turn| &turn.messages);
            messages.and_then(|messages| messages.get(count - 1)).is_some_and(|message| message.id() == *node)
        });
        let Some((mut turn, mut count, _)) = place else {
            if is_followed {
                self.divide(ConversationEnd::Abandoned);
            }
            return;
        };
        let has_answers = |turn: &Turn<'_, '_>| turn.messages.iter().any(|message| has_results(*message));
        if self.turns[turn].role == Role::Assistant && self.turns.get(turn + 1).is_some_and(has_answers) {
            (turn, count) = (turn + 1, 0);
        }
        let mut left = self.turns.split_off(turn + 1);
        let last = &mut self.turns[turn];
        if last.role == Role::User {
            // The results of parallel calls are siblings.
            let (results, other): (Vec<_>, Vec<_>) =
                last.messages.split_off(count).into_iter().partition(|message| has_results(*message));
            last.messages.extend(results);
            if !other.is_empty() {
                left.insert(0, Turn { role: Role::User, messages: other, unpaired: None });
            }
        }
        if left.is_empty() {
            return;
        }
        let kept = std::mem::replace(&mut self.turns, left);
        self.leave(ConversationEnd::Abandoned);
        self.turns = kept;
    }

    /// Ends the conversation here; what follows is another.
    fn divide(&mut self, end: ConversationEnd) {
        self.leave(end);
        self.by_id.clear();
        self.places = Places::default();
    }

    fn leave(&mut self, end: ConversationEnd) {
        if !self.turns.is_empty() {
            self.abort(UnpairedReason::Aborted);
            self.parts.push((std::mem::take(&mut self.turns), end));
        }
    }

    /// The last turn of the model was ended before its calls were answered.
    fn abort(&mut self, unpaired: UnpairedReason) {
        if let Some(turn) = self.turns.iter_mut().rev().find(|turn| turn.role == Role::Assistant) {
            turn.unpaired = Some(unpaired);
        }
    }

    fn finish(mut self, agent: &'static str, conversations: &mut Vec<Conversation<'s>>) {
        // There was no summary, or the log ends before it.
        self.turns.append(&mut self.kept);
        if !self.snipped.is_empty() {
            self.parts.push((self.snipped, ConversationEnd::Replaced));
        }
        if !self.turns.is_empty() {
            let end = match self.turns.iter().rev().find(|turn| turn.role == Role::Assistant) {
                Some(turn) if turn.unpaired.is_some() => ConversationEnd::Aborted,
                _ => ConversationEnd::Open,
            };
            self.parts.push((self.turns, end));
        }
        let count = self.parts.len();
        let mut before = ConversationEnd::Open;
        for (number, (turns, end)) in self.parts.into_iter().enumerate() {
            let title = if count > 1 { format!("{} {}", self.title, number + 1) } else { self.title.clone() };
            let Some(first) = turns.first().and_then(|turn| turn.messages.first()) else { continue };
            let follows_summary = std::mem::replace(&mut before, end) == ConversationEnd::Compacted;
            let mut transcript = transcript(&turns, first.document().root(), follows_summary);
            if self.title == "main" && matches!(end, ConversationEnd::Open | ConversationEnd::Aborted) {
                transcript.sent_next_by = Some(agent);
            }
            conversations.push(Conversation { title, transcript, end });
        }
    }
}

fn transcript<'s>(turns: &[Turn<'_, 's>], root: Value<'_, 's>, follows_summary: bool) -> Transcript<'s> {
    let mut transcript = Transcript::of_conversation(READER.key(), root);
    transcript.batches_results = true;
    // The end of the results that the log begins with.
    let (mut first, mut is_first) = (0, true);
    for (index, turn) in turns.iter().enumerate() {
        for (number, message) in turn.messages.iter().enumerate() {
            anthropic::read_message(&mut transcript, *message, index, number > 0);
            is_first = is_first && has_results(*message);
            if is_first {
                first = transcript.parts.len() as u32;
            }
        }
        if let Some(unpaired) = turn.unpaired {
            transcript.settle_calls_of_last(unpaired);
        }
    }
    // The first records may answer calls of an earlier session, such as a plan that was approved. What follows a summary may
    // answer a call before it.
    if follows_summary {
        transcript.settle_results_of_first(UnpairedReason::Elsewhere);
    } else {
        transcript.settle_results_of(0..first, UnpairedReason::Elsewhere);
    }
    transcript
}

fn has_results(message: Value<'_, '_>) -> bool {
    message.list("content").any(|block| block.is("type", "tool_result"))
}

/// Whether a message says that the user stopped the turn before it.
fn is_interruption(message: Value<'_, '_>) -> bool {
    let says = |text: Option<Value<'_, '_>>| {
        text.and_then(|text| text.as_str())
            .is_some_and(|text| text.starts_with("[Request interrupted by user"))
    };
    says(message.get("content")) || message.list("content").any(|block| says(block.get("text")))
}
