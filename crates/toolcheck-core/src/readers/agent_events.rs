//! Agents that write what happens as one event per line, in which a call and its result are events with an id: what
//! `codex exec --json`, `gemini --output-format stream-json`, `opencode run --format json`, `cursor-agent --output-format
//! stream-json`, `droid exec --output-format stream-json`, `cline --json` and `grok --output-format streaming-json` print, and
//! the sessions of Grok Build.
//!
//! Their shapes: `codex-rs/exec/src/exec_events.rs` of openai/codex, `packages/core/src/output/types.ts` of
//! google-gemini/gemini-cli, `packages/opencode/src/cli/cmd/run.ts` of sst/opencode, the pages on output formats in the
//! documentation of Cursor and Factory, `specstory-cli/pkg/providers/grokbuild/GROK-FORMAT.md` of specstoryai/getspecstory for
//! Grok Build 1.0.34, <https://docs.x.ai/build/cli/headless-scripting> for what it prints, and
//! `apps/cli/src/utils/events.ts` of cline/cline for Cline 3.

use foldhash::HashSet;
use toolcheck_json::Value;

use super::parts::{self, number_titles};
use super::{Conversation, ConversationEnd, LOOKED_AT, Reader, Reading};
use crate::claim::certainty;
use crate::ir::{Body, Call, Named, Place, Role, Transcript, UnpairedReason};

pub(super) static READER: Reader =
    Reader::log("agent-events", "Agent events, one per line", sniff, read).or_one_list().or_wrapped();

enum Event<'d, 's> {
    /// Somebody says something.
    Says(Role, Option<Value<'d, 's>>),
    Thinks,
    /// The model says something and calls tools.
    Answers(Option<Value<'d, 's>>, Vec<Call<'s>>),
    Calls(Call<'s>),
    /// A call, which an event before it may have told, with its result and whether that is an error.
    Done(Call<'s>, Option<Value<'d, 's>>, Option<bool>),
    /// The result of the call with an id, and whether it is an error.
    Answered(Option<Value<'d, 's>>, Option<Value<'d, 's>>, Option<bool>),
    /// The same, which may be told several times.
    Updated(Option<Value<'d, 's>>, Option<Value<'d, 's>>, Option<bool>),
    /// Another conversation begins.
    Begins,
    /// An error or the user ended the turn.
    Stops,
    /// The run is over, with the last text, which may have been said before.
    Ends(Option<Value<'d, 's>>),
    /// It tells nothing of the conversation.
    Other(&'static str),
}

struct Dialect {
    /// Whether a record with a type is an event that only this agent writes.
    is_own: fn(&str, Value<'_, '_>) -> bool,
    /// What a record with a type tells; `None` if the agent is not known to write it.
    event: for<'d, 's> fn(&str, Value<'d, 's>) -> Option<Event<'d, 's>>,
}

static DIALECTS: [Dialect; 8] = [
    Dialect { is_own: is_of_codex, event: of_codex },
    Dialect { is_own: is_of_gemini, event: of_gemini },
    Dialect { is_own: is_of_opencode, event: of_opencode },
    Dialect { is_own: is_of_cursor, event: of_cursor },
    Dialect { is_own: is_of_droid, event: of_droid },
    Dialect { is_own: is_of_grok, event: of_grok },
    Dialect { is_own: is_of_grok_stream, event: of_grok_stream },
    Dialect { is_own: is_of_cline, event: of_cline },
];

fn dialect(records: &[Value<'_, '_>]) -> Option<&'static Dialect> {
    records.iter().take(LOOKED_AT).find_map(|record| {
        let kind = record.get_str("type")?;
        DIALECTS.iter().find(|dialect| (dialect.is_own)(&kind, *record))
    })
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    if dialect(records).is_some() { certainty::OWN_SHAPE } else { 0 }
}

/// What an event of a run tells that is no part of the conversation.
const OF_RUN: Event<'static, 'static> = Event::Other("events of the run");

fn role_of(record: Value<'_, '_>) -> Role {
    if record.is("role", "user") { Role::User } else { Role::Assistant }
}

fn is_of_codex(kind: &str, record: Value<'_, '_>) -> bool {
    let is_item = || record.get("item").is_some_and(|item| item.has_all(&["id", "type"]));
    kind == "thread.started" && record.has("thread_id") || kind.starts_with("item.") && is_item()
}

fn of_codex<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    match kind {
        "thread.started" => return Some(Event::Begins),
        "turn.failed" | "error" => return Some(Event::Stops),
        "turn.started" | "turn.completed" | "item.updated" => return Some(OF_RUN),
        "item.started" | "item.completed" => {}
        _ => return None,
    }
    let item = record.get("item")?;
    let is_done = kind == "item.completed";
    Some(match &*item.get_str("type")? {
        "agent_message" if is_done => Event::Says(Role::Assistant, item.get("text")),
        "reasoning" if is_done => Event::Thinks,
        // The command is no JSON, so that it is not what arguments are checked as.
        "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" => {
            let call = parts::call(item.get("id"), item.get_any(&["tool", "type"]), item.get("arguments"));
            let content = ["aggregated_output", "result", "changes", "error", "agents_states"];
            let content = content.iter().filter_map(|key| item.get(key)).find(|value| !value.is_null());
            let is_error = item.is("status", "failed") || item.is("status", "declined");
            if is_done { Event::Done(call, content, Some(is_error)) } else { Event::Calls(call) }
        }
        "agent_message" | "reasoning" | "web_search" | "todo_list" | "error" => OF_RUN,
        _ => return None,
    })
}

fn is_of_gemini(kind: &str, record: Value<'_, '_>) -> bool {
    kind == "init" && record.has_all(&["session_id", "model", "timestamp"])
        || kind == "tool_use" && record.has_all(&["tool_id", "tool_name"])
}

fn of_gemini<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    Some(match kind {
        "message" => Event::Says(role_of(record), record.get("content")),
        "tool_use" => Event::Calls(parts::call(
            record.get("tool_id"),
            record.get("tool_name"),
            record.get("parameters"),
        )),
        "tool_result" => Event::Answered(
            record.get("tool_id"),
            record.get_any(&["output", "error"]),
            Some(record.is("status", "error")),
        ),
        "result" if record.is("status", "error") => Event::Stops,
        "init" | "error" | "result" => OF_RUN,
        _ => return None,
    })
}

fn is_of_opencode(kind: &str, record: Value<'_, '_>) -> bool {
    matches!(kind, "step_start" | "step_finish" | "tool_use" | "text" | "reasoning")
        && record.has_object("part")
        && record.has("sessionID")
}

fn of_opencode<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    let part = record.get("part");
    Some(match kind {
        "text" => Event::Says(Role::Assistant, part?.get("text")),
        "reasoning" => Event::Thinks,
        "tool_use" => {
            let state = part?.get("state")?;
            let call = parts::call(part?.get("callID"), part?.get("tool"), state.get("input"));
            let content = state.get_any(&["output", "error"]);
            match state.get_str("status").as_deref() {
                Some("completed") => Event::Done(call, content, Some(false)),
                Some("error") => Event::Done(call, content, Some(true)),
                _ => Event::Calls(call),
            }
        }
        "error" => Event::Stops,
        "step_start" | "step_finish" => OF_RUN,
        _ => return None,
    })
}

