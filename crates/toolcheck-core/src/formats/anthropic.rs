//! Anthropic Messages, as sent to its own API, to Vertex and to Bedrock's InvokeModel; and the messages of MCP sampling,
//! whose blocks are the same with keys in camel case.

use toolcheck_json::{JsonStr, Value};

use super::{Format, blocks, declare_tools, is_enabled, list_of, surest_message};
use crate::ir::{
    Arguments, Body, CacheMark, Call, Content, Executor, Image, Named, Part, Place, ProgrammaticCall,
    Reasoning, Role, Room, Signature, ToolChoice, ToolDef, ToolKind, ToolResult, Transcript, Wanted,
};

use crate::response::{self, AnsweredCall, Assembly, Locate, Said};

pub(super) static FORMAT: Format = Format {
    id: "anthropic",
    name: "Anthropic Messages",
    family: "anthropic",
    sniff,
    read_in,
    answers,
    event,
};

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = list_of(root, "messages") else { return 0 };
    let mut sure = surest_message(list, |message| {
        let of_blocks = blocks(message, "content").map(|block| match block.get_str("type").as_deref() {
            Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use") => 90,
            Some(other) if other.ends_with("_tool_result") || other.starts_with("mcp_tool_") => 90,
            Some("image" | "document") if block.get("source").is_some() => 70,
            Some("text") => 15,
            _ => 0,
        });
        let of_blocks = of_blocks.max().unwrap_or(0);
        if message.get("role").is_some() { of_blocks.max(10) } else { 0 }
    });
    if list.elements().next().is_none() {
        sure = 5;
    }
    if sure > 0 && root.is_object() {
        let tools = root.get("tools").into_iter().flat_map(|tools| tools.elements());
        let has_schemas = tools.take(8).any(|tool| tool.get("input_schema").is_some());
        if has_schemas || root.get("anthropic_version").is_some() {
            sure = sure.max(90);
        } else if root.get_str("model").is_some_and(|model| model.starts_with("claude-")) {
            // Its own name for its models; through another API they are called otherwise, or in another shape.
            sure = sure.max(70);
        } else if root.get("system").is_some() {
            sure = sure.max(60);
        }
    }
    sure
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    let list = list_of(root, "messages")?;
    let mut transcript = Transcript::new_in(FORMAT.id, root, room);
    transcript.batches_results = true;
    transcript.model = root.get_str("model");
    let tools = root.get("tools");
    declare_tools(&mut transcript, tools, |value| Some(tool(value)));
    let mut declared = tools.into_iter().flat_map(|tools| tools.elements());
    transcript.hides_tools = declared.any(|tool| tool.get_str("type").is_some_and(|kind| !is_known(&kind)));
    transcript.reasoning = is_enabled(root.get("thinking"));
    transcript.names_container = root.get("container").is_some_and(|container| !container.is_null());
    transcript.tool_choice = root.get("tool_choice").filter(|choice| !choice.is_null()).map(tool_choice);
    let system = root.get("system");
    transcript.instructions = system.map(Place::of);
    for value in tools.into_iter().chain(system).flat_map(|list| list.elements()) {
        transcript.cache_marks.extend(cache_mark(value, None));
    }
    for (index, value) in list.elements().enumerate() {
        message(&mut transcript, value, index);
    }
    Some(transcript)
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Said<'s>>> {
    value.get("content").filter(|content| content.is_array())?;
    let mut transcript = Transcript::new(FORMAT.id, value);
    message(&mut transcript, value, 0);
    let is_whole = response::is_whole(value.get("stop_reason"), &WHOLE);
    Some(vec![Said { transcript, is_whole }])
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let number = event.get("index").and_then(Value::as_u64);
    match event.get_str("type").as_deref() {
        Some("content_block_start") => {
            let started = event.get("content_block").map(|value| (value, block(value)));
            if let Some((value, Body::Call(call))) = started {
                assembly.next_call(0, number, AnsweredCall::new(&call, value, locate));
            }
        }
        Some("content_block_delta") => {
            let delta = event.get("delta");
            assembly.arguments(0, number, delta.and_then(|delta| delta.get("partial_json")));
            assembly.text(0, delta.and_then(|delta| delta.get("text")));
        }
        Some("message_delta") => {
            let reason = event.get("delta").and_then(|delta| delta.get("stop_reason"));
            if reason.is_some_and(|reason| !reason.is_null()) {
                assembly.end(0, response::is_whole(reason, &WHOLE));
            }
        }
        Some("error") => assembly.end(0, false),
        _ => {}
    }
}

/// How an answer ends that came to its end.
const WHOLE: [&str; 4] = ["tool_use", "end_turn", "stop_sequence", "pause_turn"];

fn tool_choice<'s>(value: Value<'_, 's>) -> ToolChoice<'s> {
    let wanted = match value.get_str("type").as_deref() {
        Some("auto") => Wanted::Free,
        Some("none") => Wanted::Nothing,
        Some("any") => Wanted::Any,
        Some("tool") => value.get("name").and_then(Named::of).map_or(Wanted::Other, Wanted::Tool),
        _ => Wanted::Other,
    };
    ToolChoice { place: Place::of(value), wanted }
}

