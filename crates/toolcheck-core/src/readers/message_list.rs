//! Lists of messages anywhere in a document: data sets, results of benchmarks, logs of gateways.
//!
//! This reader comes last, for what neither another reader nor a format knows at its usual place. Each list is a
//! conversation, read with the wire format that its messages show.

use toolcheck_json::Value;

use super::{Reader, search};
use crate::claim::certainty;
use crate::ir::{Transcript, Unread, UnreadKind};
use crate::unsupported;

pub(super) static READER: Reader =
    Reader::dataset("message-list", "Lists of messages", sniff, |records| search::read_as(&READER, records))
        .of_chat()
        .repeating_if(&[
            "\"mlflow.span",
            "\"span_id\"",
            "\"step_number\"",
            "\"trace_id\"",
            "\"traceId\"",
            "\"traceID\"",
        ]);

/// It is chosen for a whole file only where a framework shows that the messages are its own: they have a key that it takes away
/// before they are sent. Strands Agents' is `tracking_id` (`strands/types/content.py` in version 1.62), in TypeScript
/// `trackingId` (`src/types/messages.ts` in version 1.16). Agno's messages have two (`libs/agno/agno/models/message.py`).
fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own = |message: Value<'_, '_>| {
        let has = |key: &str| message.get(key).is_some();
        let is_of_strands = ["tracking_id", "trackingId"].iter().any(|key| message.get_str(key).is_some());
        has("role") && (is_of_strands || has("from_history") && has("stop_after_tool_call"))
    };
    let Some(record) = records.first() else { return 0 };
    let is_known = record.elements().next().is_some_and(is_own)
        || record.elements().take(ITEMS_LOOKED_AT).any(is_of_livekit);
    if is_known { certainty::CERTAIN } else { 0 }
}

/// How many items of a list are looked at.
const ITEMS_LOOKED_AT: usize = 8;

/// Whether an item is one that LiveKit keeps of a conversation, as only it writes it (`ChatContext.to_dict` in
/// `livekit-agents/livekit/agents/llm/chat_context.py` of livekit/agents).
fn is_of_livekit(item: Value<'_, '_>) -> bool {
    let has = |key: &str| item.get(key).is_some();
    match item.get_str("type").as_deref() {
        Some("agent_handoff" | "agent_config_update") => has("id"),
        Some("message") => {
            let mut contents = item.list("content");
            has("interrupted") && contents.next().is_some_and(|first| first.is_string())
        }
        _ => false,
    }
}

/// Whether the lists of messages in a document are looked for: it is not a request with a mistake, and nothing that is
/// known to be something else.
pub(super) fn may_read(root: Value<'_, '_>) -> bool {
    unsupported::find(root).or_else(|| unsupported::conversation(root)).is_none()
        && (!unsupported::is_meant_as_request(root) || unsupported::is_row_with_text(root))
}

/// Which of the calls of a transcript are unread because they stand in a text.
pub(super) fn has_calls_in_text(transcript: &Transcript<'_>, root: Value<'_, '_>) -> bool {
    let is_text = |unread: &Unread<'_>| {
        unread.what == UnreadKind::Calls && root.document().value(unread.place.node).is_string()
    };
    transcript.unread.iter().any(is_text)
}
