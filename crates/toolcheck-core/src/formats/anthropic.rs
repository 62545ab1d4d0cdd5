//! Anthropic Messages, as sent to its own API, to Vertex and to Bedrock's InvokeModel. Also the messages of MCP
//! sampling, which use the same blocks with camel-case keys.

mod reply;

use serde_json::{Value as Json, json};
use toolcheck_json::Value;

use super::{
    Format, Marks, blocks, declare_tools, declares, is_enabled, is_long_lived, is_of_no_provider, list_of,
    messages_of, openai_chat, reasoning_setting, strict, write_turns,
};
use crate::assembly::{self, Assembly, Choice, ChoiceCall, Completion, Locate};
use crate::claim::{Claim, certainty, surest_message, surest_of_most};
use crate::conversation::{self, Assistant, Conversation, Feature, ToolOutput};
use crate::fix_style::{self, FixStyle};
use crate::ir::{
    AutomaticCacheMark, BlankInstructions, Body, Buffers, CacheMark, CacheMarkTarget, Call, Content,
    Executor, Image, Named, Part, Place, ProgrammaticCall, Reasoning, Role, Signature, Text, ToolChange,
    ToolChoice, ToolChoiceMode, ToolDef, ToolKind, ToolResult, Transcript,
};
use crate::reply::Framing;
use crate::route::Route;
use crate::unread;
use toolcheck_json::edit::Piece;

pub(crate) static FORMAT: Format = Format {
    id: "anthropic",
    name: "Anthropic Messages",
    aliases: &["claude"],
    family: "anthropic",
    routes: &[
        Route::new("", "/v1/messages"),
        Route::new("/v1", "/publishers/anthropic/models/{model}:rawPredict"),
        Route::new("/v1", "/publishers/anthropic/models/{model}:streamRawPredict").streamed(true),
        Route::new("/v1/models", "/{model}:rawPredict").shared(),
        Route::new("/v1/models", "/{model}:streamRawPredict").streamed(true).shared(),
        Route::invoked("anthropic", false),
        Route::invoked("anthropic", true),
    ],
    marks: Marks {
        body: &["anthropic_version"],
        message: &["input_schema"],
        answer: &["content", "stop_reason"],
        models: &["claude-"],
        is_shared: false,
        says_nothing: &super::OF_CHAT,
    },
    sniff,
    read_with,
    answers,
    event,
    read_reasoning,
    holds: &[
        Feature::CallIds,
        Feature::Failures,
        Feature::Reasoning,
        Feature::Signatures,
        Feature::ResultMedia,
        Feature::TextOrder,
    ],
    write_request,
    write_reply: reply::write,
    write_events: reply::events,
    write_error: Some(reply::error),
    framing: Framing::ServerSent(None),
    fix_style: &FIX_STYLE,
    is_made_chat: true,
    keeps_responses: false,
    repeats: &[],
};

