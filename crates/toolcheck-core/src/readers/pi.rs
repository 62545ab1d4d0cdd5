//! Pi: the log of a session, and what `pi --mode json` prints.
//!
//! From the second version on the records are a tree: the conversation is the way from its root to the last record, and
//! what lies beside it was left by the user. A turn that was aborted or failed stays in the log; when Pi sends the history
//! it leaves such a turn out, but not the results of its calls (`packages/ai/src/api/transform-messages.ts`).
//!
//! A record that follows one that is nowhere in the file follows the record before it: the other was lost. Pi itself goes
//! back no further than there (`getBranch` of the same file), so that what is before it is not sent.
//!
//! After a compaction, Pi sends the summary, the messages in its `retainedTail` or the records from `firstKeptEntryId` on,
//! and what came after it (`buildContextEntries` in `packages/coding-agent/src/core/session-manager.ts`, version 3 of the
//! format; `packages/coding-agent/docs/session-format.md`), and of these what a `context_edit` among them leaves or puts in
//! their place (`buildSessionProjection`). The last conversation is what it sends next: a result that was kept without its
//! call is refused then, again and again.
//!
//! Atomic writes the same log. Its summaries repeat what they keep (`verbatim-lines`), and its versions before 2026-07-14 left
//! out what a `context_compaction` names (`packages/coding-agent/docs/session-format.md` of bastani-inc/atomic). Oh My Pi and
//! OpenClaw do so, too, and put more right when they send it: a file in `agents/` each.

use std::cell::LazyCell;

use foldhash::HashMap;
use toolcheck_json::{NodeId, Value};

use toolcheck_json::edit::Piece;

use super::broken::is_broken;
use super::file_style::{FileFixStyle, NewRecord, members_of};
use super::next::NextRequest;
use super::parts::{self};
use super::{Conversation, ConversationEnd, Reader, Reading};
use crate::claim::certainty;
use crate::fix_style::{self, FixStyle, Missing};
use crate::ir::{Body, Gap, Named, Role, ToolKind, Transcript, UnpairedReason};
use crate::names::words;

pub(super) static READER: Reader =
    Reader::log("pi", "Pi session", sniff, read).or_one_list().fixed_by(&FILE_STYLE);

/// Each message is in a record that names the one before it.
static FILE_STYLE: FileFixStyle = FileFixStyle {
    message: Some("message"),
    links: Some(("id", "parentId")),
    stamps: &["timestamp"],
    record,
    ..FileFixStyle::plain(&FIX_STYLE)
};

static FIX_STYLE: FixStyle =
    FixStyle { calls: Some(("content", "")), result_id: Some("toolCallId"), result, ..FixStyle::OF_PROGRAM };

fn result(missing: &Missing) -> Option<Piece> {
    let id = missing.id.clone().filter(|_| missing.kind == ToolKind::Function)?;
    Some(fix_style::object([
        ("role", Some(Piece::text("toolResult"))),
        ("toolCallId", Some(id)),
        ("toolName", missing.name.clone()),
        ("content", Some(Piece::List(vec![fix_style::typed_text(missing.said())]))),
        ("isError", Some(Piece::Raw(b"true".to_vec()))),
    ]))
}

