//! Bedrock Converse and ConverseStream.

mod reply;

use serde_json::{Value as Json, json};
use toolcheck_json::Value;

use super::{
    Format, Marks, blocks, declare_tools, declares, is_enabled, is_long_lived, list_of, messages_of,
    openai_chat, reasoning_setting, strict, write_turns,
};
use crate::assembly::{self, Assembly, ChoiceCall, Completion, Locate};
use crate::claim::{Claim, MESSAGES_LOOKED_AT, certainty, surest_message, surest_of_most};
use crate::conversation::{self, Assistant, Conversation, Feature, ToolOutput};
use crate::fix_style::{self, FixStyle};
use crate::ir::{
    Body, Buffers, CacheMark, CacheMarkTarget, Call, Executor, Named, Part, Place, Reasoning, Signature,
    Text, ToolChoice, ToolChoiceMode, ToolDef, ToolKind, ToolResult, Transcript,
};
use crate::names::words;
use crate::reply::Framing;
use crate::route::Route;
use crate::unread;
use toolcheck_json::edit::Piece;

pub(super) static FORMAT: Format = Format {
    id: "bedrock-converse",
    name: "Amazon Bedrock Converse",
    aliases: &["bedrock", "converse", "aws"],
    family: "bedrock-converse",
    routes: &[
        Route::new("", "/model/{model}/converse").streamed(false),
        Route::new("", "/model/{model}/converse-stream").streamed(true),
        // <https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema-response.html>
        Route::invoked("amazon.nova", false),
        Route::invoked("amazon.nova", true),
    ],
    marks: Marks {
        // The key of the model stands beside messages of other formats too.
        body: &["toolConfig", "inferenceConfig", "additionalModelRequestFields", "modelId"],
        message: &BLOCKS,
        answer: &["output", "stopReason"],
        models: &[],
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
    framing: Framing::Binary,
    fix_style: &FIX_STYLE,
    is_made_chat: false,
    keeps_responses: false,
    repeats: &[],
};

static FIX_STYLE: FixStyle = FixStyle {
    only_in_results: &["json", "searchResult"],
    blocks: Some("content"),
    is_wrapped: true,
    result_id: Some("toolUseId"),
    call_id: Some("toolUseId"),
    no_output: ("content", r#"[{"text": "(no output)"}]"#),
    result: |missing| {
        let id = missing.id.clone()?;
        let text = Piece::List(vec![Piece::object([("text", missing.said())])]);
        let result = [("toolUseId", id), ("content", text), ("status", Piece::text("error"))];
        Some(Piece::object([("toolResult", Piece::object(result))]))
    },
    text: |text| Piece::object([("text", text)]),
    said: |text| fix_style::user_content(vec![Piece::object([("text", text)])]),
    tool: r#"{"toolSpec": {"name": NAME, "description": ABOUT, "inputSchema": {"json": SCHEMA}}}"#,
    choice: "toolConfig.toolChoice",
    choices: [r#"{"auto": {}}"#, r#"{"any": {}}"#, "", r#"{"tool": {"name": NAME}}"#],
    picture: Some(r#"{"image": {"format": "KIND", "source": {"bytes": "DATA"}}}"#),
    ..FixStyle::OF_PROGRAM
};

/// The keys that identify a block's kind: a block has one of them and no `type`.
const BLOCKS: [&str; 10] =
    words("text toolUse toolResult reasoningContent image document video audio cachePoint guardContent");

/// Keys of the request body that other APIs with `messages` do not have.
const OWN_BODY: [&str; 3] = ["toolConfig", "inferenceConfig", "additionalModelRequestFields"];

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = messages_of(root) else { return 0 };
    let is_own_body = root.is_object() && root.get_any(&OWN_BODY).is_some() && !is_stray(root);
    let surest = if is_own_body { surest_message } else { surest_of_most };
    let sure = surest(list, certainty::CERTAIN, claim);
    // Converse's own settings around messages with valid roles are enough, since the content may be the mistake. The
    // certainty must exceed that of the formats that would otherwise claim these messages.
    let has_role =
        |message: Value<'_, '_>| matches!(message.get_str("role").as_deref(), Some("user" | "assistant"));
    let is_block = |block: Value<'_, '_>| block.is_object() && block.get("type").is_none();
    let has_blocks = |message: Value<'_, '_>| {
        let content = message.get("content").filter(|content| content.is_array());
        content.is_some_and(|content| content.elements().all(is_block))
    };
    // The role may be the mistake, too.
    let is_like = |message: Value<'_, '_>| has_role(message) || has_blocks(message);
    let may_be =
        || list.elements().take(8).all(|message| is_like(message) && message.get("tool_calls").is_none());
    // The key for the model is its own, too, but other software may have it beside texts.
    let is_named = || root.get_str("modelId").is_some() && list.elements().take(8).all(has_blocks);
    if (is_own_body || is_named()) && (sure > 0 || may_be()) {
        sure.max(certainty::CERTAIN + 2)
    } else if sure > certainty::FAINT && root.is_object() && is_of_another(root) {
        certainty::FAINT
    } else {
        sure
    }
}

/// Whether the one key of Converse is the mistake: what else a request of this API says under its own keys stands where other
/// APIs have it, and the messages have no block of Converse.
fn is_stray(root: Value<'_, '_>) -> bool {
    let keys = || OWN_BODY.iter().chain(&["modelId"]).filter(|key| root.has(key));
    let is_block = |block: Value<'_, '_>| matches!(claim_of(block), Some(1..));
    let has_blocks = |message: Value<'_, '_>| message.list("content").any(is_block);
    let of_others = ["model", "max_tokens", "tools", "tool_choice", "temperature"];
    keys().count() == 1
        && of_others.iter().filter(|key| root.has(key)).count() > 1
        && !root.list("messages").take(MESSAGES_LOOKED_AT).any(has_blocks)
}

/// Whether a body without own keys is a request to another API, in which a block is a mistake.
fn is_of_another(root: Value<'_, '_>) -> bool {
    declares(root, "input_schema") || openai_chat::mistakes::is_body(root)
}

fn claim(message: Value<'_, '_>) -> Claim {
    if !matches!(message.get_str("role").as_deref(), Some("user" | "assistant" | "system")) {
        return Claim::Foreign;
    }
    if message.has_object("content") {
        return Claim::Foreign;
    }
    // A string instead of blocks may be a mistake here, but it is normal in other formats.
    Claim::of_blocks(blocks(message, "content").map(claim_of), Claim::Open)
}

fn claim_of(block: Value<'_, '_>) -> Option<u8> {
    if block.has("type") {
        None
    } else if block.has("toolUse") || block.has("toolResult") {
        Some(certainty::OWN_SHAPE)
    } else {
        let is_own = BLOCKS.iter().any(|key| block.has(key));
        Some(if is_own { certainty::SURE_OF_RECORD } else { 0 })
    }
}

fn read_with<'s>(root: Value<'_, 's>, buffers: Buffers<'s>) -> Option<Transcript<'s>> {
    let list = list_of(root, "messages")?;
    let mut transcript = Transcript::with_buffers(FORMAT.key(), root, buffers);
    transcript.batches_results = true;
    transcript.request.model = root.get_str("modelId");
    let config = root.get("toolConfig");
    let tools = config.and_then(|config| config.get("tools"));
    declare_tools(&mut transcript, tools, &FOREIGN_TOOLS, tool);
    transcript.unread.extend(root.get("tools").filter(|tools| tools.is_array()).map(unread::tools));
    transcript.unread.extend(unread::body(root));
    let known = ["toolSpec", "systemTool", "cachePoint"];
    let mut kinds = tools.into_iter().flat_map(|tools| tools.elements()).flat_map(Value::members);
    transcript.request.tools.hides_some =
        kinds.any(|kind| kind.key_text().is_some_and(|kind| !known.contains(&kind.as_ref())));
    // The model's built-in tools, in the syntax of the model's own API.
    let own = root.get_in(&["additionalModelRequestFields", "tools"]);
    let own = own.into_iter().flat_map(|tools| tools.elements());
    let own = own.filter_map(|tool| {
        let name = tool.get("name").and_then(Named::of)?;
        Some(ToolDef { name: Some(name), executor: Executor::Server, ..ToolDef::new(Place::of(tool)) })
    });
    transcript.request.tools.added.extend(own);
    transcript.request.tool_choice = config.and_then(|config| config.get("toolChoice")).and_then(tool_choice);
    let thinking = root
        .get("additionalModelRequestFields")
        .and_then(|fields| fields.get_any(&["thinking", "reasoning_config"]));
    transcript.request.reasoning = is_enabled(thinking);
    transcript.request.reasoning_setting = thinking.and_then(reasoning_setting);
    let system = root.get("system");
    transcript.request.instructions = system.map(Place::of);
    for value in tools.into_iter().chain(system).flat_map(|list| list.elements()) {
        transcript.details.cache_marks.extend(cache_mark(value));
    }
    for (index, value) in list.elements().enumerate() {
        read_message(&mut transcript, value, index);
    }
    Some(transcript)
}

/// Keys of tool definitions in other APIs.
const FOREIGN_TOOLS: [&str; 6] =
    ["name", "type", "function", "input_schema", "functionDeclarations", "function_declarations"];

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    let message = value.get("output")?.get("message")?;
    let mut transcript = Transcript::new(FORMAT.key(), value);
    read_message(&mut transcript, message, 0);
    let is_whole = assembly::is_whole(value.get("stopReason"), &WHOLE);
    Some(vec![Completion { transcript, is_whole }])
}

