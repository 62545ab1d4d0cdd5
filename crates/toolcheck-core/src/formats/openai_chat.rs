//! OpenAI Chat Completions, and the shape that its many dialects share.

use toolcheck_json::Value;

use super::{Format, blocks, declare_tools, is_enabled, list_of, surest_message};
use crate::ir::{
    Arguments, Body, Call, Content, Executor, Message, Named, Part, Place, Reasoning, Role, Room, Signature,
    ToolChoice, ToolDef, ToolKind, ToolResult, Transcript, Wanted,
};

use crate::response::{self, AnsweredCall, Assembly, Locate, Said};

pub(super) static FORMAT: Format = Format {
    id: "openai-chat",
    name: "OpenAI Chat Completions",
    family: "chat",
    sniff,
    read_in,
    answers,
    event,
};

/// What sets a dialect apart from Chat Completions as OpenAI speaks it.
pub(super) struct Dialect {
    /// The dialect's format.
    pub(super) format: &'static str,
    /// The keys of a result that name its tool.
    pub(super) result_name: &'static [&'static str],
    /// The keys of a message that hold text beside its content.
    pub(super) text: &'static [&'static str],
    /// The roles that there are besides `system`, `user`, `assistant` and `tool`.
    pub(super) roles: &'static [(&'static str, Role)],
}

static DIALECT: Dialect = Dialect {
    format: FORMAT.id,
    result_name: &["name"],
    text: &["refusal"],
    roles: &[("developer", Role::System), ("function", Role::Tool)],
};

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = list_of(root, "messages") else { return 0 };
    let mut sure = surest_message(list, |message| {
        let Some(role) = message.get_str("role") else { return 0 };
        let call = message.get("tool_calls").and_then(|calls| calls.elements().next());
        if let Some(call) = call {
            let arguments = call.get("function").and_then(|function| function.get("arguments"));
            let is_text = arguments.is_none_or(|arguments| arguments.as_json_str().is_some());
            return if is_text { 74 } else { 40 };
        }
        if message.get("function_call").is_some() || role == "function" || role == "developer" {
            return 76;
        }
        if role == "tool" {
            return 60;
        }
        let of_blocks = blocks(message, "content").map(|block| match block.get_str("type").as_deref() {
            Some("image_url" | "input_audio" | "file" | "refusal") => 60,
            Some("text") => 20,
            _ => 0,
        });
        of_blocks.max().unwrap_or(20)
    });
    if list.elements().next().is_none() {
        sure = 10;
    }
    if sure > 0 {
        let tools = root.get("tools").into_iter().flat_map(|tools| tools.elements());
        let has_functions = tools.take(8).any(|tool| tool.get("function").is_some());
        if has_functions || root.get_any(&["functions", "stream_options", "max_completion_tokens"]).is_some()
        {
            sure = sure.max(74);
        }
    }
    sure
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    read_dialect(root, &DIALECT, room)
}

/// Reads a document of a dialect.
pub(super) fn read_dialect<'s>(
    root: Value<'_, 's>,
    dialect: &Dialect,
    room: Room<'s>,
) -> Option<Transcript<'s>> {
    let list = list_of(root, "messages")?;
    let mut transcript = Transcript::new_in(dialect.format, root, room);
    transcript.model = root.get_str("model");
    let tools = root.get_any(&["tools", "functions"]);
    declare_tools(&mut transcript, tools, |value| Some(tool(value)));
    // What the tools of a provider do that have no definition is not known here.
    transcript.hides_tools = transcript.tools.iter().flatten().any(|tool| tool.name.is_none());
    transcript.tool_choice = root
        .get_any(&["tool_choice", "function_call"])
        .filter(|choice| !choice.is_null())
        .map(|choice| ToolChoice { place: Place::of(choice), wanted: wanted(choice) });
    transcript.reasoning = is_enabled(root.get("thinking"))
        .or_else(|| root.get("enable_thinking").and_then(|flag| flag.as_bool()));
    for (index, value) in list.elements().enumerate() {
        message(&mut transcript, value, index, dialect);
    }
    Some(transcript)
}

/// What a `tool_choice` says; the Responses API has the same words.
pub(super) fn wanted<'s>(choice: Value<'_, 's>) -> Wanted<'s> {
    match choice.as_str().as_deref() {
        Some("auto") => Wanted::Free,
        Some("none" | "NONE") => Wanted::Nothing,
        Some("required" | "any" | "REQUIRED") => Wanted::Any,
        Some(_) => Wanted::Invalid,
        // A tool by its name, or one of the forms that newer APIs have.
        None => {
            let named = choice.get_any(&["function", "custom"]).unwrap_or(choice).get("name");
            named.and_then(Named::of).map_or(Wanted::Other, Wanted::Tool)
        }
    }
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Said<'s>>> {
    choices(value, &DIALECT)
}