/// A message has its time.
fn record(added: NewRecord<'_, '_>) -> Piece {
    let mut message = match added.message {
        Piece::Object(members) => members,
        message => return message,
    };
    message.extend(
        added.after.get("message").map(|before| members_of(before, &["timestamp"])).unwrap_or_default(),
    );
    let mut members =
        vec![("type".into(), Piece::text("message")), ("message".into(), Piece::Object(message))];
    // The first version has no tree.
    if let Some(parent) = added.after.get("id").filter(|_| added.after.has("parentId")) {
        members.push(("id".into(), added.id));
        members.push(("parentId".into(), added.before.unwrap_or(Piece::Node(parent.id()))));
    }
    members.extend(members_of(added.after, &["timestamp"]));
    Piece::Object(members)
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_header = |record: &Value<'_, '_>| {
        record.is("type", "session") && record.has("id") && record.has("timestamp") && record.has("cwd")
    };
    // The first line may be lost, as in the end of a file.
    let is_own = |record: &Value<'_, '_>| {
        let message = record.get("message").filter(|_| record.is("type", "message"));
        message.is_some_and(|message| match message.get_str("role").as_deref() {
            Some("toolResult") => message.has_all(&["toolCallId", "isError"]),
            Some("assistant") => message.has_all(&["api", "provider", "stopReason"]),
            _ => false,
        })
    };
    // Command Code writes such a header, and blocks of Anthropic under it.
    let is_other = |record: &Value<'_, '_>| {
        record.get("message").and_then(|message| message.get("meta")?.get("source")).is_some()
    };
    if records.iter().any(is_other) {
        return 0;
    }
    // Vela writes such a header above messages of the AI SDK.
    if records.iter().any(|record| is_header(record) || is_own(record)) {
        certainty::OWN_SHAPE - 1
    } else {
        0
    }
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let branches = Branches::of(records);
    let mut reading = Reading::default();
    let mut logs: Vec<Option<Log<'s>>> = (0..branches.count).map(|_| None).collect();
    let kept = branches.kept(records);
    let edits = branches.edits(records, kept.as_ref());
    let agent = agent_of(records);
    let mut gaps = branches.gaps.iter().copied().peekable();
    for (number, (&record, branch)) in records.iter().zip(&branches.of_record).enumerate() {
        let log = &mut logs[*branch];
        if let Some(((_, lost, before), log)) = gaps.next_if(|gap| gap.0 == number).zip(log.as_mut()) {
            log.gaps.push(Gap { message: log.transcript.messages.len(), lost, before });
        }
        if kept.as_ref().is_some_and(|kept| kept.records.binary_search(&number).is_ok()) {
            continue;
        }
        let new = || Log::new(agent, record.document().root());
        match edits.entry(number, record) {
            RecordKind::Message(message, content) => {
                let log = log.get_or_insert_with(new);
                log.add(record, message, content, edits.deleted_of(record));
            }
            RecordKind::Branch(summary) => log.get_or_insert_with(new).add_summary(record, summary),
            RecordKind::Compaction(summary) => {
                let log = log.get_or_insert_with(new);
                log.divide(*branch, ConversationEnd::Compacted, &mut reading.conversations);
                log.add_summary(record, summary);
                tail_of(record).into_iter().flat_map(|tail| tail.elements()).for_each(|message| {
                    log.add(message, message, message.get("content"), &[]);
                });
                for &kept in
                    kept.iter().filter(|kept| kept.compaction == number).flat_map(|kept| &kept.records)
                {
                    match edits.entry(kept, records[kept]) {
                        RecordKind::Message(message, content) => {
                            log.add(records[kept], message, content, &[])
                        }
                        RecordKind::Branch(summary) => log.add_summary(records[kept], summary),
                        RecordKind::Other(what) => reading.left_out.add(what, 1),
                        // An earlier compaction says nothing there.
                        RecordKind::Compaction(_) | RecordKind::Reset | RecordKind::Unknown => {}
                    }
                }
            }
            RecordKind::Reset => log.iter_mut().for_each(|log| {
                log.divide(*branch, ConversationEnd::Complete, &mut reading.conversations);
            }),
            RecordKind::Other(what) => reading.left_out.add(what, 1),
            RecordKind::Unknown => reading.leave_out_unknown("records that are not messages", record),
        }
    }
    for (branch, log) in logs.into_iter().enumerate() {
        let Some(mut log) = log else { continue };
        let end = match branch {
            0 if log.is_aborted => ConversationEnd::Aborted,
            0 => ConversationEnd::Open,
            _ => ConversationEnd::Abandoned,
        };
        log.divide(branch, end, &mut reading.conversations);
    }
    reading.in_order()
}

