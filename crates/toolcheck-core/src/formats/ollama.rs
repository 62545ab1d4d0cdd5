//! Ollama's own `/api/chat`: a dialect of Chat Completions with objects for arguments and, mostly, no ids.

use toolcheck_json::Value;

use super::openai_chat::{self, Dialect};
use super::{Format, list_of, surest_message};
use crate::ir::{Room, Transcript};

use crate::response::{self, Answer, Assembly, Locate, Said};

pub(super) static FORMAT: Format = Format {
    id: "ollama",
    name: "Ollama chat",
    aliases: &[],
    family: "chat",
    sniff,
    read_in,
    answers,
    event,
};

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

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Said<'s>>> {
    let message = value.get("message").filter(|message| message.is_object())?;
    Some(vec![openai_chat::answer(message, is_whole(value, true), &DIALECT)])
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    if let Some(message) = event.get("message") {
        let said = openai_chat::answer(message, true, &DIALECT);
        for call in Answer::new(&said, message, locate).calls {
            assembly.next_call(0, None, call);
        }
        assembly.text(0, message.get("content"));
    }
    if is_done(event, false) {
        assembly.end(0, is_whole(event, false));
    }
}

fn is_done(value: Value<'_, '_>, where_silent: bool) -> bool {
    value.get("done").map_or(where_silent, |done| done.as_bool() == Some(true))
}

/// Whether the answer came to its end.
fn is_whole(value: Value<'_, '_>, where_silent: bool) -> bool {
    is_done(value, where_silent) && response::is_whole(value.get("done_reason"), &["stop"])
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    openai_chat::read_dialect(root, &DIALECT, room)
}
