//! Logs that have the messages of a protocol in their lines: after the time and the name of a server, as hosts of MCP
//! write them, as server-sent events, or in strings of records.

use std::collections::VecDeque;
use std::ops::Range;

use toolcheck_core::readers::{self, Reader};
use toolcheck_json::origins::Mapped;
use toolcheck_json::{Document, Value};

use super::{Container, HEAD, START, head_has, lines, request_log};
use crate::exchanges::Maker;
use crate::needs::Needs;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "protocol-log", name: "log of a protocol", needs: Needs::Nothing, sniff, read };

const WORDS: [&[u8]; 11] = [
    b"jsonrpc",
    b"RUN_STARTED",
    b"TOOL_CALL_",
    b"TEXT_MESSAGE_",
    b"sessionUpdate",
    b"conversation.item.",
    b"input_audio_buffer.",
    b"functionCalls",
    b"serverContent",
    b"function_calls",
    b"server_content",
];

/// The messages of which one tells the protocol.
const LOOKED_AT: usize = 16;
/// The braces of a line at which a message may begin.
const BRACES: usize = 4;
/// The lines before one that it may repeat: some hosts write each twice.
const REPEATED: usize = 4;

fn sniff(bytes: &[u8]) -> bool {
    reader(bytes).is_some()
}

/// What records have that keep messages in strings.
const IN_TEXT: &[u8] = br#"{\""#;
/// How such a string begins, beside a type: a call's arguments have other keys.
const BEGINNINGS: [&[u8]; 4] = [br"jsonrpc\", br#"{\"server"#, br#"{\"setup"#, br#"{\"tool"#];

/// Whether a string begins with the type of an event, which has a dot or capital letters: a tool has other types.
fn has_type_of_event(text: &[u8]) -> bool {
    const KEY: &[u8] = br#"{\"type\""#;
    memchr::memmem::find_iter(text, KEY).any(|at| {
        let rest = text[at + KEY.len()..].iter().skip_while(|byte| !byte.is_ascii_alphabetic());
        rest.take_while(|byte| **byte != b'\\').any(|byte| *byte == b'.' || byte.is_ascii_uppercase())
    })
}

/// The protocol of a log, by its start. Every file is looked at, so that a word comes first.
fn reader(bytes: &[u8]) -> Option<&'static Reader> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace())?;
    let has = |word: &[u8]| memchr::memmem::find(head, word).is_some();
    let may_be = match first {
        b'{' => {
            let start = &head[..head.len().min(START)];
            (BEGINNINGS.iter().any(|text| head_has(start, text)) || has_type_of_event(start))
                && WORDS.iter().any(|word| has(word))
        }
        // JSON is read as it is.
        b'"' | 0 => false,
        b'[' if Document::read(head).root().elements().next().is_some_and(Value::is_object) => false,
        _ => WORDS.iter().any(|word| has(word)),
    };
    if !may_be {
        return None;
    }
    let messages = lines(head).flat_map(|line| messages(line, 0, *first == b'{'));
    let messages = messages.filter(|message| is_whole(message.text()));
    messages.take(LOOKED_AT).find_map(|message| {
        let document = Document::read(message.text());
        readers::of_protocol(document.root())
    })
}

/// What else a record has that keeps messages in strings.
const BESIDE: [&str; 6] = ["direction", "stream", "time", "timestamp", "ts", "@timestamp"];

/// The messages in a line that starts at a byte of the file: in the strings of a record, or else one that other things may
/// stand before.
fn messages(line: &[u8], start: usize, in_text: bool) -> Vec<Mapped> {
    let mut found = Vec::new();
    if line.starts_with(b"{") && memchr::memmem::find(line, IN_TEXT).is_some() {
        let document = Document::read(line);
        let is_record = document.root().get_any(&BESIDE).is_some();
        for member in document.root().members().filter(|member| is_record && member.is_string()) {
            let is_message = memchr::memmem::find(member.raw(), IN_TEXT).is_some();
            if let Some(text) = request_log::text(line, 0, member).ok().filter(|_| is_message)
                && let Some(place) = message(text.text())
            {
                let mut message = Mapped::default();
                message.push_part(&text, place);
                found.push(message.through(&Mapped::same(line, start)));
            }
        }
    }
    if found.is_empty() && !in_text {
        found.extend(message(line).map(|place| Mapped::same(&line[place.clone()], start + place.start)));
    }
    found
}

fn message(line: &[u8]) -> Option<Range<usize>> {
    let mut broken = None;
    for at in memchr::memchr_iter(b'{', line).take(BRACES) {
        let rest = line[at..].trim_ascii_end();
        if !matches!(rest.get(1), Some(b'"' | b' ' | b'}')) {
            continue;
        }
        let document = Document::read(rest);
        let end = document.root().span().range().end;
        // What follows it is the log's.
        let is_cut = document.faults().iter().any(|fault| {
            !fault.kind.is_in_text() && (fault.opened_at.is_some() || fault.span.range().start < end)
        });
        if !is_cut {
            return Some(at..at + end);
        }
        let is_message = WORDS.iter().any(|word| memchr::memmem::find(rest, word).is_some());
        broken = broken.or(is_message.then_some(at..at + rest.len()));
    }
    broken
}

fn is_whole(message: &[u8]) -> bool {
    Document::read(message).faults().iter().all(|fault| fault.kind.is_in_text())
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let reader = reader(bytes)?;
    let mut maker = Maker::new(bytes.len(), limits);
    let mut before: VecDeque<&[u8]> = VecDeque::new();
    let (mut next, mut number) = (0, 0);
    for line in lines(bytes) {
        let start = next;
        next += line.len() + 1;
        let is_event = line.starts_with(b"data:");
        let mut messages = messages(line, start, false);
        messages.retain(|message| is_event || is_of(reader, message.text()));
        if messages.is_empty() || before.contains(&line) && !is_event {
            continue;
        }
        before.push_back(line);
        if before.len() > REPEATED {
            before.pop_front();
        }
        for message in messages {
            number += 1;
            maker.add_record(format!("message {number}"), &message);
        }
    }
    Some(maker.finish(&CONTAINER, None))
}

/// Whether a message is of the protocol. One that is broken is, because nobody else is told of it.
fn is_of(reader: &Reader, message: &[u8]) -> bool {
    let document = Document::read(message);
    let root = document.root();
    !is_whole(message) || root.has("jsonrpc") || (reader.sniff)(&[root]) > 0
}