enum RecordKind<'d, 's> {
    /// A message, and its content as it is sent.
    Message(Value<'d, 's>, Option<Value<'d, 's>>),
    /// A summary that takes the place of what was said before.
    Compaction(Value<'d, 's>),
    /// What was said in a branch that the user left.
    Branch(Value<'d, 's>),
    /// The user begins anew.
    Reset,
    Other(&'static str),
    /// A record of a type that has nothing to do with the conversation, or is new.
    Unknown,
}

const EVENTS: [&str; 9] = words(
    "message_start message_update turn_start turn_end agent_start agent_end tool_execution_start tool_execution_update \
    tool_execution_end",
);

fn entry<'d, 's>(record: Value<'d, 's>) -> RecordKind<'d, 's> {
    let summary = || record.get("summary");
    match record.get_str("type").as_deref() {
        // The second is what is printed while Pi works.
        Some("message" | "message_end") => {
            match record.get("message").filter(|message| message.is_object()) {
                Some(message) if message.is_true("excludeFromContext") => {
                    RecordKind::Other("commands that are not sent")
                }
                // They may come while tools run: Pi holds them back until the results are there.
                Some(message) if message.is("role", "system") => RecordKind::Other("messages of the system"),
                Some(message) if is_copy(message) => RecordKind::Other("copies of what was delivered"),
                Some(message) => RecordKind::Message(message, message.get_any(&["content", "output"])),
                None => RecordKind::Unknown,
            }
        }
        Some("custom_message") => RecordKind::Message(record, record.get("content")),
        Some("compaction") => summary().map_or(RecordKind::Unknown, RecordKind::Compaction),
        Some("branch_summary") => summary().map_or(RecordKind::Unknown, RecordKind::Branch),
        Some("context_compaction") if record.has("deletedTargets") => {
            RecordKind::Other("compactions that delete messages")
        }
        Some("reset_boundary") => RecordKind::Reset,
        Some("context_edit") => RecordKind::Other("edits of what is sent"),
        Some(kind) if EVENTS.contains(&kind) => RecordKind::Other("event records"),
        _ => RecordKind::Unknown,
    }
}

/// Whether a message is what OpenClaw or its gateway has delivered, which no model is sent again
/// (<https://github.com/openclaw/openclaw/pull/84708>).
fn is_copy(message: Value<'_, '_>) -> bool {
    message.is_one_of("model", &["delivery-mirror", "gateway-injected"]) && message.is("provider", "openclaw")
}

fn is_said(record: Value<'_, '_>) -> bool {
    matches!(entry(record), RecordKind::Message(..) | RecordKind::Compaction(_) | RecordKind::Branch(_))
}

/// What only Oh My Pi writes at the beginning of a log.
const OF_OMP: [&str; 8] = words(
    "title session_init mode_change title_change ttsr_injection service_tier_change credential_pin model_usage",
);

/// Which of the programs that write such logs has written this one.
fn agent_of(records: &[Value<'_, '_>]) -> &'static str {
    let agent = |record: &Value<'_, '_>| {
        let is_other_change = || record.is("type", "model_change") && record.has("model");
        if record.is_one_of("type", &OF_OMP) || is_other_change() || record.has("titleSource") {
            return Some("oh-my-pi");
        }
        let provider = record.get("message").and_then(|message| message.get_str("provider"));
        let is_own = provider.as_deref() == Some("openclaw") || record.is("customType", "model-snapshot");
        is_own.then_some("openclaw")
    };
    records.iter().take(32).find_map(agent).unwrap_or(READER.id)
}

/// To which branch each record belongs. The first is the conversation.
struct Branches {
    of_record: Vec<usize>,
    count: usize,
    /// The records of the conversation, from its root on; none in the first version.
    way: Vec<usize>,
    /// The records of the conversation before which one is lost, each with the id of that and the id of the record before.
    gaps: Vec<(usize, NodeId, NodeId)>,
}

/// What the last compaction has kept of what was before it.
struct Kept {
    compaction: usize,
    records: Vec<usize>,
}

