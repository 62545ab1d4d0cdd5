//! Gemini's generateContent, on the Gemini API and on Vertex, in camel case and snake case.

mod reply;

use foldhash::HashSet;
use serde_json::{Value as Json, json};
use toolcheck_json::Value;

use super::{Format, MOST_TOOLS, Marks, has_key_of, list_of, undeclared, write_turns};
use crate::assembly::{self, Assembly, ChoiceCall, Completion, Locate};
use crate::claim::{Claim, MESSAGES_LOOKED_AT, certainty, surest_message, surest_of_most};
use crate::conversation::{self, Assistant, Conversation, Feature, ToolOutput};
use crate::fix_style::{self, FixStyle};
use crate::ir::{
    Body, Buffers, Call, Content, DanglingReference, Executor, Named, Part, Place, Reasoning, Role,
    Signature, Text, ToolChoice, ToolChoiceMode, ToolDef, ToolKind, ToolResult, Transcript,
};
use crate::names::words;
use crate::reply::Framing;
use crate::route::Route;
use crate::unread;
use toolcheck_json::edit::Piece;

pub(super) static FORMAT: Format = Format {
    id: "gemini",
    name: "Gemini generateContent",
    aliases: &["google"],
    family: "gemini",
    routes: &[
        Route::new("/v1beta/models", "/{model}:generateContent").streamed(false),
        Route::new("/v1beta/models", "/{model}:streamGenerateContent").streamed(true),
    ],
    marks: Marks {
        body: &["contents"],
        message: &["parts"],
        answer: &["candidates"],
        models: &[],
        is_shared: false,
        says_nothing: &[],
    },
    sniff,
    read_with,
    answers,
    event,
    read_reasoning,
    holds: &[
        Feature::Failures,
        Feature::Reasoning,
        Feature::UnsignedReasoning,
        Feature::Signatures,
        Feature::ResultMedia,
        Feature::TextOrder,
        Feature::CallSignatures,
    ],
    write_request,
    write_reply: reply::write,
    write_events: reply::events,
    write_error: Some(reply::error),
    framing: Framing::ArrayUnless("alt=sse"),
    fix_style: &FIX_STYLE,
    is_made_chat: false,
    keeps_responses: false,
    repeats: &[],
};

static FIX_STYLE: FixStyle = FixStyle {
    blocks: Some("parts"),
    is_wrapped: true,
    no_output: ("response", r#"{"output": "(no output)"}"#),
    result: |missing| {
        let name = Some(missing.name.clone()?);
        let response = Some(Piece::object([("error", missing.said())]));
        let result = fix_style::object([("id", missing.id.clone()), ("name", name), ("response", response)]);
        Some(Piece::object([("functionResponse", result)]))
    },
    text: |text| Piece::object([("text", text)]),
    user: |parts| Piece::object([("role", Piece::text("user")), ("parts", Piece::List(parts))]),
    said: |text| {
        let parts = Piece::List(vec![Piece::object([("text", text)])]);
        Piece::object([("role", Piece::text("user")), ("parts", parts)])
    },
    choice: "toolConfig.functionCallingConfig",
    choices: [
        r#"{"mode": "AUTO"}"#,
        r#"{"mode": "ANY"}"#,
        r#"{"mode": "NONE"}"#,
        r#"{"mode": "ANY", "allowedFunctionNames": [NAME]}"#,
    ],
    picture: Some(r#"{"inlineData": {"mimeType": "image/KIND", "data": "DATA"}}"#),
    ..FixStyle::OF_PROGRAM
};

/// The keys that identify a part's kind: a part has one of them and no `type`.
const PARTS: [&str; 16] = words(
    "text functionCall function_call functionResponse function_response inlineData inline_data fileData \
    file_data executableCode executable_code codeExecutionResult code_execution_result toolCall \
    toolResponse thought",
);

/// What is under a key that has a list: its elements, or a single object in place of a list of one, as the API takes it.
fn each<'d, 's>(list: Option<Value<'d, 's>>) -> impl Iterator<Item = Value<'d, 's>> {
    let alone = list.filter(|list| list.is_object());
    alone.into_iter().chain(list.into_iter().flat_map(|list| list.elements()))
}

/// The contents of a document: a list, or a single one.
fn contents<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    list_of(root, "contents").or_else(|| root.get("contents").filter(|alone| alone.is_object()))
}

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = contents(root) else { return 0 };
    if list.is_object() {
        return match claim(list) {
            Claim::Sure(sure) => sure,
            _ => 0,
        };
    }
    let is_empty = list.elements().next().is_none();
    if is_empty && root.is_object() {
        certainty::SURE
    } else {
        let surest = if root.is_array() { surest_of_most } else { surest_message };
        let sure = surest(list, certainty::CERTAIN, claim);
        let is_open =
            || list.elements().take(MESSAGES_LOOKED_AT).all(|content| claim(content) == Claim::Open);
        // Nothing else has contents whose parts are empty lists.
        if sure == 0 && root.is_object() && is_open() { certainty::SURE } else { sure }
    }
}

