//! Kimi Code: the log of a session (`wire.jsonl`), from which it builds the history again.
//!
//! A step of the model is several events. A compaction, an undo and a clear change the history that was built so far
//! (`packages/agent-core/src/agent/context` of MoonshotAI/kimi-code).

use foldhash::HashSet;
use toolcheck_json::Value;

use super::kimi_cli::add_block;
use super::parts::{self};
use super::{ConversationEnd, Reader, Reading};
use crate::claim::certainty;
use crate::ir::{Body, Role, Transcript};
use crate::names::words;

pub(super) static READER: Reader = Reader::log("kimi-code", "Kimi Code session", sniff, read).or_one_list();

/// The beginnings of the types of records that do not change the history.
const OTHERS: [&str; 14] = words(
    "config. forked full_compaction. goal. llm. mcp. metadata micro_compaction. permission. plan_mode. \
    swarm_mode. tools. turn. usage.",
);

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own = |record: &Value<'_, '_>| {
        let has = |key: &str| record.get(key).is_some();
        let is_of = |test: fn(&str) -> bool| record.get_str("type").is_some_and(|kind| test(&kind));
        has("time") && is_of(|kind| kind.starts_with("context."))
            || has("protocol_version") && has("created_at") && is_of(|kind| kind == "metadata")
    };
    if records.iter().any(is_own) { certainty::OWN_SHAPE } else { 0 }
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut history = History::default();
    // Since 2.1, other records repeat what is added to the history.
    let is_history = |kind: &str| kind.starts_with("context.");
    let has_history =
        records.iter().any(|record| record.get_str("type").is_some_and(|kind| is_history(&kind)));
    for &record in records {
        match record.get_str("type").as_deref() {
            Some("agent.message.appended") if has_history => {
                reading.leave_out("records that repeat messages");
            }
            Some("agent.message.appended") => match record.get("message") {
                Some(inner) => history.add(record, inner.get("message").unwrap_or(inner)),
                None => reading.leave_out_unknown("events of the session", record),
            },
            Some("context.append_message") => history.add_message(record),
            Some("context.append_loop_event") => match record.get("event") {
                Some(event) => history.add_event(record, event, &mut reading),
                None => reading.leave_out_unknown("events of the session", record),
            },
            Some("context.apply_compaction") => {
                let gone = history.compact(record);
                conversation(&gone, ConversationEnd::Compacted, &mut reading);
            }
            Some("context.undo") => {
                let gone = history.undo(record.get("count").and_then(Value::as_u64).unwrap_or(1));
                conversation(&gone, ConversationEnd::Abandoned, &mut reading);
            }
            Some("context.clear") => {
                let gone = std::mem::take(&mut history).finish();
                conversation(&gone, ConversationEnd::Abandoned, &mut reading);
            }
            Some(kind) if OTHERS.iter().any(|other| kind.starts_with(other)) => {
                reading.leave_out("events of the session");
            }
            _ => reading.leave_out_unknown("events of the session", record),
        }
    }
    conversation(&history.finish(), ConversationEnd::Open, &mut reading);
    reading.in_order()
}

/// After this many compactions, one leaves nothing but its summary: each of them goes through all that is left.
const MOST_COMPACTIONS: usize = 1000;

#[derive(Clone)]
struct HistoryItem<'d, 's> {
    record: Value<'d, 's>,
    said: ItemContent<'d, 's>,
}

#[derive(Clone)]
enum ItemContent<'d, 's> {
    Message(Value<'d, 's>),
    /// A step of the model, by its parts and calls.
    Step(Vec<Value<'d, 's>>),
    Result(Value<'d, 's>),
    /// What takes the place of what was said before.
    Summary(Value<'d, 's>),
}

impl HistoryItem<'_, '_> {
    /// Whether the user said it, and not the agent in the user's name.
    fn is_input(&self) -> bool {
        let ItemContent::Message(message) = &self.said else { return false };
        let origin = message.get("origin");
        let kind = origin.and_then(|origin| origin.get_str("kind"));
        let is_of_user = match kind.as_deref() {
            None | Some("user") => true,
            Some("skill_activation" | "plugin_command") => {
                origin.and_then(|origin| origin.get_str("trigger")).as_deref() == Some("user-slash")
            }
            Some(_) => false,
        };
        message.get_str("role").as_deref() == Some("user") && is_of_user
    }
}

#[derive(Default)]
struct History<'d, 's> {
    entries: Vec<HistoryItem<'d, 's>>,
    /// The calls that have no result yet.
    pending: HashSet<&'s [u8]>,
    /// What was said while calls were running, which comes after their results.
    deferred: Vec<HistoryItem<'d, 's>>,
    compactions: usize,
}

impl<'d, 's> History<'d, 's> {
    fn add_message(&mut self, record: Value<'d, 's>) {
        if let Some(message) = record.get("message") {
            self.add(record, message);
        }
    }

    fn add(&mut self, record: Value<'d, 's>, message: Value<'d, 's>) {
        let entry = HistoryItem { record, said: ItemContent::Message(message) };
        if self.pending.is_empty() { self.entries.push(entry) } else { self.deferred.push(entry) }
    }