impl Branches {
    fn of(records: &[Value<'_, '_>]) -> Self {
        let is_in_tree = Self::in_tree(records);
        let numbers = (0..records.len()).filter(|number| is_in_tree[*number]);
        let mut number_of: HashMap<&[u8], usize> = HashMap::default();
        number_of.extend(numbers.filter_map(|number| Some((records[number].get("id")?.raw(), number))));
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(records.len());
        let mut gaps: Vec<(usize, NodeId, NodeId)> = Vec::new();
        // The records before those that are lost; none before the root.
        let mut before_lost: HashMap<&[u8], Option<usize>> = HashMap::default();
        let callers = LazyCell::new(|| callers(records));
        let mut last = None;
        for (number, record) in records.iter().enumerate() {
            let parent = record.get("parentId").filter(|parent| !parent.is_null() && is_in_tree[number]);
            let found = parent.and_then(|parent| number_of.get(parent.raw()).copied());
            parents.push(found.filter(|found| *found != number));
            if let (Some(lost), None) = (parent, found) {
                let before = *before_lost
                    .entry(lost.raw())
                    .or_insert_with(|| last.map(|last| before_result(*record, last, &parents, &callers)));
                parents[number] = before;
                let before = before.and_then(|before| records[before].get("id"));
                gaps.extend(before.map(|before| (number, lost.id(), before.id())));
            }
            last = is_in_tree[number].then_some(number).or(last);
        }
        let mut of_record = vec![0; records.len()];
        // The first version has no tree.
        if last.is_none() {
            return Self { of_record, count: 1, way: Vec::new(), gaps: Vec::new() };
        }
        let mut is_on_way = vec![false; records.len()];
        let mut way = Vec::new();
        let mut next = last;
        // A file that was written together from others may have circles.
        while let Some(number) = next.filter(|number| !std::mem::replace(&mut is_on_way[*number], true)) {
            way.push(number);
            next = parents[number];
        }
        way.reverse();
        let mut count = 1;
        // The last record of each branch.
        let mut ends: Vec<Option<usize>> = vec![None];
        for number in 0..records.len() {
            if is_on_way[number] || !is_in_tree[number] {
                continue;
            }
            let continued =
                parents[number].filter(|parent| !is_on_way[*parent]).map(|parent| of_record[parent]);
            let branch = match continued {
                Some(branch) if ends[branch] == parents[number] => branch,
                _ => {
                    count += 1;
                    ends.push(None);
                    count - 1
                }
            };
            of_record[number] = branch;
            ends[branch] = Some(number);
        }
        gaps.retain(|(number, ..)| is_on_way[*number]);
        Self { of_record, count, way, gaps }
    }

    /// Which records Pi finds in the tree: it passes over lines that are no JSON, and one with no parent is a root.
    fn in_tree(records: &[Value<'_, '_>]) -> Vec<bool> {
        let has_tree = records.iter().any(|record| record.has("parentId"));
        let is_root = |record: Value<'_, '_>| has_tree && is_said(record);
        let is_found =
            |record: &Value<'_, '_>| record.has("id") && (record.has("parentId") || is_root(*record));
        records.iter().map(|record| is_found(record) && !is_broken(*record)).collect()
    }

    /// What the last compaction of the conversation has kept; `None` if there is none, or nothing shows what it kept.
    fn kept(&self, records: &[Value<'_, '_>]) -> Option<Kept> {
        let end = self.last_compaction(records)?;
        let says_all = |record: &Value<'_, '_>| {
            let strategy = record.get("details").and_then(|details| details.get_str("strategy"));
            strategy.as_deref() == Some("verbatim-lines") || tail_of(*record).is_some()
        };
        let compaction = Some(records[self.way[end]]).filter(|record| !says_all(record))?;
        let first = compaction.get("firstKeptEntryId")?;
        let is_first = |number: &usize| records[*number].get("id").is_some_and(|id| id.raw() == first.raw());
        let found = self
            .gaps
            .last()
            .map_or(0, |(first, ..)| self.way.iter().position(|number| number == first).unwrap_or(0));
        let start = found + self.way.get(found..end)?.iter().position(is_first)?;
        let kept = self.way[start..end].iter().copied();
        let records = kept.filter(|number| is_said(records[*number])).collect();
        Some(Kept { compaction: self.way[end], records })
    }

    /// Where on the way the last compaction is.
    fn last_compaction(&self, records: &[Value<'_, '_>]) -> Option<usize> {
        self.way.iter().rposition(|number| matches!(entry(records[*number]), RecordKind::Compaction(_)))
    }

