//! Qwen Code: the records of a session. Their messages are those of Gemini, their tree is that of Claude Code.
//!
//! What is sent next is the way from the last record back to the first (`reconstructHistory` in
//! `packages/core/src/services/sessionService.ts` of QwenLM/qwen-code 0.21), from the last compression on, which holds what
//! took the place of everything before it. Then `repairOrphanedToolUseTurns` (`packages/core/src/core/geminiChat.ts`) answers
//! calls without results, moves late results to their calls and leaves out second ones, and `cleanOrphanedToolCalls`
//! (`packages/core/src/core/openaiContentGenerator/converter.ts`) leaves out results without calls.

use foldhash::{HashMap, HashSet};
use toolcheck_json::{NodeId, Value};

use super::broken::is_broken;
use super::parts::{self};
use super::{ConversationEnd, Reader, Reading, gemini_cli, own_shape};
use crate::ir::{Body, Gap, Role, Transcript};

pub(super) static READER: Reader =
    Reader::log("qwen-code", "Qwen Code session", |records| own_shape(records, is_record), read)
        .or_one_list();

pub(super) fn is_record(record: Value<'_, '_>) -> bool {
    let is_own = match record.get("message") {
        Some(message) => message.has_list("parts"),
        None => record.has("systemPayload"),
    };
    is_own && record.has_all(&["sessionId", "uuid"])
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let Some(first) = records.first() else { return reading };
    let empty = Transcript::of_conversation(READER.key(), first.document().root());
    let way = way(records);
    let (mut main, mut left) = (empty.clone(), empty.clone());
    // The id of the last record before a gap.
    let mut before = None;
    let mut is_found = way.gap.is_none() && !way.ids.is_empty();
    for &record in records {
        let id = record.get("uuid");
        let is_on_way = id.is_some_and(|id| way.ids.contains(id.raw()));
        if let Some(((_, lost), before)) =
            way.gap.filter(|(first, _)| !is_found && id.is_some_and(|id| id.raw() == *first)).zip(before)
        {
            main.gaps.push(Gap { message: main.messages.len(), lost, before });
            is_found = true;
        }
        before = id.map(Value::id).or(before);
        // Nobody can tell what the user left before a gap.
        let transcript = if is_on_way || !is_found { &mut main } else { &mut left };
        let message = record.get("message").filter(|message| message.is_object());
        match (record.get_str("type").as_deref(), message) {
            (Some("system"), _) => {
                let list = record.get_in(&["systemPayload", "compressedHistory"]);
                if let Some(list) = list.filter(|list| list.is_array()) {
                    let before = std::mem::replace(transcript, empty.clone());
                    reading.add_log(&READER, "main", before, ConversationEnd::Replaced);
                    list.elements().for_each(|message| add(transcript, message, message));
                }
                reading.leave_out("records that are not messages");
            }
            (Some("user" | "assistant" | "tool_result"), Some(message)) => add(transcript, record, message),
            (Some("tool_result"), None) => match record.get("toolCallResult") {
                Some(value) => {
                    let result = parts::result(value.get("callId"), value.get("resultDisplay"), None);
                    transcript.next_message(Role::Tool, record).part(value, Body::Result(result));
                }
                None => reading.leave_out_unknown("records that are not messages", record),
            },
            _ => reading.leave_out_unknown("records that are not messages", record),
        }
    }
    reading.add_log(&READER, "main", main, ConversationEnd::Open);
    reading.add_log(&READER, "main", left, ConversationEnd::Abandoned);
    reading.in_order()
}

/// The way back from the last record.
#[derive(Default)]
struct Way<'d> {
    ids: HashSet<&'d [u8]>,
    /// The id of the first record on it and where that names the one before it, if that is lost.
    gap: Option<(&'d [u8], NodeId)>,
}

/// Notes that name nothing before them are on no way.
fn way<'s>(records: &[Value<'_, 's>]) -> Way<'s> {
    let id = |record: &Value<'_, 's>| record.get("uuid").map(Value::raw);
    let mut parents: HashMap<&[u8], Option<Value<'_, 's>>> = HashMap::default();
    // It passes over lines that are no JSON.
    let found = || records.iter().filter(|record| !is_broken(**record));
    for record in found() {
        if let Some(id) = id(record) {
            parents.entry(id).or_insert_with(|| record.get("parentUuid").filter(|parent| !parent.is_null()));
        }
    }
    let is_leaf = |record: &&Value<'_, '_>| {
        !record.is("type", "system") || record.get("parentUuid").is_some_and(|parent| !parent.is_null())
    };
    let mut way = Way::default();
    let mut next = found().rev().find(is_leaf).and_then(id);
    while let Some(own) = next.filter(|own| way.ids.insert(own)) {
        let parent = parents.get(own).copied().flatten();
        next = parent.map(Value::raw).filter(|parent| parents.contains_key(parent));
        way.gap = parent.filter(|_| next.is_none()).map(|lost| (own, lost.id()));
    }
    way
}

fn add<'s>(transcript: &mut Transcript<'s>, record: Value<'_, 's>, message: Value<'_, 's>) {
    let list = message.get("parts");
    let has_result =
        || list.into_iter().flat_map(|parts| parts.elements()).any(|part| part.has("functionResponse"));
    let role = match message.get_str("role").as_deref() {
        Some("model") => Role::Assistant,
        Some("user") if has_result() => Role::Tool,
        Some("user") => Role::User,
        Some("system") => Role::System,
        _ => Role::Unknown,
    };
    transcript.next_message(role, record);
    gemini_cli::add_content(transcript, list, (&HashSet::default(), &HashSet::default()), false);
}