static FIX_STYLE: FixStyle = FixStyle {
    only_in_results: &["tool_reference"],
    blocks: Some("content"),
    result_id: Some("tool_use_id"),
    call_id: Some("id"),
    result: |missing| {
        let id = missing.id.clone()?;
        let failed = Piece::Raw(b"true".to_vec());
        Some(Piece::object([
            ("type", Piece::text("tool_result")),
            ("tool_use_id", id),
            ("content", missing.said()),
            ("is_error", failed),
        ]))
    },
    said: fix_style::user_text,
    tool: r#"{"name": NAME, "description": ABOUT, "input_schema": SCHEMA}"#,
    choices: [
        r#"{"type": "auto"}"#,
        r#"{"type": "any"}"#,
        r#"{"type": "none"}"#,
        r#"{"type": "tool", "name": NAME}"#,
    ],
    picture: Some(
        r#"{"type": "image", "source": {"type": "base64", "media_type": "image/KIND", "data": "DATA"}}"#,
    ),
    ..FixStyle::OF_PROGRAM
};

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = messages_of(root) else { return 0 };
    let is_empty = list.elements().next().is_none();
    let sure = if is_empty && root.is_object() {
        certainty::FAINT
    } else if root.is_array() || root.get_any(&["model", "max_tokens"]).is_none() {
        surest_of_most(list, certainty::CERTAIN, claim)
    } else {
        surest_message(list, certainty::CERTAIN, claim)
    };
    let named = || root.get_str("model").is_some_and(|model| FORMAT.marks.has_model(&model));
    // What no message shows, such as a system message alone, its model and this setting do together.
    if !root.is_object() || sure == 0 && !(root.has("max_tokens") && named()) {
        return sure;
    }
    let has_schemas = declares(root, "input_schema");
    if sure >= certainty::CERTAIN {
        let is_own = || has_schemas || root.get_any(&OWN_BODY).is_some() || named();
        return if !is_own() && openai_chat::mistakes::is_body(root) { certainty::FAINT } else { sure };
    }
    let body = if has_schemas || root.has("anthropic_version") {
        certainty::CERTAIN
    } else if named() {
        match root.get_any(&OWN_BODY).is_some() {
            // Neither a tool nor a setting of another API outweighs both.
            true => certainty::SURE_OF_DIALECT - 2,
            // Gateways serve such models in the format of OpenAI.
            false if root.get("max_tokens").is_none() && is_like_chat(root, list) => 0,
            false => certainty::SURE_OF_RECORD,
        }
    } else if root.has("system") {
        certainty::LIKELY
    } else {
        0
    };
    // Texts are written alike elsewhere, where nobody must say how long the answer may be.
    let is_text = sure <= certainty::TEXT && body == 0;
    if is_text && root.has("model") && root.get("max_tokens").is_none() {
        return sure / 2;
    }
    // If the messages or the model belong to another format, the body alone is not enough to choose this one.
    if sure < certainty::WEAK || names_another(root) {
        sure.max(body.min(certainty::SURE - 1))
    } else {
        sure.max(body)
    }
}

/// Keys of a body that other APIs with `messages` do not have.
const OWN_BODY: [&str; 2] = ["system", "stop_sequences"];

/// Whether a body names a model that only another format has.
fn names_another(root: Value<'_, '_>) -> bool {
    let others = || super::ALL.iter().filter(|format| format.id != FORMAT.id);
    root.get_str("model").is_some_and(|model| others().any(|format| format.marks.has_model(&model)))
}

/// Whether a body has what only the format of OpenAI has, and nothing of this one.
fn is_like_chat(root: Value<'_, '_>, list: Value<'_, '_>) -> bool {
    const SETTINGS: [&str; 6] =
        ["frequency_penalty", "presence_penalty", "n", "logprobs", "seed", "logit_bias"];
    let mut messages = list.elements().take(LIKE_CHAT_LOOKED_AT);
    root.get_any(&SETTINGS).is_some()
        || list.elements().next().is_some_and(|first| first.is("role", "system"))
        || messages.any(|message| message.get_any(&["refusal", "tool_calls", "annotations"]).is_some())
}

/// How many messages show whether all are like those of Chat Completions.
const LIKE_CHAT_LOOKED_AT: usize = 64;

/// The certainty from plain text. It is lower because most text-only messages are Chat Completions messages.
const OF_TEXT: u8 = certainty::TEXT - 5;

