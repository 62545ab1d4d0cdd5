//! Mistral's chat completions: a dialect of Chat Completions.

mod reply;

use serde_json::json;
use toolcheck_json::Value;

use super::openai_chat::write::{self, Style};
use super::openai_chat::{self, Dialect};
use super::{Format, Marks, blocks, is_stray, messages_of};
use crate::claim::{Claim, certainty, surest_message};
use crate::fix_style::{self, FixStyle};
use crate::ir::Role;
use crate::names::words;
use crate::route::Route;

pub(super) static FORMAT: Format = Format {
    id: "mistral",
    name: "Mistral Chat Completions",
    routes: &[Route::new("/v1", "/chat/completions"), Route::new("/v1", "/agents/completions")],
    marks: Marks {
        body: &OWN_BODY,
        message: &["prefix"],
        answer: &["choices"],
        models: &MODELS,
        is_shared: false,
        says_nothing: &super::OF_CHAT,
    },
    sniff,
    read_with: |root, buffers| openai_chat::read_dialect(root, &DIALECT, buffers),
    answers: |value| openai_chat::choices(value, &DIALECT),
    write_request: |conversation, tools| write::request(conversation, tools, &STYLE),
    write_reply: reply::write,
    write_events: reply::events,
    fix_style: &FIX_STYLE,
    ..openai_chat::CHAT
};

static FIX_STYLE: FixStyle =
    FixStyle { result: |missing| fix_style::tool_message(missing, Some("name")), ..FixStyle::CHAT };

static DIALECT: Dialect = Dialect {
    format: FORMAT.key(),
    result_name: &["name"],
    text: &[],
    media: &[],
    roles: &[("function", Role::Tool)],
    may_lack_arguments: false,
};

/// The keys of a request body that no other dialect has, but for programs that name an agent beside a model.
const OWN_BODY: [&str; 4] = ["safe_prompt", "random_seed", "prompt_mode", AGENT];

/// The agent that answers in place of a model.
const AGENT: &str = "agent_id";

/// The prefixes of the names of Mistral's own models. A name with a slash before the prefix is another provider's.
const MODELS: [&str; 9] = words(
    "mistral- open-mistral- open-mixtral- codestral- devstral- magistral- ministral- pixtral- voxtral-",
);

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = messages_of(root) else { return 0 };
    let is_empty = root.is_object() && list.elements().next().is_none();
    let sure = if is_empty { certainty::FAINT } else { surest_message(list, certainty::CERTAIN, claim) };
    if sure == 0 || !root.is_object() {
        return sure;
    }
    let model = root.get_str("model").unwrap_or_default();
    let own = root.get_any(&OWN_BODY);
    let is_own = |own: Value<'_, '_>| !own.has_key(AGENT) || model.is_empty();
    if own.is_some_and(is_own) && !is_stray(root, &OWN_BODY, &FORMAT) {
        sure.max(certainty::OWN_SETTING)
    } else if FORMAT.marks.has_model(&model) {
        sure.max(certainty::OWN_MODEL)
    } else if sure == OF_PREFIX && !model.is_empty() {
        // Another API has `prefix` too, with models of its own, and ids are made by clients.
        certainty::WEAK
    } else {
        sure
    }
}

/// The certainty for a message with `prefix`, which asks the model to continue it, or with such a call.
const OF_PREFIX: u8 = certainty::OWN_SETTING;

fn claim(message: Value<'_, '_>) -> Claim {
    let thinks = |block: Value<'_, '_>| block.has_list("thinking");
    if message.has("role") && blocks(message, "content").any(thinks) {
        return Claim::Sure(certainty::OWN_SHAPE);
    }
    // Its SDK leaves out the type of a call, and its ids have nine characters.
    let is_id = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_own =
        |call: Value<'_, '_>| call.get("type").is_none() && call.get_str("id").is_some_and(|id| is_id(&id));
    match openai_chat::claim(message) {
        Claim::Sure(_) if message.list("tool_calls").any(is_own) => Claim::Sure(OF_PREFIX),
        Claim::Foreign => Claim::Foreign,
        _ if message.has("prefix") => Claim::Sure(OF_PREFIX),
        Claim::Sure(_) => Claim::Sure(certainty::FAINT),
        Claim::Open => Claim::Open,
        Claim::Never => Claim::Never,
    }
}

static STYLE: Style = Style {
    mark: || ("random_seed", json!(1)),
    arguments_are_text: true,
    result_name: Some("name"),
    text_beside_calls: "content",
    null_without_text: false,
    add_reasoning: |message, reasoning| {
        write::add_reasoning_blocks(
            message,
            reasoning,
            |text| json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]}),
        );
    },
};
