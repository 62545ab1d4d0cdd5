//! Gemini's generateContent, on the Gemini API and on Vertex, in camel and in snake case.

use toolcheck_json::Value;

use super::{Format, list_of, surest_message};
use crate::ir::{
    Arguments, Body, Call, Content, Executor, Named, Part, Place, Reasoning, Role, Room, Signature,
    ToolChoice, ToolDef, ToolKind, ToolResult, Transcript, Wanted,
};

use crate::response::{self, AnsweredCall, Assembly, Locate, Said};

pub(super) static FORMAT: Format =
    Format { id: "gemini", name: "Gemini generateContent", family: "gemini", sniff, read_in, answers, event };

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = list_of(root, "contents") else { return 0 };
    if root.is_object() {
        return 95;
    }
    surest_message(list, |content| if content.get("parts").is_some_and(Value::is_array) { 95 } else { 0 })
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    let list = list_of(root, "contents")?;
    let mut transcript = Transcript::new_in(FORMAT.id, root, room);
    transcript.batches_results = true;
    transcript.model = root.get_str("model");
    transcript.tools = root.get("tools").filter(|tools| tools.is_array()).map(|tools| {
        let lists = tools
            .elements()
            .filter_map(|tool| tool.get_any(&["functionDeclarations", "function_declarations"]));
        lists.flat_map(|list| list.elements()).map(tool).collect()
    });
    let tools = root.get("tools").into_iter().flat_map(|tools| tools.elements());
    transcript.hides_tools = tools.flat_map(Value::members).any(|tool| {
        tool.key_text().is_some_and(|kind| !KNOWN_TOOLS.iter().any(|known| is_same_key(known, &kind)))
    });
    let config = root.get_any(&["toolConfig", "tool_config"]);
    let calling =
        config.and_then(|config| config.get_any(&["functionCallingConfig", "function_calling_config"]));
    transcript.tool_choice = calling.map(|calling| ToolChoice {
        place: Place::of(calling),
        wanted: match calling.get_str("mode").as_deref() {
            Some("AUTO" | "VALIDATED" | "auto") => Wanted::Free,
            Some("NONE" | "none") => Wanted::Nothing,
            Some("ANY" | "any") => Wanted::Any,
            _ => Wanted::Other,
        },
    });
    transcript.instructions = root.get_any(&["systemInstruction", "system_instruction"]).map(Place::of);
    for (index, value) in list.elements().enumerate() {
        content(&mut transcript, value, index);
    }
    Some(transcript)
}

/// The tools that bring no functions but those that are declared. The one for computers brings its own.
const KNOWN_TOOLS: [&str; 11] = [
    "functionDeclarations",
    "googleSearch",
    "googleSearchRetrieval",
    "googleMaps",
    "codeExecution",
    "urlContext",
    "fileSearch",
    "retrieval",
    "enterpriseWebSearch",
    "parallelAiSearch",
    "mcpServers",
];

/// Whether a key is this one, in either spelling that is taken.
fn is_same_key(known: &str, key: &str) -> bool {
    let plain = |key: &str| key.replace('_', "").to_ascii_lowercase();
    known == key || plain(known) == plain(key)
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Said<'s>>> {
    let candidates = value.get("candidates").filter(|candidates| candidates.is_array())?;
    let answer = |candidate: Value<'_, 's>| {
        let mut transcript = Transcript::new(FORMAT.id, value);
        if let Some(said) = candidate.get("content") {
            content(&mut transcript, said, 0);
        }
        let reason = candidate.get_any(&["finishReason", "finish_reason"]);
        Said { transcript, is_whole: response::is_whole(reason, &WHOLE) }
    };
    Some(candidates.elements().map(answer).collect())
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let candidates = event.get("candidates").into_iter().flat_map(|candidates| candidates.elements());
    for (index, candidate) in (0..).zip(candidates) {
        let index = candidate.get("index").and_then(Value::as_u64).unwrap_or(index);
        let parts = candidate.get("content").and_then(|content| content.get("parts"));
        for value in parts.into_iter().flat_map(|parts| parts.elements()) {
            // What goes on with the arguments of a call has no name.
            match part(value) {
                Body::Call(call) if call.name.is_some() => {
                    assembly.next_call(index, None, AnsweredCall::new(&call, value, locate));
                }
                Body::Text(_) => assembly.text(index, value.get("text")),
                _ => {}
            }
        }
        let reason = candidate.get_any(&["finishReason", "finish_reason"]);
        if reason.is_some_and(|reason| !reason.is_null()) {
            assembly.end(index, response::is_whole(reason, &WHOLE));
        }
    }
}