    fn add_event(&mut self, record: Value<'d, 's>, event: Value<'d, 's>, reading: &mut Reading<'s>) {
        match event.get_str("type").as_deref() {
            Some("step.begin") => {
                self.close();
                self.entries.push(HistoryItem { record, said: ItemContent::Step(Vec::new()) });
            }
            Some(kind @ ("content.part" | "tool.call")) => {
                if kind == "tool.call" {
                    self.pending.extend(event.get("toolCallId").map(Value::raw));
                }
                match self.entries.last_mut().map(|last| &mut last.said) {
                    Some(ItemContent::Step(parts)) => parts.push(event),
                    // The step began before a result, or in a part of the log that is lost.
                    _ => self.entries.push(HistoryItem { record, said: ItemContent::Step(vec![event]) }),
                }
            }
            Some("tool.result") => {
                if let Some(id) = event.get("toolCallId") {
                    self.pending.remove(id.raw());
                }
                self.entries.push(HistoryItem { record, said: ItemContent::Result(event) });
                if self.pending.is_empty() {
                    self.close();
                }
            }
            Some("step.end") => reading.leave_out("events of the session"),
            _ => reading.leave_out_unknown("events of the session", record),
        }
    }

    /// The calls that run get no result any more.
    fn close(&mut self) {
        self.pending.clear();
        self.entries.append(&mut self.deferred);
    }

    fn finish(mut self) -> Vec<HistoryItem<'d, 's>> {
        self.close();
        self.entries
    }

    /// Puts a summary in the place of what was said, and returns what is left out.
    fn compact(&mut self, record: Value<'d, 's>) -> Vec<HistoryItem<'d, 's>> {
        self.close();
        let text = record.get_any(&["contextSummary", "summary"]);
        let summary = text.map(|text| HistoryItem { record, said: ItemContent::Summary(text) });
        let number = |key: &str| {
            record.get(key).and_then(Value::as_u64).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let entries = std::mem::take(&mut self.entries);
        self.compactions += 1;
        let keeps = self.compactions <= MOST_COMPACTIONS;
        let kept_inputs = number("keptUserMessageCount").filter(|_| record.get("legacyTail").is_none());
        let kept_inputs = if keeps { kept_inputs } else { Some(0) };
        match (kept_inputs, number("compactedCount").or_else(|| number("count"))) {
            (None, Some(count)) if count < entries.len() => {
                let (gone, kept) = entries.split_at(count);
                self.entries = summary.into_iter().chain(kept.iter().cloned()).collect();
                gone.to_vec()
            }
            (kept, _) => {
                let inputs = entries.iter().filter(|entry| entry.is_input()).count();
                let mut before = inputs.saturating_sub(kept.unwrap_or(0));
                let (gone, kept): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| {
                    let is_early = before > 0;
                    before -= usize::from(is_early && entry.is_input());
                    is_early || !entry.is_input()
                });
                self.entries = kept.into_iter().chain(summary).collect();
                gone
            }
        }
    }

    /// Takes back as many inputs of the user with what followed them, but no summary.
    fn undo(&mut self, count: u64) -> Vec<HistoryItem<'d, 's>> {
        self.close();
        let mut left = count;
        let mut start = self.entries.len();
        for (number, entry) in self.entries.iter().enumerate().rev() {
            if left == 0 || matches!(entry.said, ItemContent::Summary(_)) {
                break;
            }
            start = number;
            left -= u64::from(entry.is_input());
        }
        self.entries.split_off(start)
    }
}

fn conversation<'s>(entries: &[HistoryItem<'_, 's>], end: ConversationEnd, reading: &mut Reading<'s>) {
    let Some(first) = entries.first() else { return };
    let mut transcript = Transcript::of_conversation(READER.key(), first.record.document().root());
    entries.iter().for_each(|entry| add(&mut transcript, entry));
    reading.add_log(&READER, "main", transcript, end);
}

fn add<'s>(transcript: &mut Transcript<'s>, entry: &HistoryItem<'_, 's>) {
    let record = entry.record;
    match &entry.said {
        ItemContent::Summary(text) => {
            transcript.next_message(Role::User, record).part(*text, Body::text(Some(*text)));
        }
        ItemContent::Result(event) => {
            let result = event.get("result");
            let is_error = result.and_then(|result| result.get("isError")).and_then(Value::as_bool);
            let content = result.and_then(|result| result.get("output"));
            let result = parts::result(event.get("toolCallId"), content, is_error);
            transcript.next_message(Role::Tool, record).part(*event, Body::Result(result));
        }
        ItemContent::Step(events) => {
            transcript.next_message(Role::Assistant, record);
            for event in events {
                match event.get("part") {
                    Some(part) => add_block(transcript, part),
                    None => {
                        let call = parts::call(event.get("toolCallId"), event.get("name"), event.get("args"));
                        transcript.part(*event, Body::Call(call));
                    }
                }
            }
        }
        ItemContent::Message(message) => add_message(transcript, record, *message),
    }
}

fn add_message<'s>(transcript: &mut Transcript<'s>, record: Value<'_, 's>, message: Value<'_, 's>) {
    let content = message.get("content");
    let role = match message.get_str("role").as_deref() {
        Some("tool") => {
            let is_error = message.get("isError").and_then(Value::as_bool);
            let result = parts::result(message.get("toolCallId"), content, is_error);
            transcript.next_message(Role::Tool, record).part(message, Body::Result(result));
            return;
        }
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        _ => Role::User,
    };
    transcript.next_message(role, record);
    if content.is_some_and(Value::is_string) {
        transcript.part(message, Body::text(content));
    }
    content.into_iter().flat_map(|content| content.elements()).for_each(|block| add_block(transcript, block));
    for call in message.list("toolCalls") {
        let body = parts::call(call.get("id"), call.get("name"), call.get("arguments"));
        transcript.part(call, Body::Call(body));
    }
}
