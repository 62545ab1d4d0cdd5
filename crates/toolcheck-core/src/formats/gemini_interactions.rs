//! Gemini Interactions, Google's API after generateContent: a flat list of steps.
//!
//! A turn of the model may span several consecutive steps. They are read into one message, so that rules see one turn.
//! Each result is a message of its own. Only the form with steps is read: the one before, with `outputs` and a list of
//! turns, has been refused since June 2026.

mod reply;
mod response;
mod write;

use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::openai_responses::{continue_turn, is_of_other_model, produced};
use super::{Format, Marks, declare_tools, undeclared};
use crate::claim::{Claim, certainty, surest_message};
use crate::conversation::{self, Feature};
use crate::fix_style::{self, FixStyle};
use crate::ir::{
    Body, Buffers, Call, Content, Executor, Message, Named, Part, Place, Reasoning, Role, Signature, Text,
    ToolChoice, ToolChoiceMode, ToolDef, ToolKind, ToolResult, Tools, Transcript,
};
use crate::names::words;
use crate::reply::Framing;
use crate::route::Route;
use crate::unread;

pub(crate) static FORMAT: Format = Format {
    id: "gemini-interactions",
    name: "Gemini Interactions",
    aliases: &["interactions"],
    family: "gemini-interactions",
    routes: &[Route::new("/v1beta", "/interactions").common()],
    marks: Marks {
        body: &["previous_interaction_id", "agent_config"],
        message: &[],
        answer: &[],
        models: &["gemini-"],
        is_shared: false,
        says_nothing: &[],
    },
    sniff,
    read_with,
    answers: response::answers,
    event: response::event,
    read_reasoning,
    holds: &[
        Feature::CallIds,
        Feature::Failures,
        Feature::Reasoning,
        Feature::UnsignedReasoning,
        Feature::Signatures,
        Feature::ResultMedia,
        Feature::TextOrder,
        Feature::CallSignatures,
    ],
    write_request: write::request,
    write_reply: reply::write,
    write_events: reply::events,
    write_error: Some(reply::error),
    framing: Framing::ServerSent(Some("[DONE]")),
    fix_style: &FIX_STYLE,
    is_made_chat: false,
    keeps_responses: false,
    repeats: &[],
};

