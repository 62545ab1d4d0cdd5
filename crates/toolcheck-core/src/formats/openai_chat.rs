//! OpenAI Chat Completions, and the shape its many dialects share.

pub(super) mod choice;
pub(crate) mod mistakes;
pub(super) mod reply;
mod stored;
pub(super) mod write;

use toolcheck_json::Value;

use super::{
    Format, Marks, blocks, declare_tools, declares, is_enabled, is_of_no_provider, list_of, messages_of,
};
use crate::assembly::{self, Assembly, ChoiceCall, ChoiceReasoning, Completion, Locate};
use crate::claim::{Claim, certainty, surest_message};
use crate::conversation::{self, Feature};
use crate::details;
use crate::fix_style::FixStyle;
use crate::ir::{
    Arguments, Body, Buffers, Call, Content, Executor, FormatId, Message, MissingKey, Named, Part, Place,
    Reasoning, Role, Signature, Text, ToolChoice, ToolDef, ToolKind, ToolResult, Transcript, UnpairedReason,
};
use crate::names::words;
use crate::reply::Framing;
use crate::route::Route;
use crate::unread;

pub(crate) static FORMAT: Format = Format {
    id: "openai-chat",
    name: "OpenAI Chat Completions",
    aliases: &["openai", "gpt", "chat-completions"],
    routes: &[Route::new("/v1", "/chat/completions")],
    holds: &[Feature::CallIds],
    write_error: Some(reply::error),
    ..CHAT
};

pub(crate) const CHAT: Format = Format {
    id: "",
    name: "",
    aliases: &[],
    family: "chat",
    routes: &[],
    marks: Marks {
        body: &OWN_BODY,
        message: &["tool_calls", "tool_call_id", "function_call", "function"],
        answer: &["choices"],
        models: &MODELS,
        is_shared: true,
        says_nothing: &[],
    },
    sniff,
    read_with: |root, buffers| read_dialect(root, &DIALECT, buffers),
    answers: |value| choices(value, &DIALECT),
    event,
    read_reasoning,
    holds: &[Feature::CallIds, Feature::Reasoning, Feature::UnsignedReasoning],
    write_request: |conversation, tools| write::request(conversation, tools, &write::STYLE),
    write_reply: reply::write,
    write_events: reply::events,
    write_error: None,
    framing: Framing::ServerSent(Some("[DONE]")),
    fix_style: &FIX_STYLE,
    is_made_chat: false,
    keeps_responses: false,
    repeats: &[],
};

static FIX_STYLE: FixStyle = FixStyle { thoughts: &["reasoning", "reasoning_content"], ..FixStyle::CHAT };

/// How a dialect differs from OpenAI's own Chat Completions.
pub(super) struct Dialect {
    pub(super) format: FormatId,
    /// The keys of a result that name its tool.
    pub(super) result_name: &'static [&'static str],
    /// The keys of a message that hold text in addition to its content.
    pub(super) text: &'static [&'static str],
    /// The keys of a message that hold media in addition to its content.
    pub(super) media: &'static [&'static str],
    /// The roles besides `system`, `user`, `assistant` and `tool`.
    pub(super) roles: &'static [(&'static str, Role)],
    /// Whether a call may have no arguments, because the tool is called without any.
    pub(super) may_lack_arguments: bool,
}

impl Dialect {
    fn role(&self, name: Option<&str>) -> Role {
        match super::role_in_chat(name) {
            Role::Unknown => {
                let known = self.roles.iter().find(|(known, _)| Some(*known) == name);
                known.map_or(Role::Unknown, |(_, role)| *role)
            }
            role => role,
        }
    }
}