/// The mark for the cache that a block or a tool bears.
fn cache_mark(value: Value<'_, '_>, at: Option<(u32, u32)>) -> Option<CacheMark> {
    let mark = value.get("cache_control").filter(|mark| mark.is_object())?;
    let is_long_lived = mark.get_str("ttl").as_deref() == Some("1h");
    Some(CacheMark { place: Place::of(mark), is_long_lived, at })
}

/// Whether a tool of this type brings no calls but of its own name, or none that the client carries out. A search finds
/// only what is declared.
fn is_known(kind: &str) -> bool {
    const VERSIONED: [&str; 9] = [
        "bash_",
        "text_editor_",
        "computer_",
        "memory_",
        "web_search_",
        "web_fetch_",
        "code_execution_",
        "tool_search_tool_",
        "advisor_",
    ];
    matches!(kind, "custom" | "mcp_toolset") || VERSIONED.iter().any(|known| kind.starts_with(known))
}

/// The tool that a system message adds: by its definition, or by the name of one that is declared.
fn added_tool<'s>(block: Value<'_, 's>) -> Option<Named<'s>> {
    let tool = block.get("tool").filter(|_| block.get_str("type").as_deref() == Some("tool_addition"))?;
    tool.get("definition").unwrap_or(tool).get("name").and_then(Named::of)
}

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    // A built-in tool names its version in `type`; a tool of the client's own is `custom` or says nothing.
    let is_own = value.get_str("type").is_none_or(|kind| kind == "custom");
    ToolDef {
        place: Place::of(value),
        name: value.get("name").and_then(Named::of),
        schema: value.get("input_schema").map(Place::of),
        executor: if is_own { Executor::Client } else { Executor::Server },
    }
}

fn message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, message_index: usize) {
    let content = value.get("content");
    super::open_message(transcript, value, message_index, content, |role| match role {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Unknown,
    });
    let Some(content) = content else { return };
    if let Some(text) = content.as_json_str() {
        transcript.push(Part::new(content, 0, Body::Text(text)));
    }
    for (index, block) in blocks(value, "content").enumerate() {
        let body = self::block(block);
        let at = (message_index as u32, index as u32);
        transcript.cache_marks.extend(cache_mark(block, Some(at)));
        match body {
            Body::Call(_) => {
                let program =
                    block.get("caller").and_then(|caller| caller.get("tool_id")).and_then(Named::of);
                let call = program.map(|program| ProgrammaticCall { place: Place::of(block), program });
                transcript.programmatic_calls.extend(call);
            }
            Body::Media => transcript.images.extend(image(block, at)),
            Body::Opaque => transcript.tools_elsewhere.extend(added_tool(block)),
            Body::Result(_) => {
                let content = block.get("content");
                for inner in content.into_iter().flat_map(|content| content.elements()) {
                    transcript.cache_marks.extend(cache_mark(inner, Some(at)));
                    transcript.images.extend(image(inner, at));
                    transcript.tool_references.extend(tool_reference(inner));
                }
                let found = content.and_then(|content| content.get("tool_references"));
                let found = found.into_iter().flat_map(|list| list.elements());
                transcript.tool_references.extend(found.filter_map(tool_reference));
            }
            _ => {}
        }
        transcript.push(Part::new(block, index, body));
    }
}

/// The image that a block writes out.
fn image<'s>(block: Value<'_, 's>, at: (u32, u32)) -> Option<Image<'s>> {
    let source = block.get("source").filter(|_| block.get_str("type").as_deref() == Some("image"))?;
    let data = source.get("data").and_then(Value::as_json_str)?;
    let media_type = source.get("media_type").and_then(Named::of)?;
    Some(Image { media_type, data, at })
}

/// The tool that a block refers to.
fn tool_reference<'s>(block: Value<'_, 's>) -> Option<Named<'s>> {
    let is_reference = block.get_str("type").as_deref() == Some("tool_reference");
    block.get("tool_name").filter(|_| is_reference).and_then(Named::of)
}

fn block<'s>(block: Value<'_, 's>) -> Body<'s> {
    let Some(kind) = block.get("type").and_then(|kind| kind.as_str()) else { return Body::Opaque };
    match &*kind {
        "text" => text(block, "text"),
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

fn text<'s>(block: Value<'_, 's>, key: &str) -> Body<'s> {
    block.get(key).and_then(Value::as_json_str).map_or(Body::Opaque, |text: JsonStr<'s>| Body::Text(text))
}

fn call<'s>(block: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    Body::Call(Call {
        id: block.get("id").and_then(Named::of),
        name: block.get("name").and_then(Named::of),
        arguments: Arguments::of(block.get("input")),
        executor,
        kind,
        signature: Signature::Missing,
    })
}

fn result<'s>(block: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    let content = block.get("content");
    Body::Result(ToolResult {
        call_id: block.get_any(&["tool_use_id", "toolUseId"]).and_then(Named::of),
        name: None,
        is_error: block.get_any(&["is_error", "isError"]).and_then(|flag| flag.as_bool()),
        content: Content::of(content),
        content_place: content.map(Place::of),
        has_foreign: content.is_some_and(|content| {
            content.elements().any(|part| {
                let kind = part.get_str("type");
                matches!(kind.as_deref(), Some("thinking" | "redacted_thinking" | "tool_use" | "tool_result"))
            })
        }),
        has_bare_json: false,
        has_media: content.is_some_and(|content| {
            content.elements().any(|part| part.get_str("type").as_deref() != Some("text"))
        }),
        executor,
        kind: Some(kind),
    })
}