/// How an answer ends that came to its end.
const WHOLE: [&str; 1] = ["STOP"];

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    ToolDef {
        place: Place::of(value),
        name: value.get("name").and_then(Named::of),
        schema: value
            .get_any(&["parameters", "parametersJsonSchema", "parameters_json_schema"])
            .map(Place::of),
        executor: Executor::Client,
    }
}

fn content<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    let parts = value.get("parts");
    super::open_message(transcript, value, index, parts, |role| match role {
        // A content without a role is the user's.
        Some("user") | None => Role::User,
        Some("model") => Role::Assistant,
        // What the API took for results before they became the user's.
        Some("function" | "tool") => Role::Tool,
        Some("system") => Role::System,
        Some(_) => Role::Unknown,
    });
    let Some(parts) = parts else { return };
    for (index, value) in parts.elements().enumerate() {
        transcript.push(Part::new(value, index, part(value)));
    }
}

fn part<'s>(value: Value<'_, 's>) -> Body<'s> {
    let signature = Signature::of(value.get_any(&["thoughtSignature", "thought_signature"]));
    let mut text = None;
    for member in value.members() {
        let Some(key) = member.key_text() else { continue };
        return match &*key {
            "functionCall" | "function_call" => call(member, Executor::Client, ToolKind::Function, signature),
            "functionResponse" | "function_response" => result(member, Executor::Client, ToolKind::Function),
            "toolCall" | "tool_call" => call(member, Executor::Server, ToolKind::BuiltIn, signature),
            "toolResponse" | "tool_response" => result(member, Executor::Server, ToolKind::BuiltIn),
            "executableCode" | "executable_code" => {
                call(member, Executor::Server, ToolKind::BuiltIn, signature)
            }
            "codeExecutionResult" | "code_execution_result" => {
                result(member, Executor::Server, ToolKind::BuiltIn)
            }
            "inlineData" | "inline_data" | "fileData" | "file_data" => Body::Media,
            "text" => {
                text = member.as_json_str();
                continue;
            }
            _ => continue,
        };
    }
    let is_thought = value.get("thought").and_then(|flag| flag.as_bool()) == Some(true);
    match text {
        Some(_) if is_thought => Body::Reasoning(Reasoning { id: None, signature, is_redacted: false }),
        Some(text) => Body::Text(text),
        None if value.is_object() && value.members().next().is_none() => Body::Empty,
        None => Body::Opaque,
    }
}

fn call<'s>(value: Value<'_, 's>, executor: Executor, kind: ToolKind, signature: Signature) -> Body<'s> {
    Body::Call(Call {
        id: value.get("id").and_then(Named::of),
        name: value.get("name").and_then(Named::of),
        arguments: Arguments::of(value.get("args")),
        executor,
        kind,
        signature,
    })
}

fn result<'s>(value: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    let response = value.get("response");
    Body::Result(ToolResult {
        call_id: value.get("id").and_then(Named::of),
        name: value.get("name").and_then(Named::of),
        // The documentation reserves this key of the response for the error of a failed call.
        is_error: response.map(|response| response.get("error").is_some_and(|error| !error.is_null())),
        content: Content::of(response),
        content_place: response.map(Place::of),
        has_foreign: false,
        has_bare_json: false,
        has_media: value.get("parts").is_some(),
        executor,
        kind: Some(kind),
    })
}