static DIALECT: Dialect = Dialect {
    format: FORMAT.key(),
    result_name: &["name"],
    text: &["refusal"],
    media: &[],
    roles: &[("developer", Role::System), ("function", Role::Tool)],
    may_lack_arguments: false,
};

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = messages_of(root) else { return 0 };
    let is_empty = list.elements().next().is_none();
    let sure = if is_empty && root.is_object() {
        certainty::WEAK
    } else {
        surest_message(list, certainty::SURE_OF_RECORD, claim)
    };
    if sure > 0 && root.is_object() && is_own_model(root) {
        return sure.max(OF_MODEL);
    }
    if sure < certainty::WEAK || !root.is_object() {
        return sure;
    }
    if root.get_any(&OWN_BODY).is_some() {
        // Ollama's calls outweigh a setting that people send there too.
        sure.max(if sure == OF_OBJECTS { certainty::LIKELY } else { OF_SETTING })
    } else if sure != OF_OBJECTS && declares(root, "function") {
        sure.max(OF_CALL)
    } else {
        sure
    }
}

/// The certainty from a call or a tool definition of this shape. Dialects share the shape and are surer by their own
/// marks.
const OF_CALL: u8 = certainty::SURE_OF_RECORD + 4;
/// The certainty from a setting, a role or a call that few dialects have.
const OF_SETTING: u8 = certainty::SURE_OF_RECORD + 6;
/// The certainty from a model's name: other APIs also serve models with such names.
const OF_MODEL: u8 = certainty::SURE_OF_DIALECT + 2;

/// Keys of a body that other APIs with `messages` do not have.
const OWN_BODY: [&str; 6] = words(
    "functions stream_options max_completion_tokens parallel_tool_calls response_format reasoning_effort",
);

/// The prefixes of OpenAI's own model names. A name with a slash before the prefix is another provider's.
pub(super) const MODELS: [&str; 6] = ["gpt-", "o1", "o3", "o4", "chatgpt-", "ft:gpt-"];

/// Whether a body names a model that only this API has.
pub(crate) fn is_own_model(root: Value<'_, '_>) -> bool {
    root.get_str("model").is_some_and(|model| {
        // Many providers serve `gpt-oss`.
        !model.starts_with("gpt-oss") && FORMAT.marks.has_model(&model)
    })
}

/// How many keys a body has that other APIs with `messages` do not have.
pub(super) fn own_keys(root: Value<'_, '_>) -> usize {
    root.members().filter(|member| member.key_text().is_some_and(|key| OWN_BODY.contains(&&*key))).count()
}

/// How well a message fits the shape that all dialects share and, where they differ, OpenAI's own.
pub(super) fn claim(message: Value<'_, '_>) -> Claim {
    // A single pass over the members: this may run for every record of a long file.
    let (mut role, mut content, mut calls, mut function_call) = (None, None, None, None);
    let (mut names_call, mut has_parts) = (false, false);
    for member in message.members() {
        match member.key_text().as_deref() {
            Some("role") => role = member.as_str(),
            Some("content") => content = Some(member),
            Some("tool_calls") => calls = Some(member),
            Some("function_call") => function_call = Some(member),
            Some("tool_call_id" | "tool_call_ids") => names_call = true,
            Some("parts") => has_parts = true,
            _ => {}
        }
    }
    let Some(role) = role else { return Claim::Foreign };
    if !matches!(&*role, "system" | "developer" | "user" | "assistant" | "tool" | "function") {
        let is_miscased =
            content.is_some() && matches!(&*role.to_lowercase(), "system" | "user" | "assistant" | "tool");
        return if is_miscased { Claim::Sure(certainty::WEAK + 2) } else { Claim::of_unknown_role(message) };
    }
    if let Some(call) = calls.and_then(|calls| calls.elements().next()) {
        let Some(spec) = call.get_any(&["function", "custom"]).filter(|spec| spec.is_object()) else {
            // Frameworks store the name next to the arguments, without an object around them.
            return if call.has("args") { Claim::Foreign } else { Claim::Sure(certainty::SURE) };
        };
        let is_text = spec.get("arguments").is_none_or(|arguments| arguments.is_string());
        return Claim::Sure(if is_text { OF_CALL } else { of_objects(message, call) });
    }
    if function_call.is_some_and(Value::is_object) || matches!(&*role, "function" | "developer") {
        return Claim::Sure(OF_SETTING);
    }
    if role == "tool" {
        return Claim::Sure(if names_call { certainty::SURE_OF_RECORD } else { certainty::TEXT + 5 });
    }
    let Some(content) = content else {
        // A role alone says little, and other formats keep the content under other keys.
        // Most requests are of this format, so that it comes before those that are as sure.
        return if has_parts { Claim::Foreign } else { Claim::Sure(certainty::FAINT + 1) };
    };
    if content.is_string() || content.is_null() {
        return Claim::Sure(certainty::TEXT);
    }
    let sure = |block: Value<'_, '_>| match block.get_str("type").as_deref() {
        _ if is_of_no_provider(block) => None,
        Some("image_url" | "input_audio" | "file" | "refusal") => Some(certainty::LIKELY),
        Some(kind) if MEDIA_OF_VENDORS.contains(&kind) => Some(certainty::SURE_OF_RECORD),
        Some("text") => Some(certainty::TEXT),
        Some("image" | "document" | "thinking") => Some(certainty::FAINT),
        _ => Some(0),
    };
    Claim::of_blocks(blocks(message, "content").map(sure), Claim::Sure(certainty::WEAK))
}