/// The index of the block that an event refers to.
fn number(event: Value<'_, '_>) -> Option<u64> {
    event.get("contentBlockIndex").and_then(Value::as_u64)
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    if let Some(start) = event.get("contentBlockStart") {
        let tool = start.get_in(&["start", "toolUse"]);
        if let Some((tool, Body::Call(call))) = tool.map(|tool| (tool, call(tool))) {
            assembly.next_call(0, number(start), ChoiceCall::new(&call, tool, locate));
        }
    } else if let Some(piece) = event.get("contentBlockDelta") {
        let delta = piece.get("delta");
        let input = delta.and_then(|delta| delta.get("toolUse")).and_then(|tool| tool.get("input"));
        assembly.arguments(0, number(piece), input, Some(locate));
        assembly.text(0, delta.and_then(|delta| delta.get("text")));
        if let Some(block) = delta.and_then(|delta| delta.get("reasoningContent")) {
            let said = [block.get("text"), block.get_any(&["signature", "redactedContent"])];
            assembly.reasons(0, number(piece).unwrap_or_default(), said, locate(block));
        }
    } else if let Some(stop) = event.get("messageStop") {
        assembly.end(0, assembly::is_whole(stop.get("stopReason"), &WHOLE));
    }
}

/// The stop reasons of a complete response.
const WHOLE: [&str; 3] = ["tool_use", "end_turn", "stop_sequence"];