fn claim(message: Value<'_, '_>) -> Claim {
    let is_own = match message.get_str("role").as_deref() {
        Some("user" | "assistant") => true,
        // Newer models accept it mid-conversation; other formats put it first.
        Some("system") => false,
        Some("developer" | "tool" | "function") => return Claim::Foreign,
        _ => return Claim::of_unknown_role(message),
    };
    if message.get_any(&["tool_calls", "function_call"]).is_some_and(|calls| !calls.is_null()) {
        return Claim::Foreign;
    }
    let Some(content) = message.get("content") else {
        // A role alone says little, and other formats keep the content under other keys.
        let is_alone = is_own && message.members().count() == 1;
        return if is_alone { Claim::Sure(certainty::FAINT) } else { Claim::Foreign };
    };
    if content.is_string() {
        return if is_own { Claim::Sure(OF_TEXT) } else { Claim::Open };
    }
    let sure = |block: Value<'_, '_>| match block.get_str("type").as_deref() {
        _ if is_of_no_provider(block) => None,
        Some("tool_use" | "tool_result" | "redacted_thinking" | "server_tool_use") => {
            Some(certainty::CERTAIN)
        }
        // Other formats also have `thinking` blocks, without a signature or with a list as their content.
        Some("thinking") if block.has("signature") => Some(certainty::CERTAIN),
        Some("thinking") => Some(if block.has_list("thinking") { 0 } else { certainty::LIKELY }),
        Some(other) if other.ends_with("_tool_result") || other.starts_with("mcp_tool_") => {
            Some(certainty::CERTAIN)
        }
        Some("image" | "document") if block.has("source") => Some(certainty::SURE_OF_RECORD),
        Some("text") => Some(OF_TEXT),
        _ => Some(0),
    };
    // No content is a mistake that the rest of the body tells the format of.
    let empty = if is_own { Claim::Sure(certainty::FAINT) } else { Claim::Open };
    Claim::of_blocks(blocks(message, "content").map(sure), empty)
}

fn read_with<'s>(root: Value<'_, 's>, buffers: Buffers<'s>) -> Option<Transcript<'s>> {
    let list = list_of(root, "messages")?;
    let mut transcript = Transcript::with_buffers(FORMAT.key(), root, buffers);
    transcript.batches_results = true;
    transcript.request.model = root.get_str("model");
    let tools = root.get("tools");
    declare_tools(&mut transcript, tools, &FOREIGN_TOOLS, |value| Some(tool(value)));
    transcript.unread.extend(unread::body(root));
    let mut declared = tools.into_iter().flat_map(|tools| tools.elements());
    transcript.request.tools.hides_some =
        declared.any(|tool| tool.get_str("type").is_some_and(|kind| !is_known(&kind)));
    transcript.request.reasoning = is_enabled(root.get("thinking"));
    transcript.request.reasoning_setting = root.get("thinking").and_then(reasoning_setting);
    transcript.request.container =
        root.get("container").filter(|container| !container.is_null()).map(Place::of);
    transcript.request.tool_choice =
        root.get("tool_choice").filter(|choice| !choice.is_null()).map(tool_choice);
    if let Some(thread) = root.get("thread").filter(|thread| thread.is_object()) {
        transcript.request.is_kept = Some(true);
        transcript.request.continues_once = true;
        transcript.request.previous_response = thread.get("previous_message_id").and_then(Named::of);
        transcript.request.continues_remote_state = thread.is("type", "continue");
    }
    let format = root.get_in(&["output_config", "format"]);
    let schema = format.and_then(|format| format.get("schema")).filter(|schema| schema.is_object());
    transcript.request.answer_schema = schema.map(|schema| (None, Place::of(schema)));
    let system = root.get("system");
    transcript.request.instructions = system.map(Place::of);
    for value in tools.into_iter().flat_map(|list| list.elements()) {
        let target = if is_deferred(value) { CacheMarkTarget::DeferredTool } else { CacheMarkTarget::Usual };
        transcript.details.cache_marks.extend(cache_mark(value, target, None));
    }
    for value in system.into_iter().flat_map(|list| list.elements()) {
        transcript.details.cache_marks.extend(cache_mark(value, CacheMarkTarget::Usual, None));
        let blank = value.get("text").and_then(|text| BlankInstructions::of(value, text));
        transcript.details.blank_instructions.extend(blank);
    }
    for (index, value) in list.elements().enumerate() {
        message(&mut transcript, value, index);
    }
    if let Some(mark) = root.get("cache_control").filter(|mark| mark.is_object()) {
        let content = list.elements().last().and_then(|last| last.get("content"));
        let is_thought = |block: &Value<'_, '_>| matches!(self::block(*block), Body::Reasoning(_));
        let last = content.and_then(|content| content.elements().filter(|block| !is_thought(block)).last());
        let own = last.and_then(|last| cache_mark(last, CacheMarkTarget::Usual, None));
        let automatic =
            AutomaticCacheMark { place: Place::of(mark), is_long_lived: is_long_lived(mark), own };
        transcript.details.automatic_cache_mark = Some(Box::new(automatic));
    }
    Some(transcript)
}