    /// The edits of what is sent: of those behind the last compaction and among what it has kept, the last of each record.
    fn edits<'d, 's>(&self, records: &[Value<'d, 's>], kept: Option<&Kept>) -> Edits<'d, 's> {
        let last = || self.last_compaction(records).map(|end| self.way[end]);
        let first = kept.and_then(|kept| kept.records.first().copied()).or_else(last).unwrap_or(0);
        let sent = self.way.iter().filter(|number| **number >= first).map(|number| records[*number]);
        let edits = sent.filter(|record| record.is("type", "context_edit"));
        let of_target = |edit: Value<'d, 's>| Some((edit.get("targetId")?.raw(), edit.get("replacement")?));
        Edits { first, of_target: edits.filter_map(of_target).collect(), deleted: deleted(records) }
    }
}

/// What is sent in the place of records, by their ids.
struct Edits<'d, 's> {
    /// The first record that is sent.
    first: usize,
    /// Nothing, or another content.
    of_target: HashMap<&'d [u8], Value<'d, 's>>,
    /// The blocks that Atomic has deleted; `None` is all of it.
    deleted: HashMap<&'d [u8], Vec<Option<u64>>>,
}

impl<'d, 's> Edits<'d, 's> {
    fn deleted_of(&self, record: Value<'d, 's>) -> &[Option<u64>] {
        record.get("id").and_then(|id| self.deleted.get(id.raw())).map_or(&[], Vec::as_slice)
    }

    /// What a record is in what is sent.
    fn entry(&self, number: usize, record: Value<'d, 's>) -> RecordKind<'d, 's> {
        let id = record.get("id").filter(|_| number >= self.first && !self.of_target.is_empty());
        match (entry(record), id.and_then(|id| self.of_target.get(id.raw()))) {
            (RecordKind::Message(..), _) if self.deleted_of(record).contains(&None) => {
                RecordKind::Other("messages that a compaction has deleted")
            }
            (RecordKind::Message(..), Some(edit)) if edit.is_null() => {
                RecordKind::Other("messages that an edit leaves out")
            }
            (RecordKind::Message(message, _), Some(edit)) => {
                RecordKind::Message(message, edit.get("content"))
            }
            (kind, _) => kind,
        }
    }
}

/// How many records before one are looked at for the one with the call of a result.
const NEAR: usize = 1024;

/// The records with calls, by the ids of these.
fn callers<'d>(records: &[Value<'d, '_>]) -> HashMap<&'d [u8], usize> {
    let mut callers = HashMap::default();
    for (number, record) in records.iter().enumerate() {
        let blocks = record.get_in(&["message", "content"]);
        let ids = blocks.into_iter().flat_map(Value::elements).filter_map(|block| block.get("id"));
        callers.extend(ids.map(|id| (id.raw(), number)));
    }
    callers
}

/// The record that comes before one whose own is lost: the `last` one, unless it is not of the result's call, as where two
/// processes write into one file.
fn before_result(
    record: Value<'_, '_>,
    last: usize,
    parents: &[Option<usize>],
    callers: &HashMap<&[u8], usize>,
) -> usize {
    let id = record.get_in(&["message", "toolCallId"]);
    let Some(&caller) = id.and_then(|id| callers.get(id.raw())) else { return last };
    let mut way = std::iter::successors(Some(last), |number| parents.get(*number).copied().flatten());
    let is_of_other = !way.by_ref().take(NEAR).any(|number| number == caller) && way.next().is_none();
    if is_of_other { caller } else { last }
}

/// The messages that a compaction has kept, if they are in its record.
fn tail_of<'d, 's>(compaction: Value<'d, 's>) -> Option<Value<'d, 's>> {
    compaction.get("retainedTail").filter(|tail| tail.is_array())
}

fn deleted<'d>(records: &[Value<'d, '_>]) -> HashMap<&'d [u8], Vec<Option<u64>>> {
    let mut deleted = HashMap::<_, Vec<_>>::default();
    for target in records.iter().flat_map(|record| record.list("deletedTargets")) {
        if let Some(id) = target.get("entryId") {
            let block = target.get("blockIndex").and_then(Value::as_u64);
            deleted.entry(id.raw()).or_default().push(block);
        }
    }
    deleted
}