/// The certainty from a call whose arguments are not a string: the most common mistake with this API, but also how
/// Ollama writes them. Other things that this API requires decide.
fn of_objects(message: Value<'_, '_>, call: Value<'_, '_>) -> u8 {
    if is_marked(message, call) { certainty::LIKELY + 2 } else { OF_OBJECTS }
}

/// The certainty from such a call without a mark of this API.
const OF_OBJECTS: u8 = certainty::SURE - 5;

/// Whether a call has something that Ollama's own calls do not need: an id, or `null` as the message's content.
pub(super) fn is_marked(message: Value<'_, '_>, call: Value<'_, '_>) -> bool {
    call.has("id") || message.get("content").is_some_and(Value::is_null)
}

pub(super) fn read_dialect<'s>(
    root: Value<'_, 's>,
    dialect: &Dialect,
    buffers: Buffers<'s>,
) -> Option<Transcript<'s>> {
    let list = list_of(root, "messages")?;
    let mut transcript = Transcript::with_buffers(dialect.format, root, buffers);
    transcript.details.absent_arguments_are_empty = dialect.may_lack_arguments;
    transcript.request.model = root.get_str("model");
    // A dataset's table has `null` in the columns that a row does not use.
    let mut lists = ["tools", "functions"].into_iter().filter_map(|key| root.get(key));
    let first = lists.find(|list| !list.is_null());
    declare_tools(&mut transcript, first, &FOREIGN_TOOLS, |value| Some(tool(value)));
    transcript.request.tools.second_place = lists.find(|list| !list.is_null()).map(Place::of_key);
    transcript.unread.extend(unread::body(root));
    // A provider's own tools have no definition, so what they do is unknown here.
    transcript.request.tools.hides_some =
        transcript.request.tools.list.iter().flatten().any(|tool| tool.name.is_none());
    transcript.request.tool_choice = root
        .get_any(&["tool_choice", "function_call"])
        .filter(|choice| !choice.is_null())
        .map(|value| ToolChoice::new(value, choice::among(value).unwrap_or_else(|| choice::wanted(value))));
    transcript.request.effort = root.get("reasoning_effort").and_then(Named::of);
    let is_off = transcript.request.effort.as_ref().is_some_and(|effort| effort.text == "none");
    let said = is_enabled(root.get("thinking")).or_else(|| root.get("enable_thinking")?.as_bool());
    transcript.request.reasoning = if is_off { Some(false) } else { said };
    let format = root.get("response_format").filter(|_| dialect.format == FORMAT.key());
    transcript.request.answer_schema = format.and_then(|format| answer_schema(format.get("json_schema")?));
    transcript.request.unsaid_json =
        format.and_then(|format| super::unsaid_json(format, root, &["messages"]));
    for (index, value) in list.elements().enumerate() {
        message(&mut transcript, value, index, dialect);
    }
    Some(transcript)
}

