//! Hermes Agent: the log of a session, which holds what its requests are made of, as `_save_session_log` in `run_agent.py` of
//! NousResearch/hermes-agent writes it. What is sent next is all of it, after `sanitize_api_messages` in
//! `agent/agent_runtime_helpers.py` (at aca1cb5): that answers calls without results and leaves out results without calls,
//! wherever they are, but a result that comes too late stays where it is.

use toolcheck_json::Value;

use super::file_style::FileFixStyle;
use super::{Conversation, ConversationEnd, Reader, Reading, own_shape};
use crate::formats::openai_chat;
use crate::ir::{Transcript, UnpairedReason};

pub(super) static READER: Reader =
    Reader::log("hermes-agent", "Hermes Agent session", |records| own_shape(records, is_session), read)
        .fixed_by(&FILE_STYLE);

/// The messages are those of Chat Completions.
static FILE_STYLE: FileFixStyle =
    FileFixStyle { format: Some(&openai_chat::FORMAT), ..FileFixStyle::plain(openai_chat::FORMAT.fix_style) };

/// Whether a record has what no API takes beside its messages: when the session began, and how long it is.
fn is_session(record: Value<'_, '_>) -> bool {
    record.has_all(&["session_start", "session_id", "message_count"]) && record.has_list("messages")
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    Reading::of_sessions(records, |record, reading| {
        if !is_session(record) {
            return false;
        }
        let mut transcript = Transcript::of_conversation(READER.key(), record);
        let messages = record.list("messages");
        for (index, message) in messages.enumerate() {
            openai_chat::read_message(&mut transcript, message, index);
        }
        // A summary may have taken the place of what was called.
        transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        transcript.sent_next_by = Some(READER.id);
        reading.conversations.push(Conversation::new("main", transcript, ConversationEnd::Open));
        true
    })
}
