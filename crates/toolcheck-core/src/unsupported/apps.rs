//! What applications and frameworks save or export of their conversations, and no reader reads yet.
//!
//! Each is told by keys that are together in it alone. Once one of them can be read, its entry goes away.

use toolcheck_json::Value;

use super::{Unsupported, any_message, any_node, find_by_key, first, first_of, of_agent, other};
use crate::names::words;

/// All of them, the more telling first.
static ALL: &[Unsupported] = &[
    // `/chat save` of Amazon Q, which is Kiro CLI now.
    of_agent("a conversation that Kiro CLI or Amazon Q has saved", |root| {
        let is_turn = |turn: Value<'_, '_>| {
            let said = turn.get("user").or_else(|| first(turn)).and_then(|said| said.get("content"));
            said.is_some_and(|said| {
                said.get_any(&["Prompt", "ToolUseResults", "CancelledToolUses"]).is_some()
            })
        };
        first_of(root, "history").is_some_and(is_turn)
    }),
    of_agent("a session of Augment", |root| {
        first_of(root, "chatHistory").is_some_and(|turn| turn.has("exchange"))
    }),
    // `MemoryRecord` in `camel/memories/records.py` of camel-ai/camel.
    of_agent("the memory of an agent of CAMEL", |root| {
        any_message(root, |record| record.has_all(&["message", "role_at_backend"]))
    }),
    of_agent("a checkpoint of an agent of Koog", |root| {
        let is_own =
            |message: Value<'_, '_>| message.get_str("type").is_some_and(|kind| kind.starts_with("ai.koog."));
        first_of(root, "messageHistory").is_some_and(is_own)
    }),
    // `conversations.json`: a user downloads all of them.
    of_agent("an export of ChatGPT", |root| {
        let is_node = |node: Value<'_, '_>| {
            node.has_list("children")
                && node.get("message").is_some_and(|message| message.has_all(&["author", "content"]))
        };
        !holds_messages(root) && any_node(root, is_node)
    }),
    of_agent("a conversation of LibreChat", |root| {
        first_of(root, "messages").is_some_and(|message| message.has_all(&["messageId", "isCreatedByUser"]))
    }),
    of_agent("messages of Dify", |root| {
        let is_own = |message: Value<'_, '_>| {
            message.has_all(&["query", "answer", "agent_thoughts"]) && !holds_messages(message)
        };
        is_own(root) || first_of(root, "data").is_some_and(is_own)
    }),
    of_agent("messages of Flowise", |root| {
        any_message(root, |message| {
            message.is_one_of("role", &["userMessage", "apiMessage"]) && message.has("chatflowid")
        })
    }),
    // `libs/agno/agno/run/agent.py` of agno-agi/agno.
    of_agent("events of a run of Agno", |root| {
        root.has_all(&["event", "run_id", "created_at"])
            && root.get_any(&["agent_id", "team_id"]).is_some()
            && !holds_messages(root)
    }),
    // `schema/` of neulab/agent-data-protocol.
    of_agent("a trajectory of the Agent Data Protocol", |root| {
        first_of(root, "content").is_some_and(|step| step.has("class_"))
    }),
    of_agent("events in the memory of Amazon Bedrock AgentCore", |root| {
        let is_own =
            |event: Value<'_, '_>| event.has_all(&["memoryId", "actorId"]) && event.has_list("payload");
        is_own(root) || first_of(root, "events").is_some_and(is_own)
    }),
    // `CODEX_TUI_RECORD_SESSION` of openai/codex.
    other("what Codex records of its screen", |root| {
        root.has_all(&["ts", "kind"]) && root.is_one_of("dir", &["meta", "to_tui", "from_tui"])
    })
    .advising("check the session that Codex keeps: `~/.codex/sessions`"),
    // `storage/session`, `storage/message` and `storage/part`, before there was a database.
    of_agent("one of the files of a session of OpenCode", |root| {
        let starts = |key: &str, start: &str| root.get_str(key).is_some_and(|id| id.starts_with(start));
        starts("sessionID", "ses_")
            && (starts("messageID", "msg_") && starts("id", "prt_")
                || starts("id", "msg_") && root.has_all(&["role", "time"]))
            || starts("id", "ses_")
                && root.has_all(&["projectID", "directory", "time"])
                && !holds_messages(root)
    })
    .advising("check what OpenCode exports: `opencode export`"),
    of_agent("rows of Crush's table of messages", |root| {
        any_message(root, |row| {
            row.has_all(&["session_id", "role", "created_at"]) && row.get("parts").is_some_and(are_of_crush)
        })
    }),
];

/// Whether parts of a message, which may be in a string, have what they are under `data`.
fn are_of_crush(parts: Value<'_, '_>) -> bool {
    match parts.as_str() {
        Some(text) => text.contains("\"data\""),
        None => first(parts).is_some_and(|part| part.has_all(&["type", "data"])),
    }
}

/// Whether a conversation that can be read is beside the keys.
fn holds_messages(root: Value<'_, '_>) -> bool {
    ["messages", "contents", "input"].iter().any(|key| root.has_list(key))
}

pub(super) fn find(root: Value<'_, '_>) -> Option<&'static Unsupported> {
    const KEYS: [&str; 16] = words(
        "history chatHistory role_at_backend messageHistory mapping conversationId agent_thoughts data run_id content \
        memoryId events dir sessionID projectID session_id",
    );
    find_by_key(ALL, &KEYS, root)
}