/// Cursor begins like Claude Code, but names no tools.
fn is_of_cursor(kind: &str, record: Value<'_, '_>) -> bool {
    let is_call = || record.has_object("tool_call");
    kind == "tool_call" && record.has_all(&["subtype", "call_id"]) && is_call()
        || kind == "system"
            && record.has_all(&["session_id", "apiKeySource"])
            && record.get_any(&["tools", "uuid"]).is_none()
}

fn of_cursor<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    let says = || record.get_in(&["message", "content"]);
    Some(match kind {
        "user" => Event::Says(Role::User, says()),
        "assistant" => Event::Says(Role::Assistant, says()),
        "tool_call" => {
            let inner = record.get("tool_call")?.members().find(|member| member.is_object())?;
            let name = inner.key_text()?;
            let mut call = if name == "function" {
                parts::call(record.get("call_id"), inner.get("name"), inner.get("arguments"))
            } else {
                parts::call(record.get("call_id"), None, inner.get("args"))
            };
            let text = name.strip_suffix("ToolCall").unwrap_or(&name).to_owned().into();
            call.name.get_or_insert(Named { text, place: Place::of_key(inner), instead: None });
            let result = inner.get("result");
            match record.get_str("subtype").as_deref() {
                Some("started") => Event::Calls(call),
                Some("completed") => {
                    let is_error = result.map(|result| result.get("success").is_none());
                    Event::Done(call, result, is_error)
                }
                _ => return None,
            }
        }
        "result" if !record.is("subtype", "success") => Event::Stops,
        "system" | "thinking" | "interaction_query" | "result" => OF_RUN,
        _ => return None,
    })
}

fn is_of_droid(kind: &str, record: Value<'_, '_>) -> bool {
    let is_in_session = || record.get_any(&["session_id", "sessionId"]).is_some();
    match kind {
        "message" => record.has_all(&["role", "text"]) && is_in_session(),
        "tool_call" => record.has_all(&["id", "toolName", "parameters"]),
        _ => false,
    }
}

