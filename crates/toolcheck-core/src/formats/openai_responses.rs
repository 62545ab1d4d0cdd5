//! OpenAI Responses: a flat list of items.
//!
//! A turn of the model may span several consecutive items. They are read into one message, so that rules see one turn.
//! Each result is a message of its own, as in Chat Completions.

mod choice;
mod namespaces;
mod reply;
mod response;
mod stored;
mod write;

use std::borrow::Cow;

use toolcheck_json::Value;

use namespaces::{Namespaces, look_at_callers};

use super::{Format, Marks, declare_tools, gemini_interactions, openai_chat};
use crate::claim::{self, Claim, certainty, is_of_opencode, surest_message, surest_of_most};
use crate::conversation::{self, Feature};
use crate::fix_style::{self, FixStyle};
use crate::ir::{
    self, Body, Buffers, Call, Content, Executor, Message, Named, Part, Place, Reasoning, Role, Signature,
    Text, ToolChoice, ToolDef, ToolKind, ToolResult, Transcript,
};
use crate::names::words;
use crate::reply::Framing;
use crate::route::Route;
use crate::unread;
use toolcheck_json::edit::Piece;

pub(crate) static FORMAT: Format = Format {
    id: "openai-responses",
    name: "OpenAI Responses",
    aliases: &["responses"],
    family: "openai-responses",
    routes: &[Route::new("", "/v1/responses"), Route::new("", "/responses").common()],
    marks: Marks {
        body: &[],
        message: &[],
        answer: &["object", "output"],
        models: &openai_chat::MODELS,
        is_shared: true,
        says_nothing: &[],
    },
    sniff,
    read_with,
    answers: response::answers,
    event: response::event,
    read_reasoning,
    holds: &[
        Feature::CallIds,
        Feature::Reasoning,
        Feature::Signatures,
        Feature::ResultMedia,
        Feature::TextOrder,
    ],
    write_request: write::request,
    write_reply: reply::write,
    write_events: reply::events,
    write_error: Some(reply::error),
    framing: Framing::ServerSent(None),
    fix_style: &FIX_STYLE,
    is_made_chat: true,
    keeps_responses: true,
    repeats: &reply::REPEATED,
};