/// Keys of tool definitions in other APIs.
const FOREIGN_TOOLS: [&str; 4] = ["function", "toolSpec", "functionDeclarations", "function_declarations"];

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    value.get("content").filter(|content| content.is_array())?;
    let mut transcript = Transcript::new(FORMAT.key(), value);
    message(&mut transcript, value, 0);
    let is_whole = assembly::is_whole(value.get("stop_reason"), &WHOLE);
    Some(vec![Completion { transcript, is_whole }])
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let number = event.get("index").and_then(Value::as_u64);
    match event.get_str("type").as_deref() {
        Some("content_block_start") => {
            let started = event.get("content_block").map(|value| (value, block(value)));
            assembly.begin(0, number);
            match started {
                Some((value, Body::Call(call))) => {
                    assembly.next_call(0, number, ChoiceCall::new(&call, value, locate));
                }
                Some((value, Body::Reasoning(_))) => {
                    let said = [value.get("thinking"), value.get_any(&["signature", "data"])];
                    assembly.reasons(0, number.unwrap_or_default(), said, locate(value));
                }
                Some((value, Body::Opaque)) => assembly.skip(0, value),
                _ => {}
            }
        }
        Some("content_block_delta") => {
            let delta = event.get("delta");
            assembly.arguments(0, number, delta.and_then(|delta| delta.get("partial_json")), Some(locate));
            assembly.text(0, delta.and_then(|delta| delta.get("text")));
            if let Some(delta) = delta {
                let said = [delta.get("thinking"), delta.get("signature")];
                assembly.reasons(0, number.unwrap_or_default(), said, locate(delta));
            }
        }
        Some("message_start") => {
            let Some(message) = event.get("message") else { return };
            // What follows the start of a program comes whole.
            for said in answers(message).iter().flatten() {
                assembly.add_whole(0, Choice::new(said, message, read_reasoning, locate));
            }
            end(assembly, message);
        }
        Some("message_delta") => event.get("delta").into_iter().for_each(|delta| end(assembly, delta)),
        Some("message_stop") => assembly.stop(0),
        Some("error") => assembly.end(0, false),
        _ => {}
    }
}

fn end(assembly: &mut Assembly, said: Value<'_, '_>) {
    let reason = said.get("stop_reason").filter(|reason| !reason.is_null());
    if reason.is_some() {
        assembly.end(0, assembly::is_whole(reason, &WHOLE));
    }
}

/// The stop reasons of a complete response.
const WHOLE: [&str; 4] = ["tool_use", "end_turn", "stop_sequence", "pause_turn"];

fn tool_choice<'s>(value: Value<'_, 's>) -> ToolChoice<'s> {
    let wanted = match value.get_str("type").as_deref() {
        Some("auto") => ToolChoiceMode::Free,
        Some("none") => ToolChoiceMode::Nothing,
        Some("any") => ToolChoiceMode::Any,
        Some("tool") => {
            value.get("name").and_then(Named::of).map_or(ToolChoiceMode::Other, ToolChoiceMode::Tool)
        }
        _ => ToolChoiceMode::Other,
    };
    ToolChoice::new(value, wanted)
}

