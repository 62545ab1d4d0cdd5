//! Sessions, runs and evaluations of agents that no reader reads yet.
//!
//! Each is told by keys that only it has. Once one of them can be read, its entry goes away.

use toolcheck_json::Value;

use super::{Unsupported, any_message, any_node, find_in, first_of, of_agent, other};
use crate::claim::is_of_opencode;
use crate::names::words;

/// All of them, the more telling first.
static ALL: &[Unsupported] = &[
    of_agent("a transcript of Apple's Foundation Models", |root| {
        let is_one = |value: Value<'_, '_>| value.is("type", "FoundationModels.Transcript");
        is_one(root) || root.get("transcript").is_some_and(is_one)
    }),
    of_agent("a trajectory like ATIF, but with roles in place of sources", |root| {
        let has_role = |step: Value<'_, '_>| step.has("role") || step.get_in(&["message", "role"]).is_some();
        let has_call =
            |step: Value<'_, '_>| first_of(step, "tool_calls").is_some_and(|call| call.has("function_name"));
        let has_result = |step: Value<'_, '_>| {
            let step = step.get("observation").unwrap_or(step);
            first_of(step, "results").is_some_and(|result| result.has("source_call_id"))
        };
        root.has_list("steps")
            && any_step(root, |step| has_role(step) && (has_call(step) || has_result(step)))
    }),
    // What Letta's agents were saved as before it had agent files, which are read.
    of_agent("an agent of MemGPT", |root| root.has_all(&["messages_total", "memory"])),
    of_agent("a transcript of Cursor", |root| {
        let is_list_of_blocks = |message: Value<'_, '_>| message.has_list("content") && !message.has("role");
        root.is_one_of("role", &["user", "assistant"]) && root.get("message").is_some_and(is_list_of_blocks)
    }),
    of_agent("a session of Kiro CLI", |root| {
        root.is_one_of("kind", &["Prompt", "AssistantMessage", "ToolResults"])
            && root.has("version")
            && root.get("data").is_some_and(|data| data.has_list("content"))
    }),
    // It begins as Pi's sessions do, which are read.
    of_agent("a session of Command Code", |root| {
        let message = root.get("message").filter(|_| root.has_all(&["id", "parentId", "timestamp"]));
        message.is_some_and(|message| message.get_in(&["meta", "source"]).is_some())
            || root.is("type", "session") && root.has_all(&["version", "id", "timestamp", "cwd"])
    }),
    of_agent("a session of Factory Droid", |root| {
        let is_block = |block: Value<'_, '_>| block.is_one_of("type", &["tool_use", "tool_result"]);
        let has_blocks = |message: Value<'_, '_>| {
            message.get("content").is_some_and(|content| content.elements().any(is_block))
        };
        root.is("type", "session_start") && root.has_all(&["id", "cwd"])
            || root.is("type", "message")
                && root.has_all(&["id", "timestamp"])
                && root.get("message").is_some_and(has_blocks)
    }),
    of_agent("a session of CodeBuddy", |root| {
        let kinds = ["session_start", "function_call", "function_call_result"];
        root.has_all(&["sessionId", "timestamp"]) && root.is_one_of("type", &kinds)
    }),
    of_agent("a session of Antigravity", |root| root.has_all(&["step_index", "source", "type", "status"])),
    // `~/.local/share/amp/threads/T-*.json`.
    of_agent("a thread of Amp", |root| {
        root.get_str("id").is_some_and(|id| id.starts_with("T-"))
            && first_of(root, "messages").is_some_and(|message| message.has_all(&["messageId", "role"]))
    }),
    // What a user downloads: conversations with their messages.
    of_agent("an export of claude.ai", |root| {
        let is_one = |chat: Value<'_, '_>| chat.has_list("chat_messages") && chat.has("uuid");
        is_one(root) || root.elements().take(LOOKED_AT).any(is_one)
    }),
    of_agent("an export of DeepSeek", |root| {
        let is_node =
            |node: Value<'_, '_>| node.get("message").is_some_and(|said| said.has_list("fragments"));
        any_node(root, is_node)
    }),
    of_agent("an export of Grok", |root| root.list("conversations").take(LOOKED_AT).any(is_chat_of_grok)),
    // `~/.junie/sessions/*/events.jsonl`.
    of_agent("a session of Junie", |root| {
        root.is("kind", "SessionA2uxEvent") && root.has("event")
            || root.is("kind", "UserPromptEvent") && root.has("prompt")
    }),
    of_agent("a session of OpenCode 2", |root| {
        let lists = [Some(root), root.get("data"), root.get("messages")];
        let mut messages = lists.into_iter().flatten().flat_map(|list| list.elements().take(LOOKED_AT));
        // Rows of its tables, and what it exports.
        root.is_one_of("table", &["session_v2", "session_message"]) || messages.any(is_of_opencode)
    }),
    // `pkg/providers/musecode/testdata` of specstoryai/getspecstory.
    of_agent("a session of Muse Code", |root| {
        root.has_all(&["stream", "record_type", "payload"])
            && root.get_str("payload_type").is_some_and(|kind| kind.starts_with("runtime."))
    }),
    // As kenn-io/agentsview reads them.
    of_agent("a conversation of Posit Assistant", |root| {
        any_message(root, |message| message.has_list("lmMessageIds") && message.has("parentId"))
    }),
    of_agent("a session of Crush", is_of_crush),
    // `crates/agent/src/db.rs` and `legacy_thread.rs` of zed-industries/zed.
    of_agent("a thread of Zed", |root| any_message(root, is_message_of_zed)),
    // `ClineMessage` in `src/shared/ExtensionMessage.ts` of cline/cline, which Roo Code has too.
    other("what Cline or Roo Code shows of a task", |root| any_message(root, is_shown_by_cline))
        .advising("check what is sent to the model: `api_conversation_history.json` in the same folder"),
    // `js/ai/src/parts.ts` of firebase/genkit.
    of_agent("a conversation of Genkit", |root| {
        any_message(root, |message| {
            let mut parts = message.list("content");
            parts.any(|part| {
                let tool = part.get_any(&["toolRequest", "toolResponse"]);
                part.get("type").is_none() && tool.is_some_and(|tool| tool.has("name"))
            })
        })
    }),
    // `~/.lmstudio/conversations/*.conversation.json`, and `packages/lms-shared-types/src/ChatHistoryData.ts` of
    // lmstudio-ai/lmstudio-js.
    of_agent("a conversation of LM Studio", |root| any_message(root, is_of_lmstudio)),
    // `context` in the table `conversations` of antinomyhq/forge.
    of_agent("a conversation of ForgeCode", |root| {
        any_message(root, |entry| {
            let inside = |key: &str| entry.get_in(&["message", key]);
            inside("text").is_some_and(|text| text.has("role"))
                || inside("tool").is_some_and(|tool| tool.has("call_id"))
        })
    }),
    // `packages/runtime-client-gql` of CopilotKit, before it spoke AG-UI.
    of_agent("messages of CopilotKit", |root| {
        any_message(root, |message| message.is_one_of("type", &["ActionExecutionMessage", "ResultMessage"]))
    }),
    // `MessageContentParts` of chatboxai/chatbox.
    of_agent("a session of Chatbox", |root| any_message(root, |message| is_of_app(message, "contentParts"))),
    of_agent("a conversation of big-AGI", |root| {
        any_message(root, |message| is_of_app(message, "fragments"))
    }),
    // `PromptMessageExtended` of evalstate/fast-agent: calls and results are objects by their ids.
    of_agent("a history of fast-agent", |root| any_message(root, is_of_fast_agent)),
    // `src/lib/types/MessageUpdate.ts` of huggingface/chat-ui: calls and results are among the updates of a message.
    of_agent("a conversation of Hugging Face's chat-ui", |root| any_message(root, is_of_chat_ui)),
    of_agent("messages of the Claude Agent SDK for Python without the classes of their blocks", |root| {
        any_message(root, is_of_agent_sdk)
    })
    .advising("check the session that Claude Code keeps: `~/.claude/projects`"),
    of_agent("messages of Inngest's AgentKit", |root| {
        any_message(root, |message| message.has_all(&["stop_reason", "role"]) && message.has_list("tools"))
    }),
];