pub(crate) static FIX_STYLE: FixStyle = FixStyle {
    result_id: Some("call_id"),
    call_id: Some("call_id"),
    no_output: ("output", r#""(no output)""#),
    result: |missing| {
        let kind = match missing.kind {
            ToolKind::Function | ToolKind::LocalShell => "function_call_output",
            ToolKind::Custom => "custom_tool_call_output",
            // What a screen, a patch or a person would have answered cannot be said in words.
            _ => return None,
        };
        Some(fix_style::object([
            ("type", Some(Piece::text(kind))),
            ("call_id", Some(missing.id.clone()?)),
            ("output", Some(missing.said())),
            ("caller", missing.caller.clone()),
        ]))
    },
    text: |text| Piece::object([("type", Piece::text("input_text")), ("text", text)]),
    said: fix_style::user_text,
    tool: r#"{"type": "function", "name": NAME, "description": ABOUT, "parameters": SCHEMA}"#,
    choices: [r#""auto""#, r#""required""#, r#""none""#, r#"{"type": "function", "name": NAME}"#],
    picture: Some(r#"{"type": "input_image", "image_url": "data:image/KIND;base64,DATA"}"#),
    ..FixStyle::OF_PROGRAM
};

/// The kinds of items, as far as reading them differs.
enum Item {
    Message,
    Reasoning,
    Call(ToolKind),
    Output(ToolKind),
    /// A call that carries its own result.
    Hosted,
    /// Tools declared in the middle of the conversation.
    Tools,
    /// A request to compact the items before it. It must be the last item.
    Trigger,
    /// A record that the API made of the conversation, or a change of its settings.
    State,
    /// The id of an item that the server keeps.
    Reference,
    /// What agents of the server tell each other, with its results.
    Agents,
    Opaque,
}

fn item_of(kind: &str) -> Item {
    match kind {
        "message" => Item::Message,
        "reasoning" => Item::Reasoning,
        "function_call" => Item::Call(ToolKind::Function),
        "function_call_output" => Item::Output(ToolKind::Function),
        "custom_tool_call" => Item::Call(ToolKind::Custom),
        "custom_tool_call_output" => Item::Output(ToolKind::Custom),
        "computer_call" => Item::Call(ToolKind::Computer),
        "computer_call_output" => Item::Output(ToolKind::Computer),
        "local_shell_call" => Item::Call(ToolKind::LocalShell),
        "local_shell_call_output" => Item::Output(ToolKind::LocalShell),
        "shell_call" => Item::Call(ToolKind::Shell),
        "shell_call_output" => Item::Output(ToolKind::Shell),
        "apply_patch_call" => Item::Call(ToolKind::Patch),
        "apply_patch_call_output" => Item::Output(ToolKind::Patch),
        "tool_search_call" => Item::Call(ToolKind::ToolSearch),
        "tool_search_output" => Item::Output(ToolKind::ToolSearch),
        "program" => Item::Call(ToolKind::Program),
        "program_output" => Item::Output(ToolKind::Program),
        "mcp_approval_request" => Item::Call(ToolKind::Approval),
        "mcp_approval_response" => Item::Output(ToolKind::Approval),
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "mcp_call" => Item::Hosted,
        "item_reference" => Item::Reference,
        "multi_agent_call" | "multi_agent_call_output" | "agent_message" => Item::Agents,
        "additional_tools" => Item::Tools,
        "compaction_trigger" => Item::Trigger,
        "compaction" | "configuration_update" => Item::State,
        _ => Item::Opaque,
    }
}

/// The keys of a request body. An `input` that is a string is no evidence by itself: spans, embeddings and speech have
/// one too, but next to other keys.
const BODY: [&str; 38] = words(
    "model input instructions tools tool_choice parallel_tool_calls previous_response_id conversation \
    reasoning text store stream stream_options include max_output_tokens max_tool_calls metadata \
    temperature top_p top_logprobs truncation user safety_identifier prompt prompt_cache_key \
    prompt_cache_retention background service_tier context_management multi_agent background_options \
    prompt_cache_options access_programs max_tokens moderation seed verbosity extra_body",
);

/// The keys of a request body that other APIs with an `input` do not have.
const OWN_BODY: [&str; 9] = words(
    "instructions previous_response_id conversation reasoning max_output_tokens max_tool_calls text include \
    store",
);

/// Parts of the names of models that take an `input` but hold no conversation.
const OTHER_MODELS: [&str; 5] = ["embed", "tts", "moderation", "whisper", "rerank"];

/// Whether a model takes an `input` but holds no conversation, by its name.
pub(super) fn is_of_other_model(model: &str) -> bool {
    OTHER_MODELS.iter().any(|other| model.contains(other))
}

fn sniff(root: Value<'_, '_>) -> u8 {
    let is_body = || {
        let is_known = |key: &str| BODY.contains(&key);
        let mut unknown =
            root.members().filter(|member| !member.key_text().is_some_and(|key| is_known(&key)));
        // One wrong key hides no request that names a model of this API.
        let is_own = || {
            let model = root.get_str("model");
            openai_chat::is_own_model(root) && !model.is_some_and(|model| is_of_other_model(&model))
        };
        unknown.next().is_none() || unknown.next().is_none() && is_own()
    };
    let is_named = || {
        let model = root.get_str("model");
        model.map_or_else(|| root.get_any(&OWN_BODY).is_some(), |model| !is_of_other_model(&model))
    };
    let Some(list) = list(root).filter(|_| !root.is_object() || !claim::is_stored(root)) else {
        let is_text = root.has_text("input");
        return if is_text && is_body() && is_named() { certainty::LIKELY } else { 0 };
    };
    let surest = if root.is_array() { surest_of_most } else { surest_message };
    let sure = surest(list, certainty::CERTAIN, claim);
    if sure >= certainty::SURE || !root.is_object() {
        return sure;
    }
    let is_empty = list.elements().next().is_none();
    if (sure > FAINTEST || is_empty) && is_body() { certainty::LIKELY } else { 0 }
}

/// The certainty for a message that other formats may have written.
const FAINTEST: u8 = certainty::FAINT + 1;

fn claim(item: Value<'_, '_>) -> Claim {
    match item.get_str("type").as_deref() {
        Some("message") if item.has_all(&["role", "content"]) => {
            return Claim::Sure(certainty::SURE_OF_RECORD);
        }
        Some("message") => return Claim::Foreign,
        Some(kind) => {
            return match item_of(kind) {
                Item::Opaque if gemini_interactions::is_own_step(kind) || is_of_opencode(item) => {
                    Claim::Never
                }
                Item::Opaque => Claim::Open,
                _ => claim_item(item, kind),
            };
        }
        None => {}
    }
    if !matches!(item.get_str("role").as_deref(), Some("user" | "assistant" | "system" | "developer"))
        || item.get_any(&["tool_calls", "function_call", "tool_call_id"]).is_some()
    {
        return Claim::Foreign;
    }
    let Some(content) = item.get("content") else { return Claim::Foreign };
    if content.is_string() {
        return Claim::Sure(FAINTEST + 1);
    }
    let is_own = |kind: Cow<'_, str>| kind.starts_with("input_") || kind == "output_text";
    let mut parts = content.elements();
    if parts.any(|part| part.get_str("type").is_some_and(is_own)) {
        Claim::Sure(certainty::OWN_SHAPE)
    } else {
        Claim::Foreign
    }
}

/// Checks for the keys of the item's kind. The type alone is not enough: spans and events use the same short words.
fn claim_item(item: Value<'_, '_>, kind: &str) -> Claim {
    let keys: &[&str] = match item_of(kind) {
        Item::Reasoning => &["summary", "encrypted_content", "id", "content"],
        Item::Output(_) => &["call_id", "output", "result", "tools", "approval_request_id"],
        _ => &["call_id", "id", "name", "arguments", "action", "input", "queries", "code"],
    };
    // Gemini Interactions has calls of this type too, whose ids are under another key.
    if kind == "function_call" && item.get("call_id").is_none() {
        return if item.get_any(keys).is_some() {
            Claim::Sure(certainty::SURE_OF_RECORD)
        } else {
            Claim::Open
        };
    }
    if item.get_any(keys).is_some() { Claim::Sure(certainty::OWN_SHAPE) } else { Claim::Open }
}

fn list<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    super::list_of(root, "input")
}

fn read_with<'s>(root: Value<'_, 's>, buffers: Buffers<'s>) -> Option<Transcript<'s>> {
    let mut transcript = Transcript::with_buffers(FORMAT.key(), root, buffers);
    transcript.request.model = root.get_str("model");
    let tools = root.get("tools");
    declare_tools(&mut transcript, tools, &FOREIGN_TOOLS, |value| Some(tool(value)));
    transcript.unread.extend(unread::body(root));
    transcript.request.tool_choice = root
        .get("tool_choice")
        .filter(|choice| !choice.is_null())
        .map(|choice| ToolChoice::new(choice, choice::wanted(choice, tools)));
    let format = root.get_in(&["text", "format"]);
    transcript.request.answer_schema = format.and_then(openai_chat::answer_schema);
    transcript.request.unsaid_json =
        format.and_then(|format| super::unsaid_json(format, root, &["input", "instructions"]));
    transcript.request.instructions = root.get("instructions").map(Place::of);
    let is_set = |key| root.get(key).is_some_and(|value| !value.is_null());
    transcript.request.previous_response = root.get("previous_response_id").and_then(Named::of);
    let conversation = root.get("conversation");
    transcript.request.conversation =
        conversation.and_then(|named| Named::of(named.get("id").unwrap_or(named)));
    transcript.request.continues_remote_state = is_set("previous_response_id") || is_set("conversation");
    transcript.request.is_kept = root.get("store").and_then(|value| value.as_bool()).or(Some(true));
    let mut namespaces = Namespaces::of(&mut transcript, tools);
    let Some(list) = list(root) else {
        // A plain string is the user's message.
        let input = root.get("input")?;
        let text = Text::of(input)?;
        let message = transcript.open_message(Message::new(Role::User, input, 0));
        message.content = Content::of(Some(input));
        transcript.push(Part::new(input, 0, Body::Text(text)));
        return Some(transcript);
    };
    // A stored prompt has messages of its own.
    transcript.lacks_messages = list.elements().next().is_none() && is_set("prompt");
    let (mut trigger, mut has_program) = (None, false);
    for (index, value) in list.elements().enumerate() {
        transcript.details.early_items.extend(trigger.take());
        match item(&mut transcript, value, index) {
            Item::Tools | Item::Output(ToolKind::ToolSearch) => namespaces.add(&mut transcript, value),
            Item::Call(ToolKind::Program) => has_program = true,
            Item::Trigger => trigger = Some(Place::of(value)),
            _ => {}
        }
    }
    stored::settle(&mut transcript, list);
    // A tool search may also find tools that a later item declares, so calls are checked last.
    namespaces.look_at_calls(&mut transcript, tools, list);
    if has_program {
        look_at_callers(&mut transcript, list);
    }
    Some(transcript)
}