fn claim(content: Value<'_, '_>) -> Claim {
    let sure = match content.get_str("role").as_deref() {
        Some("user" | "model" | "function") | None => certainty::OWN_SHAPE,
        // Role names from other APIs, which are a mistake here.
        Some("assistant" | "system" | "tool") => certainty::SURE_OF_RECORD + 5,
        Some(_) => return Claim::Foreign,
    };
    let parts = content.get("parts").filter(|parts| parts.is_array() || parts.is_object());
    if parts.is_none() {
        return Claim::Foreign;
    }
    let (mut any, mut is_own) = (false, false);
    for part in each(parts) {
        any = true;
        // Other formats also use `parts`, but each part names its kind.
        if !part.is_object() || part.get_any(&["type", "part_kind", "kind"]).is_some() {
            return Claim::Foreign;
        }
        is_own = is_own || PARTS.iter().any(|key| part.get(key).is_some());
    }
    match (any, is_own) {
        (false, _) => Claim::Open,
        (true, false) => Claim::Foreign,
        (true, true) => Claim::Sure(sure),
    }
}

fn read_with<'s>(root: Value<'_, 's>, buffers: Buffers<'s>) -> Option<Transcript<'s>> {
    let list = contents(root)?;
    let mut transcript = Transcript::with_buffers(FORMAT.key(), root, buffers);
    transcript.batches_results = true;
    transcript.details.absent_arguments_are_empty = true;
    transcript.request.model = root.get_str("model");
    // Google's SDKs take all settings in one object.
    let settings = root.get("config").filter(|config| config.is_object());
    let setting =
        |keys: &[&str]| root.get_any(keys).or_else(|| settings.and_then(|settings| settings.get_any(keys)));
    let tools = setting(&["tools"]).filter(|tools| tools.is_array() || tools.is_object());
    let is_foreign = |tool: Value<'_, '_>| tool.is_string() || has_key_of(tool, &FOREIGN_TOOLS);
    if let Some(tools) = tools.filter(|tools| each(Some(*tools)).any(is_foreign)) {
        transcript.unread.push(unread::tools(tools));
    }
    transcript.unread.extend(unread::body(root));
    transcript.request.tools.list = tools.map(|tools| {
        let lists = each(Some(tools))
            .filter_map(|tool| tool.get_any(&["functionDeclarations", "function_declarations"]));
        lists.flat_map(|list| each(Some(list))).take(MOST_TOOLS).map(tool).collect()
    });
    transcript.request.tools.hides_some = each(tools).flat_map(Value::members).any(|tool| {
        tool.key_text().is_some_and(|kind| !KNOWN_TOOLS.iter().any(|known| is_same_key(known, &kind)))
    });
    // What is cached may have the tools.
    let is_cached = setting(&["cachedContent", "cached_content"]).is_some_and(|name| !name.is_null());
    // And the contents that come first.
    transcript.request.continues_remote_state = is_cached;
    let config = setting(&["toolConfig", "tool_config"]).filter(|_| !is_cached);
    let calling =
        config.and_then(|config| config.get_any(&["functionCallingConfig", "function_calling_config"]));
    transcript.request.tool_choice = calling.map(|calling| {
        let names = calling.get_any(&["allowedFunctionNames", "allowed_function_names"]);
        if let Some(name) = undeclared(names, &transcript.request.tools) {
            return ToolChoice::new(calling, ToolChoiceMode::Tool(name));
        }
        let wanted = match calling.get_str("mode").as_deref() {
            Some("AUTO" | "VALIDATED" | "auto") => ToolChoiceMode::Free,
            Some("NONE" | "none") => ToolChoiceMode::Nothing,
            Some("ANY" | "any") => ToolChoiceMode::Any,
            _ => ToolChoiceMode::Other,
        };
        ToolChoice::new(calling, wanted)
    });
    transcript.request.instructions = setting(&["systemInstruction", "system_instruction"]).map(Place::of);
    for (index, value) in each(Some(list)).enumerate() {
        read_message(&mut transcript, value, index);
    }
    Some(transcript)
}

