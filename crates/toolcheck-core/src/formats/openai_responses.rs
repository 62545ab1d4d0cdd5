//! OpenAI Responses: a flat list of items.
//!
//! What the model produced stands in several items, one after the other; they are read into one message, so that
//! rules see a turn where there is one. Each result is a message of its own, as in Chat Completions.

use std::borrow::Cow;

use toolcheck_json::Value;

use super::{Format, declare_tools, surest_message};
use crate::ir::{
    self, Arguments, Body, Call, Content, Executor, Message, Named, Part, Place, Reasoning, Role, Room,
    Signature, ToolChoice, ToolDef, ToolKind, ToolResult, Transcript,
};

use crate::response::{self, Answer, Assembly, Locate, Said};

pub(super) static FORMAT: Format = Format {
    id: "openai-responses",
    name: "OpenAI Responses",
    family: "openai-responses",
    sniff,
    read_in,
    answers,
    event,
};

/// What an item of a type is.
enum Item {
    Message,
    Reasoning,
    Call(ToolKind),
    Output(ToolKind),
    /// A call that carries its own result.
    Hosted,
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
        _ => Item::Opaque,
    }
}

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = list(root) else {
        return if root.get("input").is_some_and(|input| input.as_json_str().is_some()) { 60 } else { 0 };
    };
    let sure = surest_message(list, |item| match item.get_str("type").as_deref() {
        Some("message") => 70,
        Some(kind) if !matches!(item_of(kind), Item::Opaque) => 95,
        _ => {
            let mut parts = item.get("content").into_iter().flat_map(|content| content.elements());
            let is_own = |kind: Cow<'_, str>| kind.starts_with("input_") || kind == "output_text";
            let found = parts.any(|part| part.get_str("type").is_some_and(is_own));
            if found { 95 } else { 0 }
        }
    });
    if root.is_object() { sure.max(90) } else { sure }
}

fn list<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    super::list_of(root, "input")
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    let mut transcript = Transcript::new_in(FORMAT.id, root, room);
    transcript.model = root.get_str("model");
    let tools = root.get("tools");
    declare_tools(&mut transcript, tools, |value| Some(tool(value)));
    transcript.tool_choice = root
        .get("tool_choice")
        .filter(|choice| !choice.is_null())
        .map(|choice| ToolChoice { place: Place::of(choice), wanted: super::openai_chat::wanted(choice) });
    transcript.instructions = root.get("instructions").map(Place::of);
    let is_set = |key| root.get(key).is_some_and(|value| !value.is_null());
    transcript.continues_remote_state = is_set("previous_response_id") || is_set("conversation");
    find_tools(&mut transcript, tools);
    let Some(list) = list(root) else {
        // A plain string is the user's message.
        let input = root.get("input")?;
        let text = input.as_json_str()?;
        let message = transcript.open_message(Message::new(Role::User, input, 0));
        message.content = Content::of(Some(input));
        transcript.push(Part::new(input, 0, Body::Text(text)));
        return Some(transcript);
    };
    for (index, value) in list.elements().enumerate() {
        item(&mut transcript, value, index);
    }
    Some(transcript)
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Said<'s>>> {
    let output = value.get("output").filter(|output| output.is_array())?;
    let mut transcript = Transcript::new(FORMAT.id, value);
    for (index, value) in output.elements().enumerate() {
        item(&mut transcript, value, index);
    }
    let is_cut = |item: Value<'_, '_>| item.get_str("status").is_some_and(|status| status == "incomplete");
    let is_whole = response::is_whole(value.get("status"), &["completed"]) && !output.elements().any(is_cut);
    Some(vec![Said { transcript, is_whole }])
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    match event.get_str("type").as_deref() {
        Some("response.output_item.added" | "response.output_item.done") => {
            let Some(value) = event.get("item") else { return };
            let mut transcript = Transcript::new(FORMAT.id, value);
            item(&mut transcript, value, 0);
            let number = event.get("output_index").and_then(Value::as_u64).unwrap_or_default();
            let is_done = event.get_str("type").as_deref() == Some("response.output_item.done");
            let said = Said { transcript, is_whole: true };
            let answer = Answer::new(&said, value, locate);
            for mut call in answer.calls {
                // What is added is empty as yet, and what is done is whole.
                if !is_done {
                    call.arguments.clear();
                }
                assembly.call(0, number, call);
            }
        }
        // The last event repeats the whole; some servers leave its output empty.
        Some("response.completed" | "response.incomplete" | "response.failed") => {
            let response = event.get("response");
            let said = response.and_then(|response| Some((response, answers(response)?)));
            let answers = said.map(|(response, said)| {
                said.iter().map(|said| Answer::new(said, response, locate)).collect::<Vec<_>>()
            });
            match answers {
                Some(answers) if answers.iter().any(|answer| !answer.calls.is_empty()) => {
                    assembly.replace(answers);
                }
                Some(answers) => assembly.end(0, answers.iter().all(|answer| answer.is_whole)),
                None => assembly.end(0, event.get_str("type").as_deref() == Some("response.completed")),
            }
        }
        Some("error") => assembly.end(0, false),
        _ => {}
    }
}

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    let is_own = matches!(value.get_str("type").as_deref(), Some("function" | "custom"));
    // The nested form of Chat Completions is a mistake here, and its name is still worth knowing.
    let spec = value.get("function").unwrap_or(value);
    ToolDef {
        place: Place::of(value),
        name: spec.get("name").and_then(Named::of),
        schema: spec.get("parameters").map(Place::of),
        executor: if is_own { Executor::Client } else { Executor::Server },
    }
}