static FIX_STYLE: FixStyle = FixStyle {
    result_id: Some("call_id"),
    call_id: Some("id"),
    no_output: ("result", r#""(no output)""#),
    result: |missing| {
        Some(fix_style::object([
            ("type", Some(Piece::text("function_result"))),
            ("call_id", Some(missing.id.clone()?)),
            ("name", Some(missing.name.clone()?)),
            ("is_error", Some(Piece::Raw(b"true".to_vec()))),
            ("result", Some(missing.said())),
        ]))
    },
    user: user_input,
    said: |text| user_input(vec![fix_style::typed_text(text)]),
    ..FixStyle::OF_PROGRAM
};

fn user_input(content: Vec<Piece>) -> Piece {
    Piece::object([("type", Piece::text("user_input")), ("content", Piece::List(content))])
}

/// The kinds of steps, as far as reading them differs.
#[derive(Clone, Copy)]
enum Step {
    User,
    Model,
    Thought,
    Call(Executor),
    Result(Executor),
    /// A part of a message that stands in the place of a step.
    Content,
    Opaque,
}

/// The tools that the API itself runs.
const OF_SERVER: [&str; 9] = words(
    "code_execution url_context google_search google_maps file_search mcp_server_tool retrieval tool_search processing",
);

fn step_of(kind: &str) -> Step {
    match kind {
        "user_input" => Step::User,
        "model_output" => Step::Model,
        "thought" => Step::Thought,
        "function_call" => Step::Call(Executor::Client),
        "function_result" => Step::Result(Executor::Client),
        "text" | "image" | "audio" | "video" | "document" => Step::Content,
        _ => match kind.rsplit_once('_') {
            Some((tool, "call")) if OF_SERVER.contains(&tool) => Step::Call(Executor::Server),
            Some((tool, "result")) if OF_SERVER.contains(&tool) => Step::Result(Executor::Server),
            _ => Step::Opaque,
        },
    }
}

/// The keys of a request body that no other API with an `input` has.
const OWN_BODY: [&str; 7] = words(
    "previous_interaction_id system_instruction generation_config agent agent_config response_modalities \
    continuation_token",
);

/// The keys of a request body that other APIs have, too.
const SHARED_BODY: [&str; 15] = words(
    "model input tools stream store background response_format response_mime_type service_tier \
    safety_settings cached_content labels webhook_config environment extra_body",
);

fn sniff(root: Value<'_, '_>) -> u8 {
    if root.is_array() {
        return surest_message(root, certainty::CERTAIN, claim);
    }
    // What was answered has what was asked, too, where it was fetched.
    let Some(input) = root.get("input").filter(|_| root.get_any(&["steps", "object"]).is_none()) else {
        return 0;
    };
    let list = Some(input).filter(|input| input.is_array());
    let of_steps = list.map_or(0, |list| surest_message(list, certainty::CERTAIN, claim));
    if of_steps >= certainty::SURE {
        return of_steps;
    }
    let is_known = |key: &str| OWN_BODY.contains(&key) || SHARED_BODY.contains(&key);
    let is_body = || root.members().all(|member| member.key_text().is_some_and(|key| is_known(&key)));
    let model = root.get_str("model");
    let is_own =
        model.as_deref().is_some_and(|model| model.starts_with("gemini-") && !is_of_other_model(model))
            || root.get_any(&OWN_BODY).is_some();
    let is_content = |value: Value<'_, '_>| matches!(kind_of(value), Step::Content);
    let holds_text = input.is_string() || is_content(input) || input.elements().any(is_content);
    // The turns that were before steps: nobody else names the role so.
    let is_turn = |value: Value<'_, '_>| value.get("type").is_none() && value.is("role", "model");
    let holds_turns = || input.elements().any(is_turn);
    if is_own && (holds_text || holds_turns()) && is_body() { certainty::SURE_OF_RECORD } else { of_steps }
}

/// The kind of a step or a part by its `type`.
fn kind_of(value: Value<'_, '_>) -> Step {
    let has_content = || value.has("content");
    // A message without its type is hardly anything but the user's, unless it is one of the turns that were before steps.
    let is_of_model = || value.is("role", "model");
    let untyped = || match has_content() {
        true if is_of_model() => Step::Model,
        true => Step::User,
        false => Step::Opaque,
    };
    value.get_str("type").map_or_else(untyped, |kind| step_of(&kind))
}

/// Whether a `type` is of a step that no other API has in such a list.
pub(super) fn is_own_step(kind: &str) -> bool {
    matches!(kind, "user_input" | "model_output" | "function_result")
}

fn claim(step: Value<'_, '_>) -> Claim {
    let Some(kind) = step.get_str("type") else { return Claim::Foreign };
    let has = |key: &str| step.get(key).is_some();
    match step_of(&kind) {
        Step::User | Step::Model if !has("role") => Claim::Sure(certainty::OWN_SHAPE),
        // Responses has calls of this type, too, whose arguments are a text.
        Step::Call(Executor::Client) if has("call_id") => Claim::Foreign,
        Step::Call(Executor::Client) => {
            let is_object = step.has_object("arguments");
            // More than Responses claims for it without its `call_id`.
            if is_object && has("id") { Claim::Sure(certainty::SURE_OF_RECORD + 5) } else { Claim::Open }
        }
        Step::Result(Executor::Client) if has("result") || has("call_id") => {
            Claim::Sure(certainty::OWN_SHAPE)
        }
        Step::Call(_) if has("call_id") || has("queries") => Claim::Foreign,
        Step::Thought | Step::Call(_) | Step::Result(_) | Step::Content => Claim::Open,
        Step::Opaque | Step::User | Step::Model => Claim::Foreign,
    }
}

fn read_with<'s>(root: Value<'_, 's>, buffers: Buffers<'s>) -> Option<Transcript<'s>> {
    let input = if root.is_array() { root } else { root.get("input")? };
    // What has a type is an event or a step with the input of a tool, and no body.
    if input.is_object() && root.has("type") {
        return None;
    }
    let mut transcript = Transcript::with_buffers(FORMAT.key(), root, buffers);
    let request = &mut transcript.request;
    request.model = root.get_str("model");
    request.instructions = root.get("system_instruction").map(Place::of);
    request.previous_response = root.get("previous_interaction_id").and_then(Named::of);
    request.continues_remote_state = request.previous_response.is_some();
    request.is_kept = root.get("store").and_then(Value::as_bool).or(Some(true));
    let tools = root.get("tools");
    declare_tools(&mut transcript, tools, &FOREIGN_TOOLS, |value| Some(tool(value)));
    let kinds = tools.into_iter().flat_map(|tools| tools.elements()).filter_map(|tool| tool.get_str("type"));
    transcript.request.tools.hides_some |=
        kinds.into_iter().any(|kind| kind != "function" && !WITHOUT_FUNCTIONS.contains(&&*kind));
    let choice = root.get_in(&["generation_config", "tool_choice"]);
    let choice = choice.filter(|choice| !choice.is_null());
    transcript.request.tool_choice =
        choice.map(|choice| ToolChoice::new(choice, wanted(choice, &transcript.request.tools)));
    transcript.unread.extend(unread::body(root));
    if let Some(text) = Text::of(input) {
        let message = transcript.open_message(Message::new(Role::User, input, 0));
        message.content = Content::of(Some(input));
        transcript.push(Part::new(input, 0, Body::Text(text)));
        return Some(transcript);
    }
    if input.is_object() {
        said(&mut transcript, input, 0);
        return Some(transcript);
    }
    if !input.is_array() {
        return None;
    }
    for (index, value) in input.elements().enumerate() {
        step(&mut transcript, value, index);
    }
    Some(transcript)
}