fn cache_mark(value: Value<'_, '_>, target: CacheMarkTarget, at: Option<(u32, u32)>) -> Option<CacheMark> {
    let mark = value.get("cache_control").filter(|mark| mark.is_object())?;
    let is_long_lived = is_long_lived(mark);
    let path = at.map(|(message, block)| format!("messages.{message}.content.{block}").into());
    Some(CacheMark { place: Place::of(mark), is_long_lived, target, path })
}

/// What marks of the blocks in a result are: the result's own, which has one.
fn target_in_result(result: Value<'_, '_>, target: CacheMarkTarget) -> CacheMarkTarget {
    let has_mark = |value: Value<'_, '_>| value.has_object("cache_control");
    if target != CacheMarkTarget::Usual || !result.is("type", "tool_result") {
        return target;
    }
    let inner = || blocks(result, "content");
    match inner().filter(|block| has_mark(*block)).count() + usize::from(has_mark(result)) {
        0 => CacheMarkTarget::Usual,
        1 if has_mark(result) || inner().last().is_some_and(has_mark) => CacheMarkTarget::Usual,
        1 => CacheMarkTarget::InsideResult,
        _ => CacheMarkTarget::MarkedResult,
    }
}

/// Whether a tool of this type adds no names, beyond its own, that the client has to handle. A tool search qualifies
/// because it finds only declared tools.
fn is_known(kind: &str) -> bool {
    const VERSIONED: [&str; 5] =
        ["web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "advisor_"];
    let is_versioned = VERSIONED.iter().chain(&RUN_BY_CLIENT).any(|known| kind.starts_with(known));
    is_versioned || matches!(kind, "custom" | "mcp_toolset")
}

/// How the types of those of Anthropic's tools begin that the client runs. A toolset has members with names of their own.
const RUN_BY_CLIENT: [&str; 4] = ["bash_", "text_editor_", "computer_2", "memory_"];

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    // A built-in tool names its version in `type`; a client tool has the type `custom` or no type.
    let kind = value.get_str("type");
    let is_own = kind.as_deref().is_none_or(|kind| kind == "custom");
    let runs_in_client = |kind: &str| RUN_BY_CLIENT.iter().any(|known| kind.starts_with(known));
    ToolDef {
        runs_in_client: kind.as_deref().is_some_and(runs_in_client),
        name: value.get("name").and_then(Named::of),
        schema: value.get("input_schema").map(Place::of),
        executor: if is_own { Executor::Client } else { Executor::Server },
        kind: value.get("type").and_then(Named::of),
        model: value.get("model").and_then(Named::of),
        strict: strict(value),
        is_deferred: is_deferred(value),
        serves_programs: value.get("allowed_callers").is_some_and(|callers| {
            callers.elements().filter_map(Value::as_str).any(|caller| caller.starts_with("code_execution"))
        }),
        ..ToolDef::new(Place::of(value))
    }
}

/// Whether a tool is loaded only when the model asks for it.
fn is_deferred(tool: Value<'_, '_>) -> bool {
    tool.is_true("defer_loading")
}

fn message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    read_message(transcript, value, index, false);
}