/// The keys of tool definitions in other APIs.
const FOREIGN_TOOLS: [&str; 4] =
    ["input_schema", "toolSpec", "functionDeclarations", "function_declarations"];

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    let takes_text = value.is("type", "custom");
    let is_own = takes_text || value.is("type", "function");
    // The nested form of Chat Completions is a mistake here, but its name is still useful.
    let spec = value.get("function").unwrap_or(value);
    ToolDef {
        name: spec.get("name").and_then(Named::of),
        schema: spec.get("parameters").filter(|schema| !schema.is_null()).map(Place::of),
        executor: if is_own { Executor::Client } else { Executor::Server },
        kind: value.get("type").and_then(Named::of).filter(|_| !is_own),
        returns_json: value.has_object("output_schema"),
        takes_text,
        ..ToolDef::new(Place::of(value))
    }
}

/// Reads an item of a history that is not a request.
pub(crate) fn read_item<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    item(transcript, value, index);
}

/// Reads an item and returns its kind.
/// The calls that xAI's `x_search` makes by itself, and shows as calls of custom tools
/// (`packages/xai/src/responses/xai-responses-language-model.ts` of vercel/ai).
const STEPS_OF_X_SEARCH: [&str; 4] = words("x_keyword_search x_semantic_search x_user_search x_thread_fetch");