/// The schema of a strict answer; the Responses API uses the same words.
pub(super) fn answer_schema<'s>(format: Value<'_, 's>) -> Option<(Option<Named<'s>>, Place)> {
    let is_strict = format.is_true("strict");
    let schema = format.get("schema").filter(|schema| is_strict && schema.is_object())?;
    Some((format.get("name").and_then(Named::of), Place::of(schema)))
}

/// Keys of tool definitions in other APIs.
const FOREIGN_TOOLS: [&str; 5] =
    ["input_schema", "inputSchema", "toolSpec", "functionDeclarations", "function_declarations"];

pub(super) fn choices<'s>(value: Value<'_, 's>, dialect: &Dialect) -> Option<Vec<Completion<'s>>> {
    let choices = value.get("choices").filter(|choices| choices.is_array())?;
    // A chunk of a stream has choices too, but they hold no message.
    let answer = |choice: Value<'_, 's>| {
        let is_whole = assembly::is_whole(choice.get("finish_reason"), &WHOLE);
        Some(self::answer(choice.get("message")?, is_whole, dialect))
    };
    choices.elements().map(answer).collect()
}

pub(super) fn answer<'s>(value: Value<'_, 's>, is_whole: bool, dialect: &Dialect) -> Completion<'s> {
    let mut transcript = Transcript::new(dialect.format, value);
    message(&mut transcript, value, 0, dialect);
    Completion { transcript, is_whole }
}

pub(super) fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let number = |value: Value<'_, '_>| value.get("index").and_then(Value::as_u64);
    for choice in event.list("choices") {
        let answer = number(choice).unwrap_or_default();
        let delta = choice.get("delta");
        if let Some(delta) = delta {
            contents(assembly, answer, delta, locate);
        }
        let pieces = delta.and_then(|delta| delta.get("tool_calls"));
        for (place, piece) in (0..).zip(pieces.into_iter().flat_map(|pieces| pieces.elements())) {
            if let Body::Call(call) = call(piece) {
                let call = ChoiceCall::new(&call, piece, locate);
                assembly.call(answer, number(piece).unwrap_or(place), call);
            }
        }
        let function = delta.and_then(|delta| delta.get("function_call")).filter(|call| call.is_object());
        if let Some(function) = function
            && let Body::Call(call) = called(function, None, ToolKind::LegacyFunction)
        {
            assembly.call(answer, 0, ChoiceCall::new(&call, function, locate));
        }
        let reason = choice.get("finish_reason");
        if reason.is_some_and(|reason| !reason.is_null()) {
            assembly.end(answer, assembly::is_whole(reason, &WHOLE));
        }
    }
}

/// Adds what a piece of a choice says besides calls.
fn contents<'d, 's>(assembly: &mut Assembly, answer: u64, delta: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let details = delta.get(details::KEY);
    details.into_iter().for_each(|list| assembly.details(answer, list, locate));
    let content = delta.get("content");
    assembly.text(answer, content);
    for block in content.into_iter().flat_map(|content| content.elements()) {
        assembly.text(answer, block.get("text"));
        if block.is("type", "thinking") {
            assembly.reasoning(answer, 0, ChoiceReasoning::new(read_reasoning(block), locate(block)));
        }
    }
    let is_text = |value: &Value<'_, '_>| value.is_string();
    let text =
        ["reasoning_content", "reasoning", "thinking"].iter().find_map(|key| delta.get(key).filter(is_text));
    if let Some(text) = text {
        assembly.reasons(answer, 0, [Some(text), None], locate(text));
    }
}

/// The finish reasons of a complete choice: OpenAI's, and those of Hugging Face's text-generation-inference.
const WHOLE: [&str; 5] = ["stop", "tool_calls", "function_call", "eos_token", "stop_sequence"];

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    let spec = value.get_any(&["function", "custom"]).unwrap_or(value);
    let name = spec.get("name").and_then(Named::of);
    // Some providers accept their own tools here, which have a type but no definition.
    let executor = if name.is_some() { Executor::Client } else { Executor::Server };
    let schema = spec.get("parameters").map(Place::of);
    let takes_text = value.has("custom");
    ToolDef { name, schema, executor, takes_text, ..ToolDef::new(Place::of(value)) }
}

