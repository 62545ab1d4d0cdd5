//! Cohere's v2 chat: a dialect of Chat Completions with a plan next to the calls.

mod reply;

use serde_json::json;
use toolcheck_json::Value;

use super::openai_chat::write::{self, Style};
use super::openai_chat::{self, Dialect};
use super::{Format, Marks, blocks, is_stray, messages_of};
use crate::assembly::{self, Assembly, ChoiceCall, Completion, Locate};
use crate::claim::{Claim, certainty, surest_message};
use crate::fix_style::FixStyle;
use crate::reply::Framing;
use crate::route::Route;

pub(super) static FORMAT: Format = Format {
    id: "cohere",
    name: "Cohere v2 chat",
    routes: &[Route::new("", "/v2/chat").common()],
    marks: Marks {
        body: &OWN_BODY,
        message: &OWN_MESSAGE,
        answer: &["message", "finish_reason"],
        models: &["command-", "c4ai-"],
        is_shared: false,
        says_nothing: &super::OF_CHAT,
    },
    sniff,
    read_with: |root, buffers| openai_chat::read_dialect(root, &DIALECT, buffers),
    answers,
    event,
    write_request: |conversation, tools| write::request(conversation, tools, &STYLE),
    write_reply: reply::write,
    write_events: reply::events,
    framing: Framing::ServerSent(None),
    fix_style: &FIX_STYLE,
    ..openai_chat::CHAT
};

static FIX_STYLE: FixStyle = FixStyle {
    only_in_results: &["document"],
    thoughts: &["tool_plan"],
    choices: ["", r#""REQUIRED""#, r#""NONE""#, ""],
    ..FixStyle::CHAT
};

static DIALECT: Dialect = Dialect {
    format: FORMAT.key(),
    result_name: &["name"],
    text: &["tool_plan"],
    media: &[],
    roles: &[],
    may_lack_arguments: true,
};

/// The keys of a request body that no other dialect has.
const OWN_BODY: [&str; 3] = ["citation_options", "safety_mode", "strict_tools"];

/// The keys of a message that no other dialect has.
const OWN_MESSAGE: [&str; 2] = ["tool_plan", "citations"];

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = messages_of(root) else { return 0 };
    let is_empty = root.is_object() && list.elements().next().is_none();
    let sure = if is_empty { certainty::FAINT } else { surest_message(list, certainty::CERTAIN, claim) };
    if sure == 0 || !root.is_object() {
        return sure;
    }
    // Groq has `citation_options` too, as a string.
    let is_own = |value: Value<'_, '_>| !value.has_key("citation_options") || value.is_object();
    if OWN_BODY.iter().filter_map(|key| root.get(key)).any(is_own) && !is_stray(root, &OWN_BODY, &FORMAT) {
        return sure.max(certainty::OWN_SETTING);
    }
    let model = root.get_str("model").unwrap_or_default();
    if FORMAT.marks.has_model(&model) {
        sure.max(certainty::OWN_MODEL)
    } else if super::ALL.iter().any(|format| format.marks.has_model(&model)) {
        // The mark in a message is the mistake.
        sure.min(certainty::FAINT)
    } else {
        sure
    }
}

fn claim(message: Value<'_, '_>) -> Claim {
    let is_document = |block: Value<'_, '_>| block.is("type", "document");
    let has_document = || blocks(message, "content").any(is_document);
    match message.get_str("role").as_deref() {
        Some("assistant") if message.get_any(&OWN_MESSAGE).is_some() => Claim::Sure(certainty::CERTAIN),
        Some("tool") if has_document() => Claim::Sure(certainty::CERTAIN),
        Some("system" | "user" | "assistant" | "tool") => match openai_chat::claim(message) {
            Claim::Sure(_) => Claim::Sure(certainty::FAINT),
            other => other,
        },
        _ => Claim::Foreign,
    }
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    let message = value.get("message").filter(|message| message.is_object())?;
    let is_whole = assembly::is_whole(value.get("finish_reason"), &WHOLE);
    Some(vec![openai_chat::answer(message, is_whole, &DIALECT)])
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let delta = event.get("delta");
    let call = delta.and_then(|delta| delta.get("message")).and_then(|message| message.get("tool_calls"));
    let number = event.get("index").and_then(Value::as_u64);
    match event.get_str("type").as_deref() {
        Some("content-delta") => {
            let content =
                delta.and_then(|delta| delta.get("message")).and_then(|message| message.get("content"));
            assembly.text(0, content.and_then(|content| content.get("text")));
            if let Some(text) = content.and_then(|content| content.get("thinking")) {
                assembly.reasons(0, number.unwrap_or_default(), [Some(text), None], locate(text));
            }
        }
        Some("tool-call-start") => {
            if let Some((value, call)) = call.and_then(|value| Some((value, openai_chat::call_of(value)?))) {
                assembly.next_call(0, number, ChoiceCall::new(&call, value, locate));
            }
        }
        Some("tool-call-delta") => {
            let function = call.and_then(|call| call.get("function"));
            let piece = function.and_then(|function| function.get("arguments"));
            assembly.arguments(0, number, piece, Some(locate));
        }
        Some("tool-plan-delta") => {
            let message = delta.and_then(|delta| delta.get("message"));
            assembly.text(0, message.and_then(|message| message.get("tool_plan")));
        }
        Some("message-end") => {
            let reason = delta.and_then(|delta| delta.get("finish_reason"));
            assembly.end(0, assembly::is_whole(reason, &WHOLE));
        }
        _ => {}
    }
}

/// The finish reasons of a complete response.
const WHOLE: [&str; 3] = ["COMPLETE", "STOP_SEQUENCE", "TOOL_CALL"];

static STYLE: Style = Style {
    mark: || ("safety_mode", json!("CONTEXTUAL")),
    arguments_are_text: true,
    result_name: None,
    text_beside_calls: "tool_plan",
    null_without_text: false,
    add_reasoning: |message, reasoning| {
        write::add_reasoning_blocks(message, reasoning, |text| json!({"type": "thinking", "thinking": text}));
    },
};