fn of_droid<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    Some(match kind {
        "message" => Event::Says(role_of(record), record.get("text")),
        "reasoning" => Event::Thinks,
        "tool_call" => Event::Calls(parts::call(
            record.get("id"),
            record.get_any(&["toolName", "toolId"]),
            record.get("parameters"),
        )),
        "tool_result" => Event::Answered(
            record.get("id"),
            record.get_any(&["value", "error"]),
            record.get("isError").and_then(Value::as_bool),
        ),
        "error" => Event::Stops,
        "completion" => Event::Ends(record.get("finalText")),
        "system" => OF_RUN,
        _ => return None,
    })
}

fn is_of_grok(kind: &str, record: Value<'_, '_>) -> bool {
    match kind {
        "assistant" => record.has_all(&["content", "model_id"]),
        "user" => record.has("content") && record.get_any(&["prompt_index", "synthetic_reason"]).is_some(),
        "backend_tool_call" => record.has_object("kind"),
        _ => false,
    }
}

fn of_grok<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    let content = record.get("content");
    Some(match kind {
        "system" => Event::Says(Role::System, content),
        "user" => Event::Says(Role::User, content),
        "assistant" => {
            let calls = record.list("tool_calls");
            let call =
                |call: Value<'d, 's>| parts::call(call.get("id"), call.get("name"), call.get("arguments"));
            Event::Answers(content, calls.map(call).collect())
        }
        "tool_result" => Event::Answered(record.get("tool_call_id"), content, None),
        "reasoning" => Event::Thinks,
        "backend_tool_call" => Event::Other("calls that the provider ran"),
        _ => return None,
    })
}

fn is_of_grok_stream(kind: &str, record: Value<'_, '_>) -> bool {
    match kind {
        "tool_call" => record.has_all(&["toolCallId", "rawInput"]),
        "tool_call_update" => record.has_all(&["toolCallId", "status"]),
        "thought" => record.has("data") && record.members().count() == 2,
        "available_commands" => record.get_any(&["tools", "commands"]).is_some(),
        "end" => record.has_all(&["sessionId", "stopReason"]),
        _ => false,
    }
}

/// The updates of the Agent Client Protocol, with their names as types.
fn of_grok_stream<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    Some(match kind {
        "text" => Event::Says(Role::Assistant, record.get("data")),
        "thought" => Event::Thinks,
        "tool_call" => {
            let name = record.get_any(&["toolName", "title"]);
            Event::Calls(parts::call(record.get("toolCallId"), name, record.get("rawInput")))
        }
        "tool_call_update" => {
            let is_error = record.is("status", "failed");
            if !is_error && !record.is("status", "completed") {
                return Some(OF_RUN);
            }
            let output = record.get("rawOutput").filter(|output| !output.is_null());
            let content = output.or_else(|| record.get("content"));
            Event::Updated(record.get("toolCallId"), content, Some(is_error))
        }
        "error" | "max_turns_reached" => Event::Stops,
        "end" if record.get_str("stopReason").is_some_and(|why| why.eq_ignore_ascii_case("cancelled")) => {
            Event::Stops
        }
        "available_commands" | "end" | "plan" | "usage" => OF_RUN,
        kind if kind.starts_with("auto_compact_") => OF_RUN,
        _ => return None,
    })
}

fn is_of_cline(kind: &str, record: Value<'_, '_>) -> bool {
    kind == "agent_event" && record.get_in(&["event", "type"]).is_some()
        || kind == "hook_event" && record.has("hookEventName")
}

/// What is said and thought comes in pieces, and then as a whole.
fn of_cline<'d, 's>(kind: &str, record: Value<'d, 's>) -> Option<Event<'d, 's>> {
    match kind {
        "error" | "run_aborted" => return Some(Event::Stops),
        "run_result" if !record.is("finishReason", "completed") => return Some(Event::Stops),
        "hook_event" | "run_result" | "run_start" => return Some(OF_RUN),
        "agent_event" => {}
        _ => return None,
    }
    let event = record.get("event")?;
    let id = event.get("toolCallId");
    Some(match (&*event.get_str("type")?, event.get_str("contentType").as_deref()) {
        ("content_start", Some("tool")) => {
            Event::Calls(parts::call(id, event.get("toolName"), event.get("input")))
        }
        ("content_end", Some("tool")) => {
            let error = event.get("error").filter(|error| !error.is_null());
            Event::Answered(id, error.or_else(|| event.get("output")), Some(error.is_some()))
        }
        ("content_end", Some("text")) => Event::Says(Role::Assistant, event.get("text")),
        ("content_end", Some("reasoning")) => Event::Thinks,
        ("done", _) if event.is("reason", "aborted") => Event::Stops,
        ("content_start" | "content_update" | "done" | "error" | "notice" | "usage", _) => OF_RUN,
        ("iteration_start" | "iteration_end", _) => OF_RUN,
        _ => return None,
    })
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let (Some(dialect), Some(first)) = (dialect(records), records.first()) else { return reading };
    let empty = Transcript::of_conversation(READER.key(), first.document().root());
    let mut log = Log::of(&empty);
    for &record in records {
        let event = record.get_str("type").and_then(|kind| (dialect.event)(&kind, record));
        match event {
            Some(Event::Begins) => {
                let log = std::mem::replace(&mut log, Log::of(&empty));
                log.end(&mut reading.conversations);
            }
            Some(Event::Other(what)) => reading.leave_out(what),
            Some(Event::Ends(text)) if text.is_none() || !log.ends_with_call() => {
                reading.leave_out("events of the run");
            }
            Some(event) => log.add(record, event),
            None => reading.leave_out_unknown("records that are not events", record),
        }
    }
    log.end(&mut reading.conversations);
    number_titles(&mut reading.conversations);
    reading
}