/// Reads a message. If it `joins`, its blocks are added to the last message: a log may have a record for each block.
pub(crate) fn read_message<'s>(
    transcript: &mut Transcript<'s>,
    value: Value<'_, 's>,
    message_index: usize,
    joins: bool,
) {
    let content = value.get("content");
    let message_number = transcript.messages.len() as u32;
    if !joins {
        super::open_message(transcript, value, message_index, content, super::role_of);
    }
    transcript.unread.extend(value.members().filter_map(unread::member));
    let is_system = transcript.messages.last().is_some_and(|message| message.role == Role::System);
    let is_empty = matches!(Content::of(content), Content::EmptyList | Content::Missing);
    if let Some(message) = transcript.messages.last_mut() {
        message.is_directive = is_system && is_empty && value.has("output_config");
    }
    let is_passing = is_system && value.get("clear_at").is_some_and(|clear| !clear.is_null());
    let target = if is_passing { CacheMarkTarget::DroppedMessage } else { CacheMarkTarget::Usual };
    let Some(content) = content else { return };
    if let Some(text) = Text::of(content) {
        transcript.push(Part::new(content, 0, Body::Text(text)));
    }
    let mut instructions = None;
    for (index, block) in blocks(value, "content").enumerate() {
        if block.is("type", "mid_conv_system") {
            instructions.get_or_insert(Place::of(block));
        } else {
            transcript.details.early_items.extend(instructions.take());
        }
        let body = self::block(block);
        let at = (message_index as u32, index as u32);
        transcript.details.cache_marks.extend(cache_mark(block, target, Some(at)));
        match body {
            Body::Call(_) => {
                let program = block.get_in(&["caller", "tool_id"]).and_then(Named::of);
                let call = program.map(|program| ProgrammaticCall { place: Place::of(block), program });
                transcript.details.programmatic_calls.extend(call);
            }
            Body::Media => {
                transcript.details.images.extend(image(block, at));
                let is_document = block.is("type", "document");
                transcript.details.documents.extend(is_document.then(|| Place::of(block)));
            }
            Body::Reasoning(_) => {
                let text = block.get("thinking").and_then(Value::as_json_str);
                let is_blank = text.is_some_and(|text| !text.is_empty() && text.is_blank());
                transcript.details.blank_reasoning.extend(is_blank.then(|| Place::of(block)));
            }
            Body::Opaque => {
                transcript.unread.extend(unread::block(block));
                let of_system = block.get("content").filter(|_| block.is("type", "mid_conv_system"));
                for block in of_system.into_iter().flat_map(|content| content.elements()).chain([block]) {
                    change_tools(transcript, block, message_number);
                }
            }
            Body::Result(_) => {
                let content = block.get("content");
                let target = target_in_result(block, target);
                for inner in content.into_iter().flat_map(|content| content.elements()) {
                    transcript.details.cache_marks.extend(cache_mark(inner, target, Some(at)));
                    transcript.details.images.extend(image(inner, at));
                    transcript.request.tools.references.extend(tool_reference(inner));
                }
                let found = content.and_then(|content| content.get("tool_references"));
                let found = found.into_iter().flat_map(|list| list.elements());
                transcript.request.tools.references.extend(found.filter_map(tool_reference));
            }
            _ => {}
        }
        transcript.push(Part::new(block, index, body));
    }
}

fn image<'s>(block: Value<'_, 's>, at: (u32, u32)) -> Option<Image<'s>> {
    let source = block.get("source").filter(|_| block.is("type", "image"))?;
    let data = source.get("data").and_then(Value::as_json_str)?;
    let media_type = source.get("media_type").and_then(Named::of)?;
    Some(Image { media_type, data, at })
}

/// Records a block that adds a tool from this point on, by reference or with its definition, or removes one.
fn change_tools<'s>(transcript: &mut Transcript<'s>, block: Value<'_, 's>, message_number: u32) {
    if !matches!(block.get_str("type").as_deref(), Some("tool_addition" | "tool_removal")) {
        return;
    }
    let tool = block.get("tool");
    let definition = tool.and_then(|tool| tool.get("definition"));
    let added = definition.map(self::tool).filter(|tool| tool.name.is_some());
    transcript.request.tools.added.extend(added);
    let name = tool.filter(|_| definition.is_none()).and_then(|tool| tool.get_any(&["name", "tool_name"]));
    let place = Place::of(block);
    transcript.request.tools.changes.push(ToolChange {
        place,
        message_number,
        tool: name.and_then(Named::of),
    });
}

fn tool_reference<'s>(block: Value<'_, 's>) -> Option<Named<'s>> {
    let is_reference = block.is("type", "tool_reference");
    block.get("tool_name").filter(|_| is_reference).and_then(Named::of)
}

