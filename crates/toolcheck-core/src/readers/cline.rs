//! Cline and its descendants, such as Roo: the messages of a task.
//!
//! The blocks are those of Anthropic's Messages API. Roo keeps the messages that a summary or a truncation took out of the
//! context, with the id of what took their place. Older versions write the results of calls as texts.

use foldhash::HashSet;
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::mend::{Added, Mend, members_of};
use super::parts::{self, in_order, number_titles};
use super::{Conversation, Ended, Reader, Reading, Sort, Unit};
use crate::claim::certainty;
use crate::formats::anthropic;
use crate::ir::{Role, Settled, Transcript};

pub(super) static READER: Reader =
    Reader { id: "cline", name: "Cline session", sort: Sort::AgentLog, unit: Unit::File, sniff, read };

pub(super) static MEND: Mend =
    Mend { format: &anthropic::FORMAT, message: None, is_alone: false, links: None, record };

/// A message has its time.
fn record(added: Added<'_, '_>) -> Piece {
    match added.message {
        Piece::Object(mut members) => {
            members.extend(members_of(added.after, &["ts"]));
            Piece::Object(members)
        }
        message => message,
    }
}

/// The number of messages that are looked at.
const LOOKED_AT: usize = 32;

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let [root] = records else { return 0 };
    let is_own = if root.is_array() { is_history(*root) } else { is_document(*root) };
    if is_own { certainty::OWN_SHAPE } else { 0 }
}

fn is_document(root: Value<'_, '_>) -> bool {
    let has = |key: &str| root.get(key).is_some();
    root.get("messages").is_some_and(Value::is_array)
        && has("version")
        && has("sessionId")
        && (has("agent") || has("updated_at"))
}

/// Whether a list of messages is the history that the agent keeps: each has its time, and the model's its costs.
fn is_history(root: Value<'_, '_>) -> bool {
    let messages = || root.elements().take(LOOKED_AT);
    let is_message = |message: Value<'_, '_>| {
        message.get("role").is_some() && (message.get("content").is_some() || is_reasoning(message))
    };
    let is_own = |message: Value<'_, '_>| {
        let own = [
            "modelInfo",
            "metrics",
            "condenseId",
            "condenseParent",
            "truncationId",
            "truncationParent",
            "isTruncationMarker",
        ];
        message.get("ts").is_some() && message.get_any(&own).is_some()
    };
    let is_task = |message: Value<'_, '_>| {
        let text = |block: Value<'_, '_>| {
            block.get_str("text").is_some_and(|text| {
                text.trim_start().starts_with("<task>") || text.contains("<environment_details>")
            })
        };
        message.get("ts").is_some() && blocks(message).any(text)
    };
    messages().next().is_some()
        && messages().all(is_message)
        && messages().any(|message| is_own(message) || is_task(message))
}

fn is_reasoning(message: Value<'_, '_>) -> bool {
    message.get_str("type").as_deref() == Some("reasoning")
}

fn blocks<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    message.get("content").into_iter().flat_map(|content| content.elements())
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for &record in records {
        let list = if record.is_array() { Some(record) } else { record.get("messages") };
        let messages: Vec<Value<'_, '_>> = list.into_iter().flat_map(|list| list.elements()).collect();
        let answers = Answers::of(&messages);
        reading.left_out.add("results that were written as text", answers.in_text);
        let hidden = Hidden::of(&messages);
        let (out, kept): (Vec<_>, Vec<_>) =
            messages.iter().copied().enumerate().partition(|(_, message)| hidden.hides(*message));
        reading.left_out.add("messages that were taken out of the context", out.len());
        conversation(&out, &answers, Ended::Replaced, &mut reading.conversations);
        let mut start = 0;
        for number in 1..kept.len() {
            if is_compaction(kept[number].1) {
                conversation(&kept[start..number], &answers, Ended::Compacted, &mut reading.conversations);
                start = number;
            }
        }
        conversation(&kept[start..], &answers, Ended::Open, &mut reading.conversations);
    }
    in_order(&mut reading.conversations);
    number_titles(&mut reading.conversations);
    reading
}

