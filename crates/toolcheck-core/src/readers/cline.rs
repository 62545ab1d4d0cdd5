//! Cline and its descendants, such as Roo: the messages of a task.
//!
//! The blocks are those of Anthropic's Messages API. Roo keeps the messages that a summary or a truncation took out of the
//! context, with the id of what took their place. Older versions write the results of calls as texts.

use foldhash::HashSet;
use toolcheck_json::Value;

use super::file_style::{self, FileFixStyle};
use super::parts::{self};
use super::{Conversation, ConversationEnd, Reader, Reading};
use crate::claim::certainty;
use crate::formats::anthropic;
use crate::ir::{Role, Transcript, UnpairedReason};
use crate::names::words;

pub(super) static READER: Reader = Reader::log("cline", "Cline session", sniff, read).fixed_by(&FILE_STYLE);

static FILE_STYLE: FileFixStyle = FileFixStyle {
    format: Some(&anthropic::FORMAT),
    stamps: &["ts"],
    record: |added| file_style::stamped(added, &["ts"]),
    ..FileFixStyle::plain(anthropic::FORMAT.fix_style)
};

const LOOKED_AT: usize = 32;

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let [root] = records else { return 0 };
    let is_own = if root.is_array() { is_history(*root) } else { is_document(*root) };
    if is_own { certainty::OWN_SHAPE } else { 0 }
}

fn is_document(root: Value<'_, '_>) -> bool {
    root.has_list("messages")
        && root.has("version")
        && root.has("sessionId")
        && (root.has("agent") || root.has("updated_at"))
}

/// Whether a list of messages is the history that the agent keeps: each has its time, and the model's its costs.
fn is_history(root: Value<'_, '_>) -> bool {
    let messages = || root.elements().take(LOOKED_AT);
    let is_message = |message: Value<'_, '_>| is_reasoning(message) || message.has_all(&["role", "content"]);
    let is_own = |message: Value<'_, '_>| {
        const OWN: [&str; 7] = words(
            "modelInfo metrics condenseId condenseParent truncationId truncationParent isTruncationMarker",
        );
        message.has("ts") && message.get_any(&OWN).is_some()
    };
    let is_task = |message: Value<'_, '_>| {
        let text = |block: Value<'_, '_>| {
            block.get_str("text").is_some_and(|text| {
                text.trim_start().starts_with("<task>") || text.contains("<environment_details>")
            })
        };
        message.has("ts") && message.list("content").any(text)
    };
    messages().next().is_some()
        && messages().all(is_message)
        && messages().any(|message| is_own(message) || is_task(message))
}

fn is_reasoning(message: Value<'_, '_>) -> bool {
    message.is("type", "reasoning")
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for &record in records {
        let list = if record.is_array() { Some(record) } else { record.get("messages") };
        let messages: Vec<Value<'_, '_>> = list.into_iter().flat_map(|list| list.elements()).collect();
        let answers = Answers::of(&messages);
        reading.left_out.add("results that were written as text", answers.in_text);
        let context = Context::of(&messages);
        let (kept, out): (Vec<_>, Vec<_>) =
            messages.iter().copied().enumerate().partition(|(number, _)| context.has(*number));
        reading.left_out.add("messages that were taken out of the context", out.len());
        conversation(&out, &answers, None, &mut reading.conversations);
        conversation(&kept, &answers, Some(&context), &mut reading.conversations);
    }
    reading.in_order()
}

/// Reads the messages that are sent next, which are those of a context, or those that are not.
fn conversation<'s>(
    messages: &[(usize, Value<'_, 's>)],
    answers: &Answers,
    context: Option<&Context>,
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
            transcript.settle_calls_of_last(UnpairedReason::AsText);
        }
    }
    let mut end = ConversationEnd::Replaced;
    match context {
        Some(context) => {
            end = ConversationEnd::Open;
            transcript.sent_next_by = Some(context.agent);
            context.settle(&mut transcript);
        }
        None => {
            transcript.settle_calls_of_last_turn(UnpairedReason::Aborted);
            transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        }
    }
    conversations.push(Conversation::new("main", transcript, end));
}

/// What is sent next of the messages of a task. Cline sends all of them: what it cuts out of the context is noted in other
/// files. Roo notes it here (`getEffectiveApiHistory` in `src/core/condense/index.ts`).
struct Context {
    /// The agent whose rules hold.
    agent: &'static str,
    is_sent: Vec<bool>,
    /// Whether Roo leaves out the results whose calls a summary took the place of.
    leaves_out_results: bool,
}

const OF_ROO: [&str; 6] =
    ["condenseId", "condenseParent", "isSummary", "truncationId", "truncationParent", "isTruncationMarker"];