pub(crate) fn block<'s>(block: Value<'_, 's>) -> Body<'s> {
    let Some(kind) = block.get("type").and_then(|kind| kind.as_str()) else { return Body::Opaque };
    match &*kind {
        "text" => Body::text(block.get("text")),
        "tool_use" => call(block, Executor::Client, ToolKind::Function),
        "server_tool_use" => call(block, Executor::Server, ToolKind::BuiltIn),
        "mcp_tool_use" => call(block, Executor::Server, ToolKind::Mcp),
        "mcp_tool_result" => result(block, Executor::Server, ToolKind::Mcp),
        "tool_result" => result(block, Executor::Client, ToolKind::Function),
        "thinking" | "redacted_thinking" => Body::Reasoning(Reasoning {
            id: None,
            signature: Signature::of(block.get("signature")),
            is_redacted: kind == "redacted_thinking",
        }),
        "image" | "document" | "search_result" | "container_upload" => Body::Media,
        other if other.ends_with("_tool_result") => result(block, Executor::Server, ToolKind::BuiltIn),
        _ => Body::Opaque,
    }
}

fn call<'s>(block: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    let call = Call::new(block.get("id"), block.get("name"), block.get("input"));
    Body::Call(Call { executor, kind, ..call })
}

/// Block types that are never valid in a result.
const FOREIGN_IN_RESULT: [&str; 4] = ["thinking", "redacted_thinking", "tool_use", "tool_result"];

fn result<'s>(block: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    // AgentScope has results under the keys of its own.
    let own = block.get("id").zip(block.get("output"));
    let id = block.get_any(&["tool_use_id", "toolUseId"]).or(own.map(|(id, _)| id));
    let content = block.get("content").or(own.map(|(_, output)| output));
    Body::Result(ToolResult {
        is_error: block.get_any(&["is_error", "isError"]).and_then(|flag| flag.as_bool()),
        foreign: content.and_then(|content| {
            content.elements().find_map(|part| {
                let kind = part.get_str("type")?;
                FOREIGN_IN_RESULT.into_iter().find(|foreign| *foreign == kind)
            })
        }),
        block: block.get("type").and_then(Value::as_json_str),
        has_media: content.is_some_and(|content| content.elements().any(|part| !part.is("type", "text"))),
        executor,
        kind: Some(kind),
        ..ToolResult::new(id, content)
    })
}

// --- conversations

fn read_reasoning(block: Value<'_, '_>) -> conversation::Reasoning {
    let text = block.get_str("thinking").unwrap_or_default();
    // Redacted reasoning is all data.
    let signature = block.get_any(&["signature", "data"]).and_then(Value::as_str);
    conversation::Reasoning::new(text, signature.map(Into::into))
}

fn write_request(conversation: &Conversation, tools: &[&str]) -> Json {
    let messages = write_turns(
        conversation,
        |content| json!({"role": "user", "content": content}),
        |text| json!(text),
        |said| json!({"role": "assistant", "content": write_blocks(said)}),
        write_result,
    );
    let mut body = json!({"max_tokens": 1024, "messages": messages});
    if !conversation.system.is_empty() {
        body["system"] = json!(conversation.system);
    }
    if !tools.is_empty() {
        let tool = |name| json!({"name": name, "input_schema": {"type": "object"}});
        body["tools"] = tools.iter().map(tool).collect();
    }
    body
}

fn write_blocks(said: &Assistant) -> Vec<Json> {
    let reasoning = said.reasoning.iter().map(
        |reasoning| json!({"type": "thinking", "thinking": reasoning.text, "signature": reasoning.signature}),
    );
    let text = (!said.text.is_empty()).then(|| json!({"type": "text", "text": said.text}));
    let calls = said
        .calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
    reasoning.chain(text).chain(calls).collect()
}

fn write_result(output: &ToolOutput) -> Json {
    json!({"type": "tool_result", "tool_use_id": output.call_id, "content": output.text, "is_error": output.failed})
}