/// Reads a response whose answers are its choices.
pub(super) fn choices<'s>(value: Value<'_, 's>, dialect: &Dialect) -> Option<Vec<Said<'s>>> {
    let choices = value.get("choices").filter(|choices| choices.is_array())?;
    // A piece of a stream has choices too, but no message in them.
    let answer = |choice: Value<'_, 's>| {
        let is_whole = response::is_whole(choice.get("finish_reason"), &WHOLE);
        Some(self::answer(choice.get("message")?, is_whole, dialect))
    };
    choices.elements().map(answer).collect()
}

/// The answer that a response's message is.
pub(super) fn answer<'s>(value: Value<'_, 's>, is_whole: bool, dialect: &Dialect) -> Said<'s> {
    let mut transcript = Transcript::new(dialect.format, value);
    message(&mut transcript, value, 0, dialect);
    Said { transcript, is_whole }
}

/// Reads an event that brings pieces of choices.
pub(super) fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let number = |value: Value<'_, '_>| value.get("index").and_then(Value::as_u64);
    for choice in event.get("choices").into_iter().flat_map(|choices| choices.elements()) {
        let answer = number(choice).unwrap_or_default();
        let delta = choice.get("delta");
        assembly.text(answer, delta.and_then(|delta| delta.get("content")));
        let pieces = delta.and_then(|delta| delta.get("tool_calls"));
        for (place, piece) in (0..).zip(pieces.into_iter().flat_map(|pieces| pieces.elements())) {
            if let Body::Call(call) = call(piece) {
                let call = AnsweredCall::new(&call, piece, locate);
                assembly.call(answer, number(piece).unwrap_or(place), call);
            }
        }
        let function = delta.and_then(|delta| delta.get("function_call")).filter(|call| call.is_object());
        if let Some(function) = function
            && let Body::Call(call) = called(function, None, ToolKind::LegacyFunction)
        {
            assembly.call(answer, 0, AnsweredCall::new(&call, function, locate));
        }
        let reason = choice.get("finish_reason");
        if reason.is_some_and(|reason| !reason.is_null()) {
            assembly.end(answer, response::is_whole(reason, &WHOLE));
        }
    }
}

/// How an answer ends that came to its end.
const WHOLE: [&str; 3] = ["stop", "tool_calls", "function_call"];

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    let spec = value.get_any(&["function", "custom"]).unwrap_or(value);
    let name = spec.get("name").and_then(Named::of);
    // Some providers take tools of their own here, which have a type and no definition.
    let executor = if name.is_some() { Executor::Client } else { Executor::Server };
    ToolDef { place: Place::of(value), name, schema: spec.get("parameters").map(Place::of), executor }
}

fn message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize, dialect: &Dialect) {
    let mut message = Message::new(Role::Unknown, value, index);
    let mut content = None;
    let (mut calls, mut function_call, mut call_id) = (None, None, None);
    let (mut reasoning, mut audio) = (None, None);
    // The last of the dialect's names for a result's tool, and its texts beside the content.
    let (mut result_name, mut texts) = (None, Vec::new());
    for member in value.members() {
        match member.key_text().as_deref() {
            Some("role") => message.role_name = Named::of(member),
            Some("content") => content = Some(member),
            Some("tool_calls") => calls = Some(member),
            Some("function_call") => function_call = Some(member).filter(|call| call.is_object()),
            Some("reasoning_content" | "reasoning" | "thinking") => {
                reasoning = Some(member).filter(|text| text.as_json_str().is_some());
            }
            Some("audio") => audio = Some(member).filter(|audio| audio.is_object()),
            Some("prefix") => message.is_prefix = member.as_bool() == Some(true),
            Some("tool_call_id") => call_id = Named::of(member),
            Some(key) if dialect.result_name.contains(&key) => {
                let is_better = |known: &(usize, _)| dialect.result_name[known.0] != dialect.result_name[0];
                if result_name.as_ref().is_none_or(is_better) {
                    let rank = dialect.result_name.iter().position(|name| *name == key).unwrap_or_default();
                    result_name = Named::of(member).map(|name| (rank, name)).or(result_name);
                }
            }
            Some(key) if dialect.text.contains(&key) => {
                texts.extend(member.as_json_str().map(|text| (member, text)))
            }
            _ => {}
        }
    }
    let role_name = message.role_name.as_ref().map(|role| &*role.text);
    message.role = match role_name {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        other => {
            let known = dialect.roles.iter().find(|(name, _)| Some(*name) == other);
            known.map_or(Role::Unknown, |(_, role)| *role)
        }
    };
    let is_function = role_name == Some("function");
    message.content = Content::of(content);
    if let Some(content) = content {
        message.content_place = Place::of(content);
    }
    message.empty_calls =
        calls.filter(|calls| calls.is_array() && calls.children().next().is_none()).map(Place::of);
    let role = message.role;
    transcript.open_message(message);

    if let Some(text) = reasoning.filter(|text| !text.as_json_str().is_some_and(|text| text.is_empty())) {
        let body = Body::Reasoning(Reasoning { id: None, signature: Signature::Missing, is_redacted: false });
        transcript.push(Part::new(text, 0, body));
    }
    if let Some(audio) = audio {
        transcript.push(Part::new(audio, 0, Body::Media));
    }
    for (value, text) in texts {
        transcript.push(Part::new(value, 0, Body::Text(text)));
    }
    if role == Role::Tool {
        let body = result(content, call_id, result_name.map(|(_, name)| name), is_function);
        transcript.push(Part::new(value, 0, body));
        return;
    }
    if let Some(content) = content {
        if let Some(text) = content.as_json_str() {
            transcript.push(Part::new(content, 0, Body::Text(text)));
        }
        for (index, block) in content.elements().enumerate() {
            transcript.push(Part::new(block, index, self::block(block)));
        }
    }
    for (index, value) in calls.into_iter().flat_map(|calls| calls.elements()).enumerate() {
        transcript.push(Part::new(value, index, call(value)));
    }
    if let Some(value) = function_call {
        transcript.push(Part::new(value, 0, called(value, None, ToolKind::LegacyFunction)));
    }
}