/// Whether a message is the summary of what was said before.
fn is_compaction(message: Value<'_, '_>) -> bool {
    let kind = message.get("metadata").and_then(|metadata| metadata.get_str("kind"));
    kind.is_some_and(|kind| matches!(&*kind, "compaction" | "compaction_summary"))
}

fn conversation<'s>(
    messages: &[(usize, Value<'_, 's>)],
    answers: &Answers,
    ended: Ended,
    conversations: &mut Vec<Conversation<'s>>,
) {
    let Some((_, first)) = messages.first() else { return };
    let mut transcript = Transcript::of_conversation(READER.key(), first.document().root());
    transcript.batches_results = true;
    for &(number, message) in messages {
        if is_reasoning(message) {
            transcript.turn(Role::Assistant, message);
            transcript.part(message, parts::reasoning(message.get("encrypted_content")));
            continue;
        }
        anthropic::read_message(&mut transcript, message, number, false);
        if answers.are_text(number) {
            transcript.settle_calls_of_last(Settled::AsText);
        }
    }
    if ended != Ended::Open {
        transcript.settle_calls_of_last_turn(Settled::Aborted);
    }
    transcript.settle_results_of_first(Settled::Elsewhere);
    conversations.push(Conversation { title: "main".to_owned(), transcript, ended });
}

/// The ids of the summaries and markers that took the place of other messages.
struct Hidden<'s> {
    summaries: HashSet<&'s [u8]>,
    truncations: HashSet<&'s [u8]>,
}

impl<'s> Hidden<'s> {
    fn of(messages: &[Value<'_, 's>]) -> Self {
        let ids =
            |key: &str| messages.iter().filter_map(|message| message.get(key)).map(Value::raw).collect();
        Self { summaries: ids("condenseId"), truncations: ids("truncationId") }
    }

    fn hides(&self, message: Value<'_, '_>) -> bool {
        let names = |key: &str, ids: &HashSet<&'s [u8]>| {
            message.get(key).is_some_and(|parent| ids.contains(parent.raw()))
        };
        names("condenseParent", &self.summaries) || names("truncationParent", &self.truncations)
    }
}

/// Which calls are answered by texts such as `[read_file for 'a.rs'] Result:`.
struct Answers {
    /// Whether a text of the next message answers a call of the message.
    by_message: Vec<bool>,
    /// Whether no result in the file is anything else than text.
    all: bool,
    /// How many calls are answered so.
    in_text: usize,
}

impl Answers {
    fn of(messages: &[Value<'_, '_>]) -> Self {
        let is = |block: &Value<'_, '_>, kind: &str| block.get_str("type").as_deref() == Some(kind);
        let calls = |message: Value<'_, '_>| blocks(message).filter(|block| is(block, "tool_use")).count();
        let mut by_message = vec![false; messages.len()];
        for (number, pair) in messages.windows(2).enumerate() {
            if calls(pair[0]) > 0 {
                let names: Vec<_> = blocks(pair[0]).filter_map(|block| block.get_str("name")).collect();
                let is_answer = |block: Value<'_, '_>| {
                    let text = block.get_str("text");
                    let rest = text.as_deref().and_then(|text| text.trim_start().strip_prefix('['));
                    rest.is_some_and(|rest| {
                        names.iter().take(MOST_NAMES).any(|name| rest.starts_with(&**name))
                    })
                };
                by_message[number] = blocks(pair[1]).take(MOST_NAMES).any(is_answer);
            }
        }
        let is_any = by_message.contains(&true);
        let has_results =
            messages.iter().any(|message| blocks(*message).any(|block| is(&block, "tool_result")));
        let all = is_any && !has_results;
        let are_text = |(number, _): &(usize, &Value<'_, '_>)| all || by_message[*number];
        let in_text = messages.iter().enumerate().filter(are_text).map(|(_, message)| calls(*message)).sum();
        Self { by_message, all, in_text }
    }

    fn are_text(&self, number: usize) -> bool {
        self.all || self.by_message.get(number) == Some(&true)
    }
}

/// The number of calls and texts of a turn that are compared.
const MOST_NAMES: usize = 64;