fn tool_choice<'s>(value: Value<'_, 's>) -> Option<ToolChoice<'s>> {
    let choice = value.members().next()?;
    let wanted = match choice.key_text().as_deref() {
        Some("auto") => ToolChoiceMode::Free,
        Some("any") => ToolChoiceMode::Any,
        Some("tool") => {
            choice.get("name").and_then(Named::of).map_or(ToolChoiceMode::Other, ToolChoiceMode::Tool)
        }
        _ => ToolChoiceMode::Other,
    };
    Some(ToolChoice::new(value, wanted))
}

/// The cache mark, if this element is a cache point.
fn cache_mark(value: Value<'_, '_>) -> Option<CacheMark> {
    let mark = value.get("cachePoint").filter(|mark| mark.is_object())?;
    let is_long_lived = is_long_lived(mark);
    Some(CacheMark { place: Place::of(value), is_long_lived, target: CacheMarkTarget::Usual, path: None })
}

fn tool<'s>(value: Value<'_, 's>) -> Option<ToolDef<'s>> {
    let own = value.get("toolSpec");
    let spec = own.or_else(|| value.get("systemTool"))?;
    Some(ToolDef {
        name: spec.get("name").and_then(Named::of),
        schema: spec.get_in(&["inputSchema", "json"]).map(Place::of),
        executor: if own.is_some() { Executor::Client } else { Executor::Server },
        strict: strict(spec),
        ..ToolDef::new(Place::of(value))
    })
}

pub(crate) fn read_message<'s>(transcript: &mut Transcript<'s>, value: Value<'_, 's>, message_index: usize) {
    let content = value.get("content");
    super::open_message(transcript, value, message_index, content, super::role_of);
    transcript.unread.extend(value.members().filter_map(unread::member));
    for (index, block) in blocks(value, "content").enumerate() {
        if block.get("document").is_some_and(|document| !document.is_null()) {
            transcript.details.documents.push(Place::of(block));
        }
        transcript.details.cache_marks.extend(cache_mark(block));
        let body = self::block(block);
        if matches!(body, Body::Opaque) {
            transcript.unread.extend(unread::block(block));
        }
        transcript.push(Part::new(block, index, body));
    }
}