/// The members of a message that become parts of it.
#[derive(Default)]
struct Members<'d, 's> {
    content: Option<Value<'d, 's>>,
    calls: Option<Value<'d, 's>>,
    function_call: Option<Value<'d, 's>>,
    call_id: Option<Named<'s>>,
    reasoning: Option<Value<'d, 's>>,
    audio: Option<Value<'d, 's>>,
    /// The model's reasoning and its signatures, as a gateway keeps them.
    details: Option<Value<'d, 's>>,
    /// The last of the dialect's names for a result's tool, with its rank among them.
    result_name: Option<(usize, Named<'s>)>,
    /// The dialect's texts in addition to the content.
    texts: Vec<(Value<'d, 's>, Text<'s>)>,
    /// The dialect's media in addition to the content.
    media: Option<Value<'d, 's>>,
}

impl Members<'_, '_> {
    /// Whether they have a key that only results have.
    fn is_named_result(&self, dialect: &Dialect) -> bool {
        let name = self.result_name.as_ref().map(|(rank, _)| dialect.result_name[*rank]);
        self.calls.is_none() && name == Some("tool_name")
    }
}

fn members<'d, 's>(
    transcript: &mut Transcript<'s>,
    message: &mut Message<'s>,
    value: Value<'d, 's>,
    dialect: &Dialect,
) -> Members<'d, 's> {
    let mut own = Members::default();
    for member in value.members() {
        match member.key_text().as_deref() {
            Some("role") => message.role_name = Named::of(member),
            Some("content") => own.content = Some(member),
            Some("tool_calls") => own.calls = Some(member),
            Some("function_call") => {
                own.function_call = Some(member).filter(|call| call.is_object());
                let no_call = Some(member).filter(|call| !call.is_object());
                transcript.unread.extend(no_call.and_then(unread::member));
            }
            Some("reasoning_content" | "reasoning" | "thinking") => {
                own.reasoning = Some(member).filter(|text| text.is_string());
            }
            Some(details::KEY) => own.details = Some(member).filter(|list| list.elements().next().is_some()),
            Some("audio") => own.audio = Some(member).filter(|audio| audio.is_object()),
            Some("weight") => message.weight = Some(Place::of(member)).filter(|_| !member.is_null()),
            // Moonshot calls it partial.
            Some("prefix" | "partial") => message.is_prefix = member.as_bool().unwrap_or(!member.is_null()),
            Some("tool_call_id") => own.call_id = Named::of(member),
            Some(key) if dialect.result_name.contains(&key) => {
                let rank = dialect.result_name.iter().position(|name| *name == key).unwrap_or_default();
                // Of two with the same key, the last.
                if own.result_name.as_ref().is_none_or(|(known, _)| rank <= *known) {
                    own.result_name = Named::of(member).map(|name| (rank, name)).or(own.result_name);
                }
            }
            Some(key) if dialect.text.contains(&key) => {
                own.texts.extend(Text::of(member).map(|text| (member, text)));
            }
            Some(key) if dialect.media.contains(&key) => own.media = Some(member),
            _ => transcript.unread.extend(unread::member(member)),
        }
    }
    own
}

/// Reads a message of a list that is not in a request.
pub(crate) fn read_message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    message(transcript, value, index, &DIALECT);
}

fn message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize, dialect: &Dialect) {
    let mut message = Message::new(Role::Unknown, value, index);
    let unread = transcript.unread.len();
    let own = members(transcript, &mut message, value, dialect);
    let has_unread = transcript.unread.len() > unread;
    // `tool_calls` that are a string, or anything else but a list.
    let no_list = own.calls.filter(|calls| !calls.is_array());
    transcript.unread.extend(no_list.and_then(unread::member));
    let role_name = message.role_name.as_ref().map(|role| &*role.text);
    message.role = dialect.role(role_name);
    let is_of_function = role_name == Some("function");
    message.content = Content::of(own.content);
    if let Some(content) = own.content {
        message.content_place = Place::of(content);
    }
    message.empty_calls =
        own.calls.filter(|calls| calls.is_array() && calls.children().next().is_none()).map(Place::of);
    let is_empty = |text: &Value<'_, '_>| text.as_json_str().is_some_and(|text| text.is_empty());
    message.has_empty_reasoning = own.reasoning.as_ref().is_some_and(is_empty);
    let id = own.call_id.as_ref().filter(|_| own.calls.is_none());
    let is_answer = id.is_some_and(|id| mistakes::is_answer(transcript, message.role, &id.text));
    if is_answer && message.role != Role::Unknown {
        message.role = Role::Tool;
    }
    // That the role is not known is told by itself.
    let is_unknown = message.role == Role::Unknown;
    let name = own.result_name.as_ref().map(|(_, name)| &*name.text);
    let is_function =
        is_of_function || is_unknown && own.calls.is_none() && mistakes::answers_function(transcript, name);
    let is_result = is_unknown && (is_answer || is_function || own.is_named_result(dialect));
    let role = if is_result { Role::Tool } else { message.role };
    transcript.open_message(message);

    if let Some(text) = own.reasoning.filter(|text| !is_empty(text)) {
        let body = Body::Reasoning(Reasoning { id: None, signature: Signature::Missing, is_redacted: false });
        transcript.push(Part::new(text, 0, body));
    }
    if let Some(audio) = own.audio {
        transcript.push(Part::new(audio, 0, Body::Media));
    }
    for (value, text) in own.texts {
        transcript.push(Part::new(value, 0, Body::Text(text)));
    }
    if (role == Role::Tool || role == Role::User && has_unread)
        && let Some((entries, content)) = stored::results_in_one(value)
    {
        transcript.unread.retain(|unread| unread.place.node != entries.id());
        // Its role is that of the provider's own messages, and none that somebody has mistaken.
        if let Some(message) = transcript.messages.last_mut().filter(|_| role == Role::User) {
            (message.role, message.role_name) = (Role::Tool, None);
        }
        for (index, entry) in entries.elements().enumerate() {
            let named = |keys: [&str; 2]| entry.get_any(&keys).and_then(Named::of);
            let id = named(["tool_call_id", "tool_id"]).or_else(|| stored::id_of_result(entry));
            let name = named(["tool_name", "name"]).filter(|name| !name.text.is_empty());
            let body = result(entry.get(content), id, name, false);
            transcript.push(Part::new(entry, index, body));
        }
        return;
    }
    if role == Role::Tool {
        let id = own.call_id.or_else(|| stored::id_of_result(value));
        let body = result(own.content, id, own.result_name.map(|(_, name)| name), is_function);
        transcript.push(Part::new(value, 0, body));
        return;
    }
    if let Some(content) = own.content {
        push_content(transcript, content);
    }
    for (index, medium) in own.media.into_iter().flat_map(Value::elements).enumerate() {
        transcript.push(Part::new(medium, index, Body::Media));
    }
    if let Some(calls) = own.calls {
        push_calls(transcript, calls, own.details.is_some());
    }
    if let Some(value) = own.function_call {
        transcript.push(Part::new(value, 0, called(value, None, ToolKind::LegacyFunction)));
    }
}