struct Log<'s> {
    transcript: Transcript<'s>,
    empty: Transcript<'s>,
    is_aborted: bool,
    gaps: Vec<Gap>,
    agent: &'static str,
}

impl<'s> Log<'s> {
    fn new(agent: &'static str, root: Value<'_, 's>) -> Self {
        let empty = Transcript::of_conversation(READER.key(), root);
        Self { transcript: empty.clone(), empty, is_aborted: false, gaps: Vec::new(), agent }
    }

    fn divide(&mut self, branch: usize, end: ConversationEnd, conversations: &mut Vec<Conversation<'s>>) {
        let mut transcript = std::mem::replace(&mut self.transcript, self.empty.clone());
        let gaps = std::mem::take(&mut self.gaps);
        if transcript.messages.is_empty() {
            return;
        }
        if end != ConversationEnd::Open {
            transcript.settle_calls_of_last_turn(UnpairedReason::Aborted);
        }
        if branch == 0 && matches!(end, ConversationEnd::Open | ConversationEnd::Aborted) {
            transcript.sent_next_by = Some(self.agent);
            transcript.gaps = gaps;
        } else {
            transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        }
        let title = if branch == 0 { "main" } else { "branch" }.to_owned();
        conversations.push(Conversation { title, transcript, end });
    }

    fn add_summary(&mut self, record: Value<'_, 's>, summary: Value<'_, 's>) {
        self.transcript.next_message(Role::User, record);
        self.transcript.part(summary, Body::text(Some(summary)));
    }

    /// Adds a message with this content, without the blocks that were deleted.
    fn add<'d>(
        &mut self,
        record: Value<'d, 's>,
        message: Value<'d, 's>,
        content: Option<Value<'d, 's>>,
        deleted: &[Option<u64>],
    ) {
        let transcript = &mut self.transcript;
        let role = message.get_str("role");
        self.is_aborted = false;
        match role.as_deref() {
            Some("assistant") => {
                transcript.next_message(Role::Assistant, record);
                transcript.details.answers.push(transcript.parts.len());
                add_content(transcript, content, deleted);
                if matches!(message.get_str("stopReason").as_deref(), Some("aborted" | "error")) {
                    // Those that leave results without calls out leave out what answers such a turn, too.
                    let needs_calls = NextRequest::of(self.agent).is_some_and(NextRequest::needs_calls);
                    let gone = if needs_calls { UnpairedReason::Deleted } else { UnpairedReason::Aborted };
                    transcript.settle_calls_of_last(gone);
                    self.is_aborted = true;
                    transcript.messages.last_mut().into_iter().for_each(|message| message.is_unsent = true);
                }
            }
            Some("toolResult") => {
                transcript.next_message(Role::Tool, record);
                let is_error = message.get("isError").and_then(Value::as_bool);
                let mut result = parts::result(message.get("toolCallId"), content, is_error);
                result.name = message.get("toolName").and_then(Named::of);
                transcript.part(message, Body::Result(result));
            }
            // What is left of a line does not say whose it is.
            role if is_broken(record) && role != Some("user") => {}
            // Also the commands that the user ran, and what extensions add in the user's name.
            _ => {
                transcript.next_message(Role::User, record);
                add_content(transcript, content, deleted);
            }
        }
    }
}

fn add_content<'s>(transcript: &mut Transcript<'s>, content: Option<Value<'_, 's>>, deleted: &[Option<u64>]) {
    let Some(content) = content else { return };
    if content.is_string() {
        transcript.part(content, Body::text(Some(content)));
    }
    for (_, block) in (0..).zip(content.elements()).filter(|(number, _)| !deleted.contains(&Some(*number))) {
        let body = match block.get_str("type").as_deref() {
            Some("text") => Body::text(block.get("text")),
            Some("thinking") => parts::reasoning(block.get("thinkingSignature")),
            Some("toolCall") => {
                Body::Call(parts::call(block.get("id"), block.get("name"), block.get("arguments")))
            }
            Some("image") => Body::Media,
            _ => {
                transcript.unknown(block);
                continue;
            }
        };
        transcript.part(block, body);
    }
}