fn block<'s>(block: Value<'_, 's>) -> Body<'s> {
    // A key that is null is as good as missing.
    for member in block.members().filter(|member| !member.is_null()) {
        let Some(key) = member.key_text() else { continue };
        return match &*key {
            "text" => Body::text(Some(member)),
            "toolUse" => call(member),
            "toolResult" => result(member),
            "reasoningContent" => reasoning(member),
            "image" | "document" | "video" | "audio" | "searchResult" => Body::Media,
            // Text or an image for a guardrail to check.
            "guardContent" => match member.get("text").and_then(|text| Text::of(text.get("text")?)) {
                Some(text) => Body::Text(text),
                None => Body::Media,
            },
            _ => continue,
        };
    }
    Body::Opaque
}

/// Who has a part of a tool that Bedrock itself runs, or of another.
fn executor(is_of_server: bool) -> (Executor, ToolKind) {
    match is_of_server {
        true => (Executor::Server, ToolKind::BuiltIn),
        false => (Executor::Client, ToolKind::Function),
    }
}

fn call<'s>(tool: Value<'_, 's>) -> Body<'s> {
    // Answers of some models have Anthropic's type of other calls.
    let (executor, kind) = executor(tool.is("type", "server_tool_use"));
    let call = Call::new(tool.get("toolUseId"), tool.get("name"), tool.get("input"));
    Body::Call(Call { executor, kind, ..call })
}

fn result<'s>(tool: Value<'_, 's>) -> Body<'s> {
    // Results of each tool that Bedrock runs have a type of their own.
    let (executor, kind) = executor(tool.get_str("type").is_some_and(|kind| kind != "tool_result"));
    let content = tool.get("content");
    // A table pads each part with the keys of the others.
    let has = |part: Value<'_, '_>, key: &str, is_wanted: fn(Value<'_, '_>) -> bool| {
        let is_padding = |value: Value<'_, '_>| value.is_null() && !part.members().all(Value::is_null);
        part.get(key).is_some_and(|value| !is_padding(value) && is_wanted(value))
    };
    let mut parts = tool.list("content");
    Body::Result(ToolResult {
        is_error: tool.get_str("status").map(|status| status == "error"),
        has_bare_json: parts.clone().any(|part| has(part, "json", |json| !json.is_object())),
        has_media: parts.any(|part| !has(part, "text", |_| true) && !has(part, "json", |_| true)),
        executor,
        kind: Some(kind),
        ..ToolResult::new(tool.get("toolUseId"), content)
    })
}

fn reasoning<'s>(value: Value<'_, 's>) -> Body<'s> {
    let text = value.get("reasoningText");
    Body::Reasoning(Reasoning {
        id: None,
        signature: Signature::of(text.and_then(|text| text.get("signature"))),
        is_redacted: text.is_none(),
    })
}

// --- conversations

fn read_reasoning(block: Value<'_, '_>) -> conversation::Reasoning {
    let reasoning = block.get_in(&["reasoningContent", "reasoningText"]);
    let member = |key| reasoning.and_then(|reasoning| reasoning.get_str(key));
    let redacted = block.get("reasoningContent").and_then(|reasoning| reasoning.get_str("redactedContent"));
    let signature = member("signature").or(redacted);
    conversation::Reasoning::new(member("text").unwrap_or_default(), signature.map(Into::into))
}

fn write_request(conversation: &Conversation, tools: &[&str]) -> Json {
    let messages = write_turns(
        conversation,
        |content| json!({"role": "user", "content": content}),
        |text| json!([{"text": text}]),
        write_message,
        write_result,
    );
    let mut body = json!({"inferenceConfig": {"maxTokens": 1024}, "messages": messages});
    if !conversation.system.is_empty() {
        body["system"] = json!([{"text": conversation.system}]);
    }
    if !tools.is_empty() {
        let tool = |name| json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}});
        body["toolConfig"] = json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()});
    }
    body
}

fn write_message(said: &Assistant) -> Json {
    let reasoning = said.reasoning.iter().map(|reasoning| {
        json!({"reasoningContent": {"reasoningText": {"text": reasoning.text, "signature": reasoning.signature}}})
    });
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls = said
        .calls
        .iter()
        .map(|call| json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}}));
    json!({"role": "assistant", "content": reasoning.chain(text).chain(calls).collect::<Vec<_>>()})
}

fn write_result(output: &ToolOutput) -> Json {
    let status = if output.failed { "error" } else { "success" };
    json!({"toolResult": {"toolUseId": output.call_id, "content": [{"text": output.text}], "status": status}})
}