fn block<'s>(block: Value<'_, 's>) -> Body<'s> {
    match block.get_str("type").as_deref() {
        Some("text") => block.get("text").and_then(Value::as_json_str).map_or(Body::Opaque, Body::Text),
        Some("refusal") => block.get("refusal").and_then(Value::as_json_str).map_or(Body::Opaque, Body::Text),
        Some("thinking") => Body::Reasoning(Reasoning {
            id: None,
            signature: Signature::of(block.get("signature")),
            is_redacted: false,
        }),
        Some(
            "image_url" | "input_audio" | "audio" | "file" | "image" | "document" | "document_url"
            | "video_url",
        ) => Body::Media,
        _ => Body::Opaque,
    }
}

/// The call that `value` is.
pub(super) fn call_of<'s>(value: Value<'_, 's>) -> Option<Call<'s>> {
    match call(value) {
        Body::Call(call) => Some(call),
        _ => None,
    }
}

fn call<'s>(value: Value<'_, 's>) -> Body<'s> {
    let (mut id, mut function, mut custom) = (None, None, None);
    let mut is_custom = false;
    for member in value.members() {
        match member.key_text().as_deref() {
            Some("id") => id = Named::of(member),
            Some("function") => function = Some(member),
            Some("custom") => custom = Some(member),
            Some("type") => is_custom = member.as_json_str().is_some_and(|kind| kind.eq_str("custom")),
            _ => {}
        }
    }
    match custom {
        Some(custom) => called(custom, id, ToolKind::Custom),
        None if is_custom => called(function.unwrap_or(value), id, ToolKind::Custom),
        None => called(function.unwrap_or(value), id, ToolKind::Function),
    }
}

/// The call that `spec` speaks of: its tool's name and its arguments.
fn called<'s>(spec: Value<'_, 's>, id: Option<Named<'s>>, kind: ToolKind) -> Body<'s> {
    let key = if kind == ToolKind::Custom { "input" } else { "arguments" };
    let (mut name, mut arguments) = (None, None);
    for member in spec.members() {
        match member.key_text().as_deref() {
            Some("name") => name = Named::of(member),
            Some(own) if own == key => arguments = Some(member),
            _ => {}
        }
    }
    Body::Call(Call {
        id,
        name,
        arguments: Arguments::of(arguments),
        executor: Executor::Client,
        kind,
        signature: Signature::Missing,
    })
}

fn result<'s>(
    content: Option<Value<'_, 's>>,
    call_id: Option<Named<'s>>,
    name: Option<Named<'s>>,
    is_function: bool,
) -> Body<'s> {
    // One form of result answers functions and custom tools alike.
    let kind = is_function.then_some(ToolKind::LegacyFunction);
    Body::Result(ToolResult {
        call_id,
        name,
        is_error: None,
        content: Content::of(content),
        content_place: content.map(Place::of),
        has_foreign: false,
        has_bare_json: false,
        has_media: content.is_some_and(|content| {
            content.elements().any(|part| {
                !matches!(part.get_str("type").as_deref(), None | Some("text" | "document" | "reference"))
            })
        }),
        executor: Executor::Client,
        kind,
    })
}