pub(super) fn find(root: Value<'_, '_>) -> Option<&'static Unsupported> {
    if may_be_one(root) { find_in(ALL, root) } else { None }
}

/// Whether a document has a key, or a type, that any of them is told by: a glance, because every file is looked at.
fn may_be_one(root: Value<'_, '_>) -> bool {
    const KEYS: [&str; 10] = words(
        "mapping meta step_index step_number steps chat_messages payload_type table messages_total parent_tool_use_id",
    );
    const TYPES: [&str; 6] = words(r#""ask" "say" "session "message" "function_call "FoundationModels."#);
    const OF_MESSAGES: [&str; 6] = words("versions message type contentParts fragments lmMessageIds");
    let is_mark = |member: Value<'_, '_>| match member {
        _ if member.has_key("type") => TYPES.iter().any(|kind| member.raw().starts_with(kind.as_bytes())),
        _ if member.has_key("message") || member.has_key("transcript") => member.is_object(),
        _ if member.has_key("messages") || member.has_key("data") => {
            member.elements().take(LOOKED_AT).any(|one| is_of_lmstudio(one) || is_of_fast_agent(one))
                || member.elements().next().is_some_and(|message| {
                    is_of_opencode(message)
                        || is_message_of_zed(message)
                        || message.get_any(&OF_MESSAGES).is_some()
                        || first_of(message, "content").is_some_and(|block| block.get("type").is_none())
                })
        }
        _ if member.has_key("conversations") => member.elements().next().is_some_and(is_chat_of_grok),
        _ if member.has_key("id") => member.raw().starts_with(b"\"T-"),
        _ if member.has_key("kind") => member.raw().get(1).is_some_and(u8::is_ascii_uppercase),
        _ => KEYS.iter().any(|key| member.has_key(key)),
    };
    root.is_array() || root.members().any(is_mark)
}

const LOOKED_AT: usize = 8;

/// Whether a message is as `dataclasses.asdict` writes those of `claude_agent_sdk/types.py`, in which no block has a type.
fn is_of_agent_sdk(message: Value<'_, '_>) -> bool {
    let is_untyped = || {
        let mut blocks = message.list("content").take(LOOKED_AT);
        blocks.next().is_none_or(|block| block.get("type").is_none())
    };
    message.has("content")
        && message.has("parent_tool_use_id")
        && message.get("role").is_none()
        && is_untyped()
}

fn is_chat_of_grok(chat: Value<'_, '_>) -> bool {
    let mut responses = chat.list("responses").take(LOOKED_AT);
    responses.any(|entry| entry.get("response").is_some_and(|said| said.has_all(&["sender", "message"])))
}

fn is_of_lmstudio(message: Value<'_, '_>) -> bool {
    let is_own = |block: Value<'_, '_>| block.is_one_of("type", &["toolCallRequest", "toolCallResult"]);
    message.has_list("versions") && message.has("currentlySelected")
        || message.list("content").take(2).any(is_own)
}

fn is_of_chat_ui(message: Value<'_, '_>) -> bool {
    let is_of_tool =
        |update: Value<'_, '_>| update.is("type", "tool") && update.has_all(&["subtype", "uuid"]);
    message.has("from") && message.list("updates").take(LOOKED_AT).any(is_of_tool)
}

fn is_of_fast_agent(message: Value<'_, '_>) -> bool {
    let by_id = |key: &str, own: &str| {
        let first = message.get(key).and_then(|all| all.members().next());
        first.is_some_and(|first| first.get(own).is_some())
    };
    let is_own = || message.has_list("content") && message.has("is_template");
    message.has("role") && (by_id("tool_calls", "params") || by_id("tool_results", "content") || is_own())
}

/// Whether a message has its content as a list under a key that only one program has.
fn is_of_app(message: Value<'_, '_>, key: &str) -> bool {
    message.has("role") && message.has_list(key) && message.get("content").is_none()
}

/// Whether a document is a step as wanted, or has or is a list with one.
fn any_step(root: Value<'_, '_>, is_wanted: impl Fn(Value<'_, '_>) -> bool) -> bool {
    let list = root.get("steps").filter(|steps| steps.is_array()).unwrap_or(root);
    is_wanted(root) || list.elements().take(LOOKED_AT).any(is_wanted)
}

/// Whether a document is what `crush session show ID --json` prints (`internal/cmd/session.go` of charmbracelet/crush).
pub(crate) fn is_of_crush(root: Value<'_, '_>) -> bool {
    let is_own = |message: Value<'_, '_>| message.has_all(&["id", "role", "created", "parts"]);
    root.has("meta") && first_of(root, "messages").is_some_and(is_own)
}

/// Whether a message is one of Zed's, of this version or of the first.
fn is_message_of_zed(message: Value<'_, '_>) -> bool {
    message.get_any(&["User", "Agent"]).is_some_and(|inner| inner.has_list("content"))
        || message.has("role") && message.has_list("segments")
}

fn is_shown_by_cline(message: Value<'_, '_>) -> bool {
    let kind = message.get_str("type").filter(|kind| matches!(&**kind, "say" | "ask"));
    kind.is_some_and(|kind| message.has_all(&[&*kind]))
}