impl Context {
    fn of(messages: &[Value<'_, '_>]) -> Self {
        let is_of_roo =
            |message: &Value<'_, '_>| message.get_any(&OF_ROO).is_some() || is_reasoning(*message);
        if !messages.iter().any(is_of_roo) {
            // Only Cline notes the model and the costs of what the model says.
            let is_of_cline = |message: &Value<'_, '_>| message.get_any(&["modelInfo", "metrics"]).is_some();
            let has_time = messages.iter().all(|message| message.has("ts"));
            let agent =
                if has_time && !messages.iter().any(is_of_cline) { "roo-or-cline" } else { READER.id };
            return Self { agent, is_sent: vec![true; messages.len()], leaves_out_results: false };
        }
        let is_true = |message: &Value<'_, '_>, key: &str| message.is_true(key);
        let summary = messages.iter().rposition(|message| is_true(message, "isSummary"));
        // Since January 2026 a summary is a message of the user, and only what follows it is sent. Before, the first
        // message and the last ones were kept beside it.
        let is_of_user = |number: usize| messages[number].is("role", "user");
        let start = summary.filter(|number| is_of_user(*number)).unwrap_or(0);
        let ids = |key: &str| -> HashSet<&[u8]> {
            messages[start..].iter().filter_map(|message| message.get(key)).map(Value::raw).collect()
        };
        let (summaries, truncations) = (ids("condenseId"), ids("truncationId"));
        let is_hidden = |message: &Value<'_, '_>| {
            let names = |key: &str, ids: &HashSet<&[u8]>| {
                message.get(key).is_some_and(|parent| ids.contains(parent.raw()))
            };
            names("condenseParent", &summaries) || names("truncationParent", &truncations)
        };
        let before_summary = |number: usize| summary.is_some_and(|summary| number > 0 && number < summary);
        let is_sent = messages
            .iter()
            .enumerate()
            .map(|(number, message)| number >= start && !is_hidden(message) && !before_summary(number));
        Self { agent: "roo", is_sent: is_sent.collect(), leaves_out_results: start > 0 }
    }

    fn has(&self, number: usize) -> bool {
        self.is_sent[number]
    }

    /// Says what Roo puts right itself: it answers the last calls when a task is resumed, and leaves out results whose calls
    /// a summary took the place of.
    fn settle(&self, transcript: &mut Transcript<'_>) {
        if self.agent != "roo" {
            transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        }
        if self.agent == READER.id {
            return;
        }
        let last = transcript.messages.iter().rev().take(2).find(|message| message.role == Role::Assistant);
        if let Some(start) = last.map(|last| last.parts.start as usize) {
            transcript.settle_calls_from(start, UnpairedReason::Aborted);
        }
        if !self.leaves_out_results {
            return;
        }
        let called: HashSet<String> = transcript.call_ids().map(str::to_owned).collect();
        let is_left_out = |id: Option<&str>| id.is_none_or(|id| !called.contains(id));
        transcript.settle_results_if(is_left_out, UnpairedReason::Deleted);
    }
}

/// Which calls are answered by texts such as `[read_file for 'a.rs'] Result:`. What is in the brackets is the handler's
/// description of the call, which begins with the tool's name but for `use_subagents` (`[subagents]`).
struct Answers {
    /// Whether a text of the next message answers a call of the message.
    by_message: Vec<bool>,
    /// Whether no result in the file is anything else than text.
    all: bool,
    in_text: usize,
}

impl Answers {
    fn of(messages: &[Value<'_, '_>]) -> Self {
        let is = |block: &Value<'_, '_>, kind: &str| block.is("type", kind);
        let calls =
            |message: Value<'_, '_>| message.list("content").filter(|block| is(block, "tool_use")).count();
        let mut by_message = vec![false; messages.len()];
        for (number, pair) in messages.windows(2).enumerate() {
            if calls(pair[0]) > 0 {
                let names: Vec<_> =
                    pair[0].list("content").filter_map(|block| block.get_str("name")).collect();
                let is_answer = |block: Value<'_, '_>| {
                    let text = block.get_str("text");
                    let rest = text.as_deref().and_then(|text| text.trim_start().strip_prefix('['));
                    rest.is_some_and(|rest| {
                        rest.starts_with("subagents] Result:")
                            || names.iter().take(MOST_NAMES).any(|name| rest.starts_with(&**name))
                    })
                };
                by_message[number] = pair[1].list("content").take(MOST_NAMES).any(is_answer);
            }
        }
        let is_any = by_message.contains(&true);
        let has_results =
            messages.iter().any(|message| message.list("content").any(|block| is(&block, "tool_result")));
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
