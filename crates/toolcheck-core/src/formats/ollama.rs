//! Ollama's own `/api/chat`: a dialect of Chat Completions whose arguments are objects and whose calls mostly have no
//! ids.

mod reply;

use serde_json::json;
use toolcheck_json::Value;

use super::openai_chat::write::{self, Style};
use super::openai_chat::{self, Dialect};
use super::{Format, Marks, messages_of};
use crate::assembly::{self, Assembly, Choice, Completion, Locate};
use crate::claim::{Claim, certainty, surest_message};
use crate::conversation::Feature;
use crate::fix_style::{self, FixStyle};
use crate::reply::Framing;
use crate::route::Route;

pub(super) static FORMAT: Format = Format {
    id: "ollama",
    name: "Ollama chat",
    routes: &[Route::new("", "/api/chat").streamed_unless_said().common()],
    marks: Marks {
        body: &["options", "keep_alive", "think", "format"],
        message: &["tool_calls", "tool_name", "images"],
        answer: &["message", "done"],
        models: &[],
        is_shared: false,
        says_nothing: &[],
    },
    sniff,
    read_with: |root, buffers| openai_chat::read_dialect(root, &DIALECT, buffers),
    answers,
    event,
    holds: &[Feature::Reasoning, Feature::UnsignedReasoning],
    write_request: |conversation, tools| write::request(conversation, tools, &STYLE),
    write_reply: reply::write,
    write_events: reply::events,
    write_error: Some(reply::error),
    framing: Framing::Lines,
    fix_style: &FIX_STYLE,
    ..openai_chat::CHAT
};

static FIX_STYLE: FixStyle = FixStyle {
    thoughts: &["thinking"],
    result_id: None,
    call_id: None,
    takes_lists: false,
    result: |missing| fix_style::tool_message(missing, Some("tool_name")),
    picture: None,
    choices: [""; 4],
    ..FixStyle::CHAT
};

static DIALECT: Dialect = Dialect {
    format: FORMAT.key(),
    result_name: &["tool_name", "name"],
    text: &[],
    media: &["images"],
    roles: &[],
    may_lack_arguments: true,
};

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = messages_of(root) else { return 0 };
    // Ollama writes arguments as objects. Arguments as a string belong to Chat Completions, as does `function_call`.
    let is_text = |message: Value<'_, '_>| {
        calls(message).any(|call| arguments(call).is_some_and(|arguments| arguments.is_string()))
            || message.has_object("function_call")
    };
    let is_own_body = root.is_object()
        && (root.has_object("options")
            || root.has("keep_alive")
            || root.has("think")
            || root.get("format").is_some_and(is_format_of_answer));
    let messages = || list.elements().take(MESSAGES_LOOKED_AT);
    let is_own = || is_own_body || messages().any(|message| message.has("tool_name"));
    // Ollama's calls have no type, and may have an id.
    let is_of_chat =
        |message: Value<'_, '_>| first_call(message).is_some_and(|call| call.has_all(&["id", "type"]));
    if messages().any(is_text) && (!is_own() || messages().any(is_of_chat)) {
        return 0;
    }
    let sure = surest_message(list, certainty::CERTAIN, claim);
    // Ollama's model names have a tag, such as `:8b`.
    let has_tag =
        || root.get_str("model").is_some_and(|model| model.contains(':') && !model.starts_with("ft:"));
    if is_of_openai(root) {
        sure.min(certainty::FAINT)
    } else if sure > 0 && is_own_body {
        sure.max(certainty::OWN_SETTING)
    } else if sure == OF_MARKED && has_tag() {
        OF_NAMED_TOOL
    } else {
        sure
    }
}

/// Whether a value says in which form the model shall answer, as Ollama writes it: `json`, or a schema.
fn is_format_of_answer(format: Value<'_, '_>) -> bool {
    format.as_json_str().is_some_and(|format| format.eq_str("json")) || format.is("type", "object")
}