fn item<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) -> Item {
    let kind = value.get_str("type");
    let item = match kind.as_deref() {
        Some(kind) => item_of(kind),
        None if value.has("role") => Item::Message,
        // An id alone refers to an item that the server keeps. The type `item_reference` is optional.
        None if value.has("id") && value.get("call_id").is_none() => Item::Reference,
        None => Item::Opaque,
    };
    let is_run = || value.is_one_of("name", &STEPS_OF_X_SEARCH);
    let item = if matches!(item, Item::Call(ToolKind::Custom)) && is_run() { Item::Hosted } else { item };
    // The output of a local shell has the id of its call.
    let is_unknown = kind.is_none() && matches!(item, Item::Opaque);
    if !is_unknown
        && !matches!(item, Item::Reference | Item::Output(ToolKind::LocalShell))
        && let Some(id) = value.get("id").and_then(Named::of)
    {
        let kind = kind.clone().unwrap_or("message".into());
        transcript.details.items.push(ir::Item { id, kind, index: index as u32 });
    }
    match item {
        Item::Reference => {
            transcript.details.stored_items.extend(value.get("id").and_then(Named::of));
            produced(transcript, value, index, Body::Opaque);
        }
        Item::Message => message(transcript, value, index),
        Item::Reasoning => {
            let body = Body::Reasoning(Reasoning {
                id: value.get("id").and_then(Named::of),
                signature: Signature::of(value.get("encrypted_content")),
                is_redacted: false,
            });
            produced(transcript, value, index, body);
        }
        Item::Call(tool) => {
            produced(transcript, value, index, call(value, executor(value, tool), tool));
        }
        Item::Hosted => produced(transcript, value, index, call(value, Executor::Server, ToolKind::BuiltIn)),
        Item::Output(tool) => {
            transcript
                .open_message(Message { content: Content::Filled, ..Message::new(Role::Tool, value, index) });
            transcript.push(Part::new(value, 0, output(value, tool)));
        }
        Item::Agents => produced(transcript, value, index, Body::Opaque),
        Item::Tools | Item::Trigger | Item::State | Item::Opaque => {
            transcript.unread.extend(unread::block(value));
            produced(transcript, value, index, Body::Opaque);
        }
    }
    item
}

/// Adds an item that the model produced to its turn.
pub(super) fn produced<'s>(
    transcript: &mut Transcript<'s>,
    value: Value<'_, 's>,
    index: usize,
    body: Body<'s>,
) {
    let is_open = transcript.messages.last().is_some_and(|message| message.role == Role::Assistant);
    // An unknown item may be anything, so it neither starts a turn nor ends one.
    if is_open || !matches!(body, Body::Opaque) || transcript.messages.is_empty() {
        continue_turn(transcript, value, index);
    }
    transcript.push(Part::new(value, index, body));
}