/// The types of tools that bring no calls of functions, whatever version stands behind them.
const WITHOUT_FUNCTIONS: [&str; 9] = [
    "web_search",
    "file_search",
    "code_interpreter",
    "image_generation",
    "computer",
    "local_shell",
    "shell",
    "apply_patch",
    "programmatic_tool_calling",
];

/// Notes the functions that tools bring which are no functions themselves.
fn find_tools<'s>(transcript: &mut Transcript<'s>, tools: Option<Value<'_, 's>>) {
    let tools = || tools.into_iter().flat_map(|tools| tools.elements());
    let is_search = |tool: Value<'_, '_>| tool.get_str("type").as_deref() == Some("tool_search");
    let searches = tools().any(is_search);
    for tool in tools() {
        match tool.get_str("type").as_deref() {
            Some("function" | "custom") | None => {}
            Some("namespace") => bring(transcript, tool),
            // It finds what is declared here, and what the client gives it, which stands in its output.
            Some("tool_search") => transcript.hides_tools |= transcript.continues_remote_state,
            // The server's tools are called in a way of their own, unless a search turns them up.
            Some("mcp") => transcript.hides_tools |= searches,
            Some(kind) => {
                transcript.hides_tools |= !WITHOUT_FUNCTIONS.iter().any(|known| kind.starts_with(known));
            }
        }
    }
}

/// Notes the functions of a definition that stands elsewhere than in the request's list.
fn bring<'s>(transcript: &mut Transcript<'s>, definition: Value<'_, 's>) {
    if definition.get_str("type").as_deref() != Some("namespace") {
        transcript.tools_elsewhere.extend(tool(definition).name);
        return;
    }
    match definition.get("tools").filter(|tools| tools.is_array()) {
        Some(tools) => {
            transcript.tools_elsewhere.extend(tools.elements().filter_map(|value| tool(value).name))
        }
        None => transcript.hides_tools = true,
    }
}

fn item<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    let kind = value.get_str("type");
    if matches!(kind.as_deref(), Some("additional_tools" | "tool_search_output")) {
        for definition in value.get("tools").into_iter().flat_map(|tools| tools.elements()) {
            bring(transcript, definition);
        }
    }
    if let Some(id) = value.get("id").and_then(Named::of) {
        let kind = kind.clone().unwrap_or("message".into());
        transcript.items.push(ir::Item { id, kind, index: index as u32 });
    }
    let item = match kind.as_deref() {
        Some(kind) => item_of(kind),
        None if value.get("role").is_some() => Item::Message,
        None => Item::Opaque,
    };
    match item {
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
        Item::Opaque => produced(transcript, value, index, Body::Opaque),
    }
}

/// Adds what the model produced to its turn.
fn produced<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize, body: Body<'s>) {
    let is_open = transcript.messages.last().is_some_and(|message| message.role == Role::Assistant);
    // An item that is not known may be anything: it opens no turn, and breaks none.
    if !is_open && matches!(body, Body::Opaque) && !transcript.messages.is_empty() {
        transcript.push(Part::new(value, index, body));
        return;
    }
    if is_open {
        let message = transcript.messages.last_mut().expect("a message is open");
        message.place.span = message.place.span.to(value.span());
    } else {
        transcript.open_message(Message {
            content: Content::Filled,
            ..Message::new(Role::Assistant, value, index)
        });
    }
    transcript.push(Part::new(value, index, body));
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
    let Some(content) = content else { return };
    if let Some(text) = content.as_json_str() {
        transcript.push(Part::new(content, index, Body::Text(text)));
    }
    for part in content.elements() {
        let body = match part.get_str("type").as_deref() {
            Some("input_text" | "output_text" | "text") => {
                part.get("text").and_then(Value::as_json_str).map_or(Body::Opaque, Body::Text)
            }
            Some("refusal") => {
                part.get("refusal").and_then(Value::as_json_str).map_or(Body::Opaque, Body::Text)
            }
            Some("input_image" | "input_file" | "input_audio" | "computer_screenshot") => Body::Media,
            _ => Body::Opaque,
        };
        transcript.push(Part::new(part, index, body));
    }
}

/// Who carries out what an item asks for or brings: a search for tools says so, and a program runs on the server, which
/// brings its output once the client has answered the calls that it makes.
fn executor(value: Value<'_, '_>, tool: ToolKind) -> Executor {
    let is_hosted = tool == ToolKind::Program || value.get_str("execution").as_deref() == Some("server");
    if is_hosted { Executor::Server } else { Executor::Client }
}

fn call<'s>(value: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    // An approval is asked for under the item's own id.
    let id = if kind == ToolKind::Approval { value.get("id") } else { value.get("call_id") };
    let id = if executor == Executor::Server { id.or_else(|| value.get("id")) } else { id };
    Body::Call(Call {
        id: id.and_then(Named::of),
        name: value.get_any(&["name", "type"]).and_then(Named::of),
        arguments: Arguments::of(value.get_any(&["arguments", "input", "action", "operation", "code"])),
        executor,
        kind,
        signature: Signature::Missing,
    })
}

fn output<'s>(value: Value<'_, 's>, kind: ToolKind) -> Body<'s> {
    let id = if kind == ToolKind::Approval { "approval_request_id" } else { "call_id" };
    let content = value.get_any(&["output", "result", "tools"]);
    Body::Result(ToolResult {
        call_id: value.get(id).and_then(Named::of),
        name: value.get("name").and_then(Named::of),
        is_error: value.get_str("status").filter(|status| status == "failed").map(|_| true),
        content: Content::of(content),
        content_place: content.map(Place::of),
        has_foreign: false,
        has_bare_json: false,
        has_media: content.is_some_and(|content| {
            content.elements().any(|part| part.get_str("type").is_some_and(|kind| kind != "input_text"))
        }),
        executor: executor(value, kind),
        kind: Some(kind),
    })
}