/// Whether a body is one of Chat Completions: by its model, or because it has more of the keys that only that API has than
/// marks of Ollama. People send `response_format` to Ollama too.
fn is_of_openai(root: Value<'_, '_>) -> bool {
    if !root.is_object() || openai_chat::is_own_model(root) {
        return root.is_object();
    }
    let foreign = openai_chat::own_keys(root);
    if foreign == 0 {
        return false;
    }
    let own = FORMAT.marks.body.iter().filter(|key| root.get(key).is_some()).count();
    let messages = || root.list("messages").take(MESSAGES_LOOKED_AT);
    let marks = |mark: &dyn Fn(Value<'_, '_>) -> bool| usize::from(messages().any(mark));
    let names_tool = |message: Value<'_, '_>| message.has("tool_name");
    let has_images = |message: Value<'_, '_>| message.has_list("images");
    // A call without an id whose arguments are an object would be two mistakes in Chat Completions.
    let is_own_call = |message: Value<'_, '_>| {
        first_call(message).is_some_and(|call| {
            arguments(call).is_some_and(Value::is_object) && !openai_chat::is_marked(message, call)
        })
    };
    foreign > own + marks(&names_tool) + marks(&has_images) + 2 * marks(&is_own_call)
}

/// The number of messages that are searched for a call in a form that Ollama does not write.
const MESSAGES_LOOKED_AT: usize = 50;

/// The number of calls of a message that are searched for one.
const CALLS_LOOKED_AT: usize = 50;

/// The certainty for a call that has a mark of Chat Completions, such as an id.
const OF_MARKED: u8 = certainty::SURE + 10;

/// The certainty for a mark of Ollama next to a call's id, which is a mark of Chat Completions. It is higher than the
/// certainty of Chat Completions for its own calls.
const OF_NAMED_TOOL: u8 = certainty::SURE_OF_RECORD + 5;

fn claim(message: Value<'_, '_>) -> Claim {
    match openai_chat::claim(message) {
        Claim::Sure(_) => {}
        other => return other,
    }
    // Ollama's results name their tool. A call's id in a result belongs to Chat Completions.
    let names_call = message.has("tool_call_id");
    if message.has("tool_name") {
        return Claim::Sure(if names_call { OF_NAMED_TOOL } else { certainty::CERTAIN });
    }
    if message.has_list("images") {
        return Claim::Sure(certainty::OWN_SETTING);
    }
    match first_call(message) {
        // A name in place of the function is in no API.
        Some(call) if call.get_str("function").is_some() => Claim::Sure(certainty::FAINT),
        Some(call) if openai_chat::is_marked(message, call) => Claim::Sure(OF_MARKED),
        Some(call) => Claim::Sure(if arguments(call).is_some_and(Value::is_object) {
            certainty::OWN_SETTING
        } else {
            certainty::FAINT
        }),
        None => Claim::Sure(certainty::FAINT),
    }
}

fn calls<'d, 's>(message: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    message.list("tool_calls").take(CALLS_LOOKED_AT)
}

fn first_call<'d, 's>(message: Value<'d, 's>) -> Option<Value<'d, 's>> {
    calls(message).next()
}

fn arguments<'d, 's>(call: Value<'d, 's>) -> Option<Value<'d, 's>> {
    call.get("function")?.get("arguments")
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    // Cohere has such a message, too, with another key for the reason of its end.
    let message =
        value.get("message").filter(|message| message.is_object() && value.get("finish_reason").is_none())?;
    Some(vec![openai_chat::answer(message, is_whole(value, true), &DIALECT)])
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    if let Some(message) = event.get("message") {
        let said = openai_chat::answer(message, true, &DIALECT);
        assembly.add_whole(0, Choice::new(&said, message, openai_chat::read_reasoning, locate));
    }
    if is_done(event, false) {
        assembly.end(0, is_whole(event, false));
    }
}

fn is_done(value: Value<'_, '_>, where_silent: bool) -> bool {
    value.get("done").map_or(where_silent, |done| done.as_bool() == Some(true))
}

fn is_whole(value: Value<'_, '_>, where_silent: bool) -> bool {
    is_done(value, where_silent) && assembly::is_whole(value.get("done_reason"), &["stop"])
}

static STYLE: Style = Style {
    mark: || ("options", json!({"num_ctx": 8192})),
    arguments_are_text: false,
    result_name: Some("tool_name"),
    text_beside_calls: "content",
    null_without_text: false,
    add_reasoning: |message, reasoning| {
        message["thinking"] = reasoning.iter().map(|reasoning| &*reasoning.text).collect::<String>().into();
    },
};