fn wanted<'s>(choice: Value<'_, 's>, tools: &Tools<'s>) -> ToolChoiceMode<'s> {
    let allowed = choice.get("allowed_tools");
    if let Some(name) = allowed.and_then(|allowed| undeclared(allowed.get("tools"), tools)) {
        return ToolChoiceMode::Tool(name);
    }
    let mode = allowed.and_then(|allowed| allowed.get_str("mode"));
    match mode.or_else(|| choice.as_str()).as_deref() {
        Some("auto" | "validated") => ToolChoiceMode::Free,
        Some("none") => ToolChoiceMode::Nothing,
        Some("any") => ToolChoiceMode::Any,
        _ => ToolChoiceMode::Other,
    }
}

/// The keys of tool definitions in other APIs.
const FOREIGN_TOOLS: [&str; 5] =
    ["function", "input_schema", "toolSpec", "functionDeclarations", "function_declarations"];

/// The types of tools that add no functions to call.
const WITHOUT_FUNCTIONS: [&str; 7] =
    words("google_search code_execution url_context google_maps file_search retrieval mcp_server");

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    // One without a type is a function, too, if it has a name: the type is the mistake.
    let kind = value.get_str("type");
    let is_own = kind.as_deref().map_or(value.get("type").is_none(), |kind| kind == "function");
    ToolDef {
        name: value.get("name").filter(|_| is_own).and_then(Named::of),
        schema: value.get("parameters").filter(|_| is_own).map(Place::of),
        executor: if is_own { Executor::Client } else { Executor::Server },
        ..ToolDef::new(Place::of(value))
    }
}

/// Reads a turn in which steps are parts, as they were before the API had steps; `false` if it has none.
fn turn<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) -> bool {
    let parts = || value.list("content");
    let is_step =
        |part: Value<'_, '_>| matches!(kind_of(part), Step::Thought | Step::Call(_) | Step::Result(_));
    if value.has("type") || value.get("role").is_none() || !parts().any(is_step) {
        return false;
    }
    let is_of_model = matches!(kind_of(value), Step::Model);
    for part in parts() {
        if is_step(part) || !is_of_model && matches!(kind_of(part), Step::Content) {
            step(transcript, part, index);
        } else {
            let body = content_of(transcript, part);
            produced(transcript, part, index, body);
        }
    }
    true
}