/// Adds a message's content: a string, or its blocks.
fn push_content<'s>(transcript: &mut Transcript<'s>, content: Value<'_, 's>) {
    if let Some(text) = Text::of(content) {
        transcript.push(Part::new(content, 0, Body::Text(text)));
    }
    for (index, block) in content.elements().enumerate() {
        let body = self::block(block);
        if matches!(body, Body::Opaque) {
            transcript.unread.extend(unread::block(block));
        }
        transcript.push(Part::new(block, index, body));
        if block.is("type", "file") {
            transcript.details.files.push(Place::of(block));
        }
        if let Some(place) = unnamed_file(block) {
            let key = "filename";
            let missing = MissingKey { case: key, key, place, name: None, because: None };
            transcript.details.missing_keys.push(missing);
        }
    }
    if content.is_object() {
        transcript.unread.extend(unread::block(content));
    }
}

fn push_calls<'s>(transcript: &mut Transcript<'s>, calls: Value<'_, 's>, is_signed: bool) {
    for (index, value) in calls.elements().enumerate() {
        let mut body = call(value);
        if let Body::Call(call) = &mut body {
            if is_signed {
                call.signature = Signature::Present;
            }
            if matches!(call.arguments, Arguments::Missing) && is_unread(value) {
                transcript.unread.extend(unread::member(calls));
                // What came back is in what is not read.
                let has_result = value.get_any(&["result", "output"]).is_some();
                call.unpaired = has_result.then_some(UnpairedReason::Elsewhere);
            }
            transcript.unread.extend(unread::text_in_place_of_call(value));
        }
        transcript.push(Part::new(value, index, body));
    }
}