/// Keys of tool definitions in other APIs.
const FOREIGN_TOOLS: [&str; 4] = ["name", "function", "input_schema", "toolSpec"];
/// Tools that add no functions beyond the declared ones. The computer-use tool is missing because it adds its own.
const KNOWN_TOOLS: [&str; 11] = words(
    "functionDeclarations googleSearch googleSearchRetrieval googleMaps codeExecution urlContext fileSearch \
    retrieval enterpriseWebSearch parallelAiSearch mcpServers",
);

/// Whether a key is this one, in camel case or snake case.
fn is_same_key(known: &str, key: &str) -> bool {
    let plain = |key: &str| key.replace('_', "").to_ascii_lowercase();
    known == key || plain(known) == plain(key)
}

/// The candidates of a response, which Code Assist wraps.
fn candidates_of<'d, 's>(value: Value<'d, 's>) -> Option<Value<'d, 's>> {
    value.get("candidates").or_else(|| value.get("response")?.get("candidates"))
}

/// Whether a response says that the prompt was blocked, so that it has no candidates.
pub(crate) fn is_blocked(value: Value<'_, '_>) -> bool {
    let feedback = value.get("response").unwrap_or(value).get_any(&["promptFeedback", "prompt_feedback"]);
    let reason = feedback.and_then(|feedback| feedback.get_any(&["blockReason", "block_reason"]));
    reason.is_some_and(Value::is_string)
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    let Some(candidates) = candidates_of(value).filter(|candidates| candidates.is_array()) else {
        let transcript = Transcript::new(FORMAT.key(), value);
        return is_blocked(value).then(|| vec![Completion { transcript, is_whole: false }]);
    };
    let answer = |candidate: Value<'_, 's>| {
        let mut transcript = Transcript::new(FORMAT.key(), value);
        if let Some(said) = candidate.get("content") {
            read_message(&mut transcript, said, 0);
        }
        let reason = candidate.get_any(&["finishReason", "finish_reason"]);
        Completion { transcript, is_whole: assembly::is_whole(reason, &WHOLE) }
    };
    Some(candidates.elements().map(answer).collect())
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    if is_blocked(event) {
        assembly.end(0, false);
    }
    let candidates = candidates_of(event).into_iter().flat_map(|candidates| candidates.elements());
    for (index, candidate) in (0..).zip(candidates) {
        let index = candidate.get("index").and_then(Value::as_u64).unwrap_or(index);
        let parts = candidate.get_in(&["content", "parts"]);
        for value in parts.into_iter().flat_map(|parts| parts.elements()) {
            let pieces = value.get_any(&CALL).filter(|call| call.is_object());
            // A part that continues the arguments of an earlier call has no name.
            match part(value) {
                Body::Call(call) if call.name.is_some() => {
                    let mut call = ChoiceCall::new(&call, value, locate);
                    call.is_sent_whole = !comes_in_pieces(value);
                    call.signature = read_reasoning(value).signature;
                    assembly.next_call(index, None, call);
                    if let Some(pieces) = pieces.filter(|_| comes_in_pieces(value)) {
                        let known = pieces.get("args").map(super::object);
                        assembly.open_arguments(index, known.unwrap_or_default().into());
                        add_pieces(assembly, index, pieces);
                    }
                }
                Body::Call(_) => pieces.into_iter().for_each(|pieces| add_pieces(assembly, index, pieces)),
                Body::Text(_) => assembly.text(index, value.get("text")),
                Body::Reasoning(_) => assembly.reasons(index, 0, [value.get("text"), None], locate(value)),
                Body::Opaque => assembly.skip(index, value),
                _ => {}
            }
        }
        let reason = candidate.get_any(&["finishReason", "finish_reason"]);
        if reason.is_some_and(|reason| !reason.is_null()) {
            assembly.end(index, assembly::is_whole(reason, &WHOLE));
        }
    }
}

