//! Calls at places in the messages of a row where nobody looks.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use toolcheck_json::{Document, Value, contains};

use super::{
    ANSWER_LOOKED_AT, HOSTED, NAMES, OUTPUTS, is_content_in_text, of_key, of_type, of_words, unwrapped,
};
use crate::ir::{Body, Part, Place, Transcript, Unread, UnreadKind};
use crate::names::words;

/// What a call has in the places where nobody looks, beside the name of its tool: DeepEval's `tools_called`
/// (`deepeval/test_case/llm_test_case.py` of confident-ai/deepeval), LangChain's `tool_input` and others.
const GIVEN: [&str; 11] = words(
    "arguments args input_parameters inputParameters tool_input toolInput tool_args toolArgs action_input actionInput \
    rawInput",
);

/// Whether an object in a message is a call in whatever words: it names what is called, and has arguments.
fn is_hidden_call(value: Value<'_, '_>) -> bool {
    let is_named = |name: Value<'_, '_>| name.as_json_str().is_some_and(|name| !name.is_empty());
    let may_be_given = |given: Value<'_, '_>| {
        given.is_object() || given.as_str().is_some_and(|text| text.trim_start().starts_with('{'))
    };
    // LlamaIndex's chats keep `toolCall` in the annotations of a message.
    let is_call = || {
        value.key_text().is_some_and(|key| key == "tool" || of_key(&key, value) == Some(UnreadKind::Calls))
            || value.get_str("type").is_some_and(|kind| of_type(&kind) == Some((UnreadKind::Calls, true)))
            || value.get_any(&["tool_name", "toolName"]).is_some()
    };
    let with_output = || value.get("input").filter(|_| value.get_any(&OUTPUTS).is_some() || is_call());
    // A tool has parameters too, and no call is named like it.
    let as_call = || value.get("parameters").filter(|_| value.has_key("call"));
    value.get_any(&NAMES).or_else(|| value.get("action")).is_some_and(is_named)
        && value.get_any(&GIVEN).or_else(with_output).or_else(as_call).is_some_and(may_be_given)
}

/// The types of calls that a provider runs, of their results, and of questions about them, in the words of frameworks and APIs.
const OF_PROVIDER: [&str; 19] = words(
    "server_tool_use server_tool_call server_tool_result search_tool_call search_tool_result mcp_call mcp_tool_use \
    mcp_tool_result mcp_server_tool_call mcp_server_tool_result mcpServerToolCall mcpServerToolResult mcp_approval_request \
    function_approval_request function_approval_response functionApprovalRequest functionApprovalResponse \
    toolApprovalRequest toolApprovalResponse",
);

fn is_of_provider(value: Value<'_, '_>) -> bool {
    let is_own = |kind: &str| OF_PROVIDER.contains(&kind) || HOSTED.contains(&kind);
    value.is_object()
        && ["$type", "type"].iter().any(|key| value.get_str(key).is_some_and(|kind| is_own(&kind)))
}

/// Whether the tools of a message are those that were used: each has what it was given, and what came back.
fn were_used(tools: Value<'_, '_>) -> bool {
    tools.elements().next().is_some_and(|tool| is_hidden_call(tool) && tool.get_any(&OUTPUTS).is_some())
}

fn holds_hidden_call(value: Value<'_, '_>) -> bool {
    let (mut stack, mut looked_at) = (vec![value], 0);
    while let Some(value) = stack.pop().filter(|_| looked_at < ANSWER_LOOKED_AT) {
        looked_at += 1;
        if is_of_provider(value) {
            continue;
        }
        if is_hidden_call(value) {
            return true;
        }
        stack.extend(value.children().take(ANSWER_LOOKED_AT));
    }
    false
}

/// What is in a text that shows calls: as Open WebUI did before it kept their items (`serialize_content_blocks` in
/// `backend/open_webui/utils/middleware.py` of open-webui/open-webui), and in a trace of Bedrock's agents.
const SHOWN: [&[u8]; 2] = [br#"<details type=\"tool_calls\""#, b"type=tool_use}"];

/// What all of them have, and hardly any text.
static SHOWN_TYPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("type="));

/// The first call at a place in the messages of a row where nobody looks, if no call was read.
pub(crate) fn hidden<'s>(transcript: &Transcript<'s>, document: &Document<'s>) -> Option<Unread<'s>> {
    let is_call = |part: &Part<'_>| matches!(part.body, Body::Call(_));
    if transcript.parts.iter().any(is_call) || !transcript.unread.is_empty() {
        return None;
    }
    let messages = transcript.messages.iter().map(|message| document.value(message.place.node));
    let in_message = |message: Value<'_, 's>| {
        let read = ["role", "content", "tools", "functions"];
        let is_read =
            |member: &Value<'_, '_>| read.iter().any(|key| member.has_key(key)) && !were_used(*member);
        let members = message.members().filter(|member| !is_read(member));
        let own =
            message.get_any(&GIVEN).or_else(|| message.get("input")).filter(|_| is_hidden_call(message));
        let is_shown = |content: &Value<'_, '_>| {
            SHOWN_TYPE.find(content.raw()).is_some() && SHOWN.iter().any(|mark| contains(content.raw(), mark))
                || is_content_in_text(message)
        };
        // Coze's messages have a type, such as `function_call`.
        let is_typed = |kind: &Value<'_, '_>| kind.as_str().is_some_and(|kind| of_words(&kind).is_some());
        let of_model = Some(message).filter(|message| message.is("role", "assistant"));
        own.or_else(|| of_model?.get("content").filter(is_shown))
            .or_else(|| of_model?.get("type").filter(is_typed))
            .or_else(|| members.into_iter().find(|member| unwrapped(*member, holds_hidden_call)))
            .map(|found| (Place::of(found), found.key_text().unwrap_or_default()))
    };
    let (place, name) = messages.into_iter().find_map(in_message)?;
    Some(Unread { place, what: UnreadKind::Calls, name, is_known: true })
}