/// Types of blocks that servers of this format have and no other format: OpenRouter's videos, vLLM's and Z.ai's media,
/// Mistral's resources.
const MEDIA_OF_VENDORS: [&str; 8] =
    words("video_url input_video audio_url file_url image_embeds audio_embeds resource resource_link");

fn block<'s>(block: Value<'_, 's>) -> Body<'s> {
    match block.get_str("type").as_deref() {
        Some("text") => Body::text(block.get("text")),
        Some("refusal") => Body::text(block.get("refusal")),
        Some("thinking") => Body::Reasoning(Reasoning {
            id: None,
            signature: Signature::of(block.get("signature")),
            is_redacted: false,
        }),
        Some(
            "image_url" | "input_audio" | "audio" | "file" | "image" | "document" | "document_url" | "video"
            | "reference",
        ) => Body::Media,
        Some(kind) if MEDIA_OF_VENDORS.contains(&kind) => Body::Media,
        _ => Body::Opaque,
    }
}

/// The place of a file that is embedded in the request but has no name.
fn unnamed_file(block: Value<'_, '_>) -> Option<Place> {
    let file = block.get("file").filter(|_| block.is("type", "file"))?;
    let is_unnamed = file.has("file_data") && file.get("filename").is_none_or(Value::is_null);
    is_unnamed.then(|| Place::of(file))
}

/// Whether a call without arguments keeps them where frameworks do, or has only a name as its function.
fn is_unread(call: Value<'_, '_>) -> bool {
    call.get_any(&["args", "input", "parameters"]).is_some()
        || call.get("function").is_some_and(|function| !function.is_object())
}

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
    if function.is_none() {
        id = id.or_else(|| stored::id_of_call(value));
    }
    match custom {
        Some(custom) => called(custom, id, ToolKind::Custom),
        None if is_custom => called(function.unwrap_or(value), id, ToolKind::Custom),
        None => called(function.unwrap_or(value), id, ToolKind::Function),
    }
}

/// Builds a call from `spec`, which holds the tool's name and the arguments.
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
        unpaired: None,
    })
}

fn result<'s>(
    content: Option<Value<'_, 's>>,
    call_id: Option<Named<'s>>,
    name: Option<Named<'s>>,
    is_function: bool,
) -> Body<'s> {
    // Functions and custom tools share one form of result.
    let kind = is_function.then_some(ToolKind::LegacyFunction);
    Body::Result(ToolResult {
        call_id,
        name,
        has_media: content.is_some_and(|content| {
            content.elements().any(|part| {
                !matches!(part.get_str("type").as_deref(), None | Some("text" | "document" | "reference"))
            })
        }),
        kind,
        ..ToolResult::new(None, content)
    })
}

/// Reads reasoning, either a text next to the content or a block in it.
pub(super) fn read_reasoning(value: Value<'_, '_>) -> conversation::Reasoning {
    let text = super::text_of(value.get("thinking").unwrap_or(value));
    conversation::Reasoning::new(text, value.get_str("signature").map(Into::into))
}