const CALL: [&str; 2] = ["functionCall", "function_call"];
const PIECES: [&str; 2] = ["partialArgs", "partial_args"];
const GOES_ON: [&str; 2] = ["willContinue", "will_continue"];

/// Whether the call in a part has its arguments in pieces, here or in parts after it.
fn comes_in_pieces(part: Value<'_, '_>) -> bool {
    part.get_any(&CALL)
        .is_some_and(|call| goes_on(call) || call.get_any(&PIECES).is_some_and(Value::is_array))
}

fn goes_on(call: Value<'_, '_>) -> bool {
    call.get_any(&GOES_ON).and_then(Value::as_bool) == Some(true)
}

/// Adds the pieces of a call's arguments: each has a path and a value, and a text goes on in the pieces after it.
fn add_pieces(assembly: &mut Assembly, index: u64, call: Value<'_, '_>) {
    const PATH: [&str; 2] = ["jsonPath", "json_path"];
    for piece in call.get_any(&PIECES).into_iter().flat_map(|pieces| pieces.elements()) {
        let is_value = |key: &str| !PATH.contains(&key) && !GOES_ON.contains(&key);
        let said = |member: &Value<'_, '_>| member.key_text().is_some_and(|key| is_value(&key));
        let Some(said) = piece.members().filter(said).max_by_key(|member| !member.is_null()) else {
            continue;
        };
        let value = match said.key_text().as_deref() {
            Some("nullValue" | "null_value") => Some(Json::Null),
            Some(
                "stringValue" | "string_value" | "numberValue" | "number_value" | "boolValue" | "bool_value",
            ) => Some(super::json(said)),
            _ => None,
        };
        let path = piece.get_any(&PATH).and_then(Value::as_str);
        assembly.argument_at(index, &path.unwrap_or_default(), value);
    }
    if !goes_on(call) {
        assembly.close_arguments(index);
    }
}

/// The finish reasons of a complete response.
const WHOLE: [&str; 1] = ["STOP"];

fn tool<'s>(value: Value<'_, 's>) -> ToolDef<'s> {
    ToolDef {
        name: value.get("name").and_then(Named::of),
        schema: value
            .get_any(&["parameters", "parametersJsonSchema", "parameters_json_schema"])
            .map(Place::of),
        ..ToolDef::new(Place::of(value))
    }
}

pub(crate) fn read_message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, index: usize) {
    let parts = value.get("parts");
    super::open_message(transcript, value, index, parts, |role| match role {
        // Content without a role belongs to the user.
        Some("user") | None => Role::User,
        Some("model") => Role::Assistant,
        // The role of results before they moved to the user's turn.
        Some("function" | "tool") => Role::Tool,
        Some("system") => Role::System,
        Some(_) => Role::Unknown,
    });
    for member in value.members() {
        match member.key_text().as_deref() {
            Some("role" | "parts") => {}
            Some("content") => transcript.unread.extend(member.elements().filter_map(unread::block)),
            _ => transcript.unread.extend(unread::member(member)),
        }
    }
    let Some(parts) = parts else { return };
    let message = index as u32;
    for (index, value) in each(Some(parts)).enumerate() {
        let body = part(value);
        match &body {
            Body::Opaque => transcript.unread.extend(unread::block(value)),
            // A stream may end in a signature alone, which is to be sent back as it came.
            Body::Text(text) if text.string.is_empty() && signature(value) == Signature::Present => {
                transcript.details.signed_blanks.push(Place::of(value));
            }
            // The arguments of a call that was streamed in pieces are not read.
            Body::Call(call) if call.arguments.are_absent() && comes_in_pieces(value) => {
                transcript.details.absent_arguments_are_empty = false;
            }
            _ => {}
        }
        transcript.push(Part::new(value, index, body));
        if let Some(result) = value.get_any(&["functionResponse", "function_response"]) {
            let at = (message, index as u32);
            let reference = dangling_reference(result).map(|place| DanglingReference { place, at });
            transcript.details.dangling_references.extend(reference);
        }
    }
}

