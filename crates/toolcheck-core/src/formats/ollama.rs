//! Ollama's own `/api/chat`: a dialect of Chat Completions with objects for arguments and, mostly, no ids.

use toolcheck_json::Value;

use super::openai_chat::{self, Dialect};
use super::{Format, list_of, surest_message};
use crate::ir::{Room, Transcript};

pub(super) static FORMAT: Format =
    Format { id: "ollama", name: "Ollama chat", family: "chat", sniff, read_in };

static DIALECT: Dialect =
    Dialect { format: FORMAT.id, result_name: &["tool_name", "name"], text: &[], roles: &[] };

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = list_of(root, "messages") else { return 0 };
    let sure = surest_message(list, |message| {
        if message.get("role").is_none() {
            return 0;
        }
        if message.get("tool_name").is_some() {
            return 90;
        }
        if message.get("images").is_some_and(Value::is_array) {
            return 80;
        }
        let mut calls = message.get("tool_calls").into_iter().flat_map(|calls| calls.elements());
        let object = calls
            .next()
            .and_then(|call| call.get("function")?.get("arguments"))
            .is_some_and(Value::is_object);
        if object { 85 } else { 5 }
    });
    let is_own_body = root.get("options").is_some_and(Value::is_object) || root.get("keep_alive").is_some();
    if sure > 0 && is_own_body { sure.max(85) } else { sure }
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    openai_chat::read_dialect(root, &DIALECT, room)
}