fn step<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    if turn(transcript, value, index) {
        return;
    }
    match kind_of(value) {
        Step::User => {
            let content = value.get("content");
            let message = transcript.open_message(Message::new(Role::User, value, index));
            message.content = Content::of(content);
            message.content_place = content.map_or(message.content_place, Place::of);
            contents(transcript, content);
        }
        Step::Model => {
            continue_turn(transcript, value, index);
            contents(transcript, value.get("content"));
        }
        Step::Thought => {
            let signature = Signature::of(value.get("signature"));
            let body = Body::Reasoning(Reasoning { id: None, signature, is_redacted: false });
            produced(transcript, value, index, body);
        }
        Step::Call(executor) => produced(transcript, value, index, call(value, executor)),
        Step::Result(Executor::Server) => {
            produced(transcript, value, index, result(value, Executor::Server));
        }
        Step::Result(executor) => {
            let message = Message::new(Role::Tool, value, index);
            transcript.open_message(Message { content: Content::Filled, ..message });
            transcript.push(Part::new(value, 0, result(value, executor)));
            // A result may bring tools.
            let is_tool = |part: &Value<'_, '_>| part.is("type", "function");
            transcript.request.tools.added.extend(value.list("result").filter(is_tool).map(tool));
        }
        Step::Content => said(transcript, value, index),
        Step::Opaque => {
            transcript.unread.extend(unread::block(value));
            produced(transcript, value, index, Body::Opaque);
        }
    }
    transcript.unread.extend(value.members().filter_map(unread::member));
}

/// Reads a part of the user's message that stands where a step would: neighbours are one message.
fn said<'s>(transcript: &mut Transcript<'s>, part: Value<'_, 's>, index: usize) {
    let body = content_of(transcript, part);
    match transcript.messages.last_mut().filter(|message| message.role == Role::User) {
        Some(message) => message.place.span = message.place.span.to(part.span()),
        None => {
            let message = Message::new(Role::User, part, index);
            transcript.open_message(Message { content: Content::Filled, ..message });
        }
    }
    transcript.push(Part::new(part, index, body));
}

/// Reads what a step says: a text or a list of parts.
fn contents<'s>(transcript: &mut Transcript<'s>, content: Option<Value<'_, 's>>) {
    let Some(content) = content else { return };
    if let Some(text) = Text::of(content) {
        transcript.push(Part::new(content, 0, Body::Text(text)));
    }
    for (number, part) in content.elements().enumerate() {
        let body = content_of(transcript, part);
        transcript.push(Part::new(part, number, body));
    }
}

fn content_of<'s>(transcript: &mut Transcript<'s>, part: Value<'_, 's>) -> Body<'s> {
    match part.get_str("type").as_deref() {
        Some("text") => Body::text(part.get("text")),
        Some("image" | "audio" | "video" | "document") => Body::Media,
        _ => {
            transcript.unread.extend(unread::block(part));
            Body::Opaque
        }
    }
}

fn call<'s>(value: Value<'_, 's>, executor: Executor) -> Body<'s> {
    let kind = if executor == Executor::Client { ToolKind::Function } else { ToolKind::BuiltIn };
    // Calls of the API's own tools are named by their types.
    let name = value.get("name").or_else(|| value.get("type").filter(|_| kind == ToolKind::BuiltIn));
    let signature = Signature::of(value.get("signature"));
    Body::Call(Call { executor, kind, signature, ..Call::new(value.get("id"), name, value.get("arguments")) })
}

fn result<'s>(value: Value<'_, 's>, executor: Executor) -> Body<'s> {
    let content = value.get("result");
    let kind = if executor == Executor::Client { ToolKind::Function } else { ToolKind::BuiltIn };
    let is_media =
        |part: Value<'_, '_>| part.get_str("type").is_some_and(|kind| !matches!(&*kind, "text" | "function"));
    Body::Result(ToolResult {
        name: value.get("name").and_then(Named::of),
        is_error: value.get("is_error").and_then(Value::as_bool),
        has_media: content.is_some_and(|content| content.elements().any(is_media)),
        executor,
        kind: Some(kind),
        ..ToolResult::new(value.get("call_id"), content)
    })
}

fn read_reasoning(step: Value<'_, '_>) -> conversation::Reasoning {
    let text = step.get("summary").map(super::text_of).unwrap_or_default();
    conversation::Reasoning::new(text, step.get_str("signature").map(Into::into))
}