/// The first reference in a response that does not name one of its parts. The API treats every `$ref` as a reference.
fn dangling_reference(result: Value<'_, '_>) -> Option<Place> {
    let response = result.get("response")?;
    // Most responses have no reference, and they may be long.
    memchr::memmem::find(response.raw(), b"$ref")?;
    let parts = result.list("parts");
    let names: HashSet<_> = parts
        .filter_map(|part| {
            let data = part.get_any(&["inlineData", "inline_data", "fileData", "file_data"])?;
            data.get_any(&["displayName", "display_name"])?.as_str()
        })
        .collect();
    let mut open: Vec<Value<'_, '_>> = vec![response];
    while let Some(value) = open.pop() {
        for member in value.children() {
            let is_reference = member.key_text().as_deref() == Some("$ref");
            if is_reference && !member.as_str().is_some_and(|name| names.contains(&name)) {
                return Some(Place::of_key(member));
            }
            open.push(member);
        }
    }
    None
}

fn signature(part: Value<'_, '_>) -> Signature {
    Signature::of(part.get_any(&["thoughtSignature", "thought_signature"]))
}

fn part<'s>(value: Value<'_, 's>) -> Body<'s> {
    let signature = signature(value);
    let mut text = None;
    // A key that is null is as good as missing.
    for member in value.members().filter(|member| !member.is_null()) {
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
                text = Text::of(member);
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
    // The provider's built-in tools have a type instead of a name.
    let name = value.get_any(&["name", "toolType", "tool_type"]);
    Body::Call(Call { executor, kind, signature, ..Call::new(value.get("id"), name, value.get("args")) })
}

fn result<'s>(value: Value<'_, 's>, executor: Executor, kind: ToolKind) -> Body<'s> {
    let response = value.get("response");
    // What code has printed stands beside its outcome.
    let printed = value.get("output").filter(|_| value.has("outcome"));
    let result = ToolResult::new(value.get("id"), response);
    Body::Result(ToolResult {
        name: value.get("name").and_then(Named::of),
        // The documentation reserves this key for the error of a failed call.
        is_error: response.map(|response| response.get("error").is_some_and(|error| !error.is_null())),
        has_media: value.has("parts"),
        executor,
        kind: Some(kind),
        content: printed.map_or(result.content, |printed| Content::of(Some(printed))),
        ..result
    })
}

// --- conversations

fn read_reasoning(part: Value<'_, '_>) -> conversation::Reasoning {
    let signature = part.get_any(&["thoughtSignature", "thought_signature"]).and_then(Value::as_str);
    conversation::Reasoning::new(part.get_str("text").unwrap_or_default(), signature.map(Into::into))
}

fn write_request(conversation: &Conversation, tools: &[&str]) -> Json {
    let contents = write_turns(
        conversation,
        |parts| json!({"role": "user", "parts": parts}),
        |text| json!([{"text": text}]),
        write_content,
        write_result,
    );
    let mut body = json!({"contents": contents});
    if !tools.is_empty() {
        let tools: Vec<Json> = tools.iter().map(|name| json!({"name": name})).collect();
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    if !conversation.system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": conversation.system}]});
    }
    body
}

fn write_content(said: &Assistant) -> Json {
    let reasoning = said.reasoning.iter().map(|reasoning| {
        let mut part = json!({"text": reasoning.text, "thought": true});
        if let Some(signature) = &reasoning.signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    });
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls =
        said.calls.iter().map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}}));
    json!({"role": "model", "parts": reasoning.chain(text).chain(calls).collect::<Vec<_>>()})
}

fn write_result(output: &ToolOutput) -> Json {
    let key = if output.failed { "error" } else { "output" };
    json!({"functionResponse": {"name": output.name, "response": {key: output.text}}})
}