struct Log<'s> {
    transcript: Transcript<'s>,
    called: HashSet<String>,
    /// The calls whose updates have told their result.
    updated: HashSet<String>,
    /// The number of the part with which the turn begins.
    turn: usize,
    end: ConversationEnd,
}

impl<'s> Log<'s> {
    fn of(empty: &Transcript<'s>) -> Self {
        let (called, updated) = <(HashSet<_>, HashSet<_>)>::default();
        Self { transcript: empty.clone(), called, updated, turn: 0, end: ConversationEnd::Open }
    }

    fn ends_with_call(&self) -> bool {
        self.transcript.parts.last().is_some_and(|part| part.call().is_some())
    }

    fn add(&mut self, record: Value<'_, 's>, event: Event<'_, 's>) {
        match event {
            Event::Says(role, content) => {
                if role == Role::User {
                    if record.has("prior_turn_interrupt") {
                        self.stop();
                    }
                    self.turn = self.transcript.parts.len();
                }
                self.end = ConversationEnd::Open;
                self.transcript.turn(role, record).content(content, |_| Some(Body::Opaque));
            }
            Event::Thinks => {
                self.transcript.turn(Role::Assistant, record).part(record, parts::reasoning(None));
            }
            Event::Answers(content, calls) => {
                self.add(record, Event::Says(Role::Assistant, content));
                calls.into_iter().for_each(|call| self.call(record, call));
            }
            Event::Calls(call) => self.call(record, call),
            Event::Done(call, content, is_error) => {
                let id = call.id.clone();
                let is_known = id.as_ref().is_some_and(|id| self.called.contains(&*id.text));
                if !is_known {
                    self.call(record, call);
                }
                self.answer(record, id, content, is_error);
            }
            Event::Answered(id, content, is_error) => {
                self.answer(record, parts::id(id).and_then(Named::of), content, is_error);
            }
            Event::Updated(id, content, is_error) => {
                if id.and_then(|id| id.as_str()).is_none_or(|id| self.updated.insert(id.into_owned())) {
                    self.add(record, Event::Answered(id, content, is_error));
                }
            }
            Event::Stops => self.stop(),
            Event::Ends(text) => {
                // It is another answer than the one with the call.
                self.transcript.details.answers.push(self.transcript.parts.len());
                self.transcript.next_message(Role::Assistant, record).part(record, Body::text(text));
            }
            Event::Begins | Event::Other(_) => {}
        }
    }

    fn call(&mut self, record: Value<'_, 's>, call: Call<'s>) {
        self.called.extend(call.id.as_ref().map(|id| id.text.to_string()));
        self.transcript.turn(Role::Assistant, record).part(record, Body::Call(call));
    }

    fn answer(
        &mut self,
        record: Value<'_, 's>,
        id: Option<Named<'s>>,
        content: Option<Value<'_, 's>>,
        is_error: Option<bool>,
    ) {
        let mut result = parts::result(None, content, is_error);
        result.call_id = id;
        // Some repeat the call beside it.
        let place = content.unwrap_or(record);
        self.transcript.turn(Role::Tool, place).part(place, Body::Result(result));
    }

    /// The turn ends here, whether or not its calls are done.
    fn stop(&mut self) {
        self.transcript.abort_calls_from(self.turn);
        self.turn = self.transcript.parts.len();
        self.end = ConversationEnd::Aborted;
    }

    fn end(mut self, conversations: &mut Vec<Conversation<'s>>) {
        if !self.transcript.messages.is_empty() {
            self.transcript.settle_results_of_first(UnpairedReason::Elsewhere);
            let (transcript, end) = (self.transcript, self.end);
            conversations.push(Conversation::new("main", transcript, end));
        }
    }
}