/// Goes on with the turn of the model, or begins one.
pub(super) fn continue_turn<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    match transcript.messages.last_mut().filter(|message| message.role == Role::Assistant) {
        Some(message) => message.place.span = message.place.span.to(value.span()),
        None => {
            let message = Message::new(Role::Assistant, value, index);
            transcript.open_message(Message { content: Content::Filled, ..message });
        }
    }
}

fn message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    let role_name = value.get("role").and_then(Named::of);
    let role = match role_name.as_ref().map(|role| &*role.text) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        _ => Role::Unknown,
    };
    let content = value.get("content");
    let is_open = transcript.messages.last().is_some_and(|message| message.role == Role::Assistant);
    if role == Role::Assistant && is_open {
        let message = transcript.messages.last_mut().expect("a message is open");
        message.place.span = message.place.span.to(value.span());
    } else {
        let message = transcript.open_message(Message::new(role, value, index));
        message.role_name = role_name;
        message.content = Content::of(content);
        if let Some(content) = content {
            message.content_place = Place::of(content);
        }
    }
    transcript.unread.extend(value.members().filter_map(unread::member));
    let Some(content) = content else { return };
    if let Some(text) = Text::of(content) {
        transcript.push(Part::new(content, index, Body::Text(text)));
    }
    for part in content.elements() {
        let body = match part.get_str("type").as_deref() {
            Some("input_text" | "output_text" | "text") => Body::text(part.get("text")),
            Some("refusal") => Body::text(part.get("refusal")),
            Some("input_image" | "input_file" | "input_audio" | "computer_screenshot") => Body::Media,
            _ => {
                transcript.unread.extend(unread::block(part));
                Body::Opaque
            }
        };
        transcript.push(Part::new(part, index, body));
    }
}

/// Who executes a call or its output. A tool search names its executor. A program runs on the server, which adds the
/// program's output once the client has answered the calls that the program makes.
fn executor(value: Value<'_, '_>, tool: ToolKind) -> Executor {
    let is_hosted = tool == ToolKind::Program || value.is("execution", "server");
    if is_hosted { Executor::Server } else { Executor::Client }
}

fn call<'s>(value: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    // A request for approval is identified by the item's own id.
    let id = if kind == ToolKind::Approval { value.get("id") } else { value.get("call_id") };
    let id = if executor == Executor::Server { id.or_else(|| value.get("id")) } else { id };
    // Calls of the API's own tools are named by their types.
    let is_own = !matches!(kind, ToolKind::Function | ToolKind::Custom | ToolKind::Approval | ToolKind::Mcp);
    let name = value.get("name").or_else(|| value.get("type").filter(|_| is_own));
    let arguments = value.get_any(&["arguments", "input", "action", "operation", "code"]);
    Body::Call(Call { executor, kind, ..Call::new(id, name, arguments) })
}

fn output<'s>(value: Value<'_, 's>, kind: ToolKind) -> Body<'s> {
    let id = if kind == ToolKind::Approval { "approval_request_id" } else { "call_id" };
    let content = value.get_any(&["output", "result", "tools"]);
    let id = value.get(id).or_else(|| value.get("id").filter(|_| kind == ToolKind::LocalShell));
    Body::Result(ToolResult {
        name: value.get("name").and_then(Named::of),
        is_error: value.get_str("status").filter(|status| status == "failed").map(|_| true),
        has_media: content.is_some_and(|content| {
            content.elements().any(|part| part.get_str("type").is_some_and(|kind| kind != "input_text"))
        }),
        executor: executor(value, kind),
        kind: Some(kind),
        ..ToolResult::new(id, content)
    })
}

fn read_reasoning(item: Value<'_, '_>) -> conversation::Reasoning {
    // OpenAI shows only a summary of the reasoning. Models of other providers return the text itself.
    let text = |key| item.get(key).map(super::text_of).filter(|text| !text.is_empty());
    let text = text("summary").or_else(|| text("content")).unwrap_or_default();
    conversation::Reasoning::new(text, item.get_str("encrypted_content").map(Into::into))
}
