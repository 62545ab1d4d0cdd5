//! Protocols for calls in plain text, one file each.
//!
//! Some agents let the model write its calls into its answer and parse them from there, so the API sees a text and no
//! call. Such calls are not in [`Transcript::parts`]: they are read here, into a separate list, and only if the
//! transcript shows that it uses the protocol. A mention in prose, in a code fence or in the model's reasoning is not a
//! call. Adding a protocol takes a file and two lines here.

mod hermes;
mod xml_tools;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use memchr::memmem::Finder;
use toolcheck_json::{Decoded, Document, JsonStr, NodeId, Value};

pub use crate::ir::Malformation;
use crate::ir::{Body, Message, Part, Place, Role, Text, Transcript};

/// A way to write calls into text.
#[derive(Debug)]
#[non_exhaustive]
pub struct Protocol {
    /// The id.
    pub id: &'static str,
    /// The name in prose.
    pub name: &'static str,
    /// Whether the harness runs one call of a message and drops the others.
    pub is_serial: bool,
    /// Whether the bytes of a text may contain a block. A quick check that allows false positives.
    may_hold: fn(&[u8]) -> bool,
    /// The block that begins at this byte of a text.
    block_at: fn(&str, usize) -> Option<Block>,
    /// Whether a text from the application teaches the model the protocol.
    teaches: fn(&str) -> bool,
    /// Whether the application may teach it in a user message at the start of the conversation.
    is_taught_by_user: bool,
    /// The beginning of a reminder, a user message in which the harness teaches the protocol again.
    reminder: Option<&'static str>,
    /// What a text of the user or a tool answers.
    answers: for<'t> fn(&'t str) -> Answers<'t>,
    /// The beginning of the text that the harness adds when it cuts off the model's message.
    interruption: Option<&'static str>,
}

/// All protocols, by id.
pub static ALL: &[&Protocol] = &[&hermes::PROTOCOL, &xml_tools::PROTOCOL];

/// A block of a protocol, in bytes of its text.
#[derive(Debug)]
struct Block {
    /// The whole block; up to the end of the text if it is never closed.
    whole: Range<usize>,
    opening: Range<usize>,
    /// The tool's name, if there is one.
    name: Option<(String, Range<usize>)>,
    arguments: Vec<(String, Range<usize>)>,
    fault: Option<(Malformation, Range<usize>)>,
}

/// What a text of the user or a tool answers.
#[derive(Debug, Default)]
struct Answers<'t> {
    /// Whether the text begins like an answer.
    is_answer: bool,
    /// The tools whose results it contains, in order, as far as it names them.
    tools: Vec<&'t str>,
    /// Whether it says that a call was not run.
    refuses: bool,
}

/// A call in a text.
#[derive(Debug)]
#[non_exhaustive]
pub struct TextCall {
    /// Its protocol.
    pub protocol: &'static Protocol,
    /// The index of its message in the transcript.
    pub message: u32,
    /// The tool's name.
    pub name: String,
    /// The whole block.
    pub place: Place,
    /// The tool's name in the block.
    pub name_place: Place,
    /// Its arguments.
    pub arguments: Vec<TextArgument>,
    /// The reply of the harness, in a serial protocol.
    pub reply: Reply,
}

/// An argument of a call in a text.
#[derive(Debug)]
pub struct TextArgument {
    /// Its name.
    pub name: String,
    /// Its value.
    pub place: Place,
}

/// What the harness of a serial protocol replies to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// No reply.
    Nothing,
    /// This call, or another call of the same turn, was not run.
    Refusal,
    /// The call's result.
    Result,
}

/// A block that no harness can read as intended.
#[derive(Debug)]
#[non_exhaustive]
pub struct MalformedCall {
    /// Its protocol.
    pub protocol: &'static Protocol,
    /// The index of its message in the transcript.
    pub message: u32,
    /// The tool's name, if there is one.
    pub name: Option<String>,
    /// Its opening tag.
    pub opening: Place,
    /// What is wrong with it.
    pub malformation: Malformation,
    /// Where it is wrong.
    pub place: Place,
}

/// The calls in the texts of a transcript.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TextCalls {
    /// The calls, in the order of the file.
    pub calls: Vec<TextCall>,
    /// The blocks that can't be read, in the order of the file.
    pub malformed: Vec<MalformedCall>,
}

impl TextCalls {
    /// Reads the calls of every protocol that the transcript uses.
    ///
    /// Linear in the texts of the transcript. If nothing looks like a block, each text of the model is searched once
    /// for a bracket, and nothing else is read.
    pub fn read<'s>(document: &Document<'s>, transcript: &Transcript<'s>) -> Self {
        Self::read_spoken(document, transcript, None)
    }

    /// Reads the calls of the protocols in `spoken`, whether or not the transcript shows that it uses them. If `spoken`
    /// is `None`, reads the calls of every protocol that the transcript uses.
    pub fn read_spoken<'s>(
        document: &Document<'s>,
        transcript: &Transcript<'s>,
        spoken: Option<&[&'static Protocol]>,
    ) -> Self {
        let mut read = Self::default();
        let mut candidates: Vec<(u32, Text<'s>)> = Vec::new();
        for (number, (message, parts)) in transcript.messages_with_parts().enumerate() {
            if message.role == Role::Assistant {
                let texts = parts.iter().filter_map(|part| match part.body {
                    Body::Text(text) if has_tag(text.string) => Some((number as u32, text)),
                    _ => None,
                });
                candidates.extend(texts);
            }
        }
        if candidates.is_empty() {
            return read;
        }
        for protocol in spoken.unwrap_or(ALL) {
            let mut found = ProtocolCalls::new(protocol);
            for (number, text) in &candidates {
                found.read_text(*number, *text);
            }
            if found.calls.is_empty() && found.malformed.is_empty() {
                continue;
            }
            let is_answered = found.hear_answers(document, transcript);
            if spoken.is_some() || is_answered || is_taught(document, transcript, protocol) {
                read.calls.append(&mut found.calls);
                read.malformed.append(&mut found.malformed);
            }
        }
        toolcheck_json::sort_by_position(&mut read.calls, |call| call.place.span.start as usize);
        toolcheck_json::sort_by_position(&mut read.malformed, |block| block.opening.span.start as usize);
        read.drop_inner();
        read
    }

    /// Drops blocks inside a call of another protocol: they are part of an argument's text.
    fn drop_inner(&mut self) {
        let mut end = 0;
        self.calls.retain(|call| {
            let is_outer = call.place.span.start >= end;
            end = end.max(call.place.span.end);
            is_outer
        });
        let mut calls = self.calls.iter().peekable();
        self.malformed.retain(|block| {
            let start = block.opening.span.start;
            while calls.next_if(|call| call.place.span.end <= start).is_some() {}
            calls.peek().is_none_or(|call| start < call.place.span.start)
        });
    }
}

/// The calls found for one protocol, before it is known whether the transcript uses it.
struct ProtocolCalls {
    protocol: &'static Protocol,
    calls: Vec<TextCall>,
    malformed: Vec<MalformedCall>,
    /// The messages that the harness cut off, in order.
    cut_off: Vec<u32>,
}

impl ProtocolCalls {
    fn new(protocol: &'static Protocol) -> Self {
        Self { protocol, calls: Vec::new(), malformed: Vec::new(), cut_off: Vec::new() }
    }

    fn read_text(&mut self, message: u32, text: Text<'_>) {
        let protocol = self.protocol;
        if !may_hold(protocol, text.string) {
            return;
        }
        let text = Source::new(text);
        let cut_off = protocol.interruption.and_then(|mark| text.decoded.text().rfind(mark));
        if cut_off.is_some() {
            self.cut_off.push(message);
        }
        for block in blocks(protocol, text.decoded.text()) {
            if let Some((malformation, at)) = block.fault {
                // If the harness cut the message off, the model is not at fault.
                if malformation.is_open() && cut_off.is_some_and(|mark| mark >= block.opening.end) {
                    continue;
                }
                self.malformed.push(MalformedCall {
                    protocol,
                    message,
                    name: block.name.map(|(name, _)| name),
                    opening: text.place(block.opening),
                    malformation,
                    place: text.place(at),
                });
            } else if let Some((name, name_at)) = block.name {
                let arguments = block.arguments.into_iter();
                self.calls.push(TextCall {
                    protocol,
                    message,
                    name,
                    place: text.place(block.whole),
                    name_place: text.place(name_at),
                    arguments: arguments
                        .map(|(name, at)| TextArgument { name, place: text.place(at) })
                        .collect(),
                    reply: Reply::Nothing,
                });
            }
        }
    }

    /// Reads what follows each turn of the model with blocks, and records the replies to its calls. Returns whether any
    /// turn is answered in the protocol's own form.
    fn hear_answers(&mut self, document: &Document<'_>, transcript: &Transcript<'_>) -> bool {
        let mut is_answered = false;
        let (mut calls, mut malformed) = (&mut self.calls[..], &self.malformed[..]);
        let is_of = |message: &Message<'_>| message.role == Role::Assistant;
        let mut number = 0;
        while number < transcript.messages.len() && !(calls.is_empty() && malformed.is_empty()) {
            let turn_length =
                transcript.messages[number..].iter().take_while(|message| is_of(message)).count();
            let turn_end = number + turn_length;
            let reply_length =
                transcript.messages[turn_end..].iter().take_while(|message| !is_of(message)).count();
            number = turn_end + reply_length;
            let before = |message: u32| (message as usize) < turn_end;
            let (own, rest) = calls.split_at_mut(calls.partition_point(|call| before(call.message)));
            calls = rest;
            let (own_malformed, rest) =
                malformed.split_at(malformed.partition_point(|block| before(block.message)));
            malformed = rest;
            if own.is_empty() && own_malformed.is_empty() {
                continue;
            }
            let names = own.iter().map(|call| call.name.as_str());
            let names: HashSet<&str> =
                names.chain(own_malformed.iter().filter_map(|block| block.name.as_deref())).collect();
            let mut results: HashMap<String, usize> = HashMap::default();
            let mut is_refused = false;
            let has_calls = || {
                let turn = &transcript.messages[turn_end - turn_length..turn_end];
                let mut parts = turn.iter().flat_map(|message| transcript.parts_of(message));
                parts.any(|part| matches!(part.body, Body::Call(_)))
            };
            for message in &transcript.messages[turn_end..number] {
                // A tool message without a call id answers the turn before it. Data sets whose template writes the tags
                // contain messages like that.
                let names_no_call =
                    |part: &Part<'_>| matches!(&part.body, Body::Result(result) if result.call_id.is_none());
                is_answered |= message.role == Role::Tool
                    && transcript.parts_of(message).iter().any(names_no_call)
                    && !has_calls();
                visit_texts(document, transcript, message, &mut |text| {
                    let answers = (self.protocol.answers)(&text);
                    // A quoted log answers other calls than those of the turn before it.
                    let is_of_turn = answers.tools.first().is_none_or(|tool| names.contains(tool));
                    is_answered |= answers.is_answer && is_of_turn;
                    is_refused |= answers.refuses;
                    for tool in answers.tools {
                        *results.entry(tool.to_owned()).or_default() += 1;
                    }
                });
            }
            for call in own {
                let is_cut_off = self.cut_off.binary_search(&call.message).is_ok();
                call.reply = match results.get_mut(&call.name).filter(|count| **count > 0) {
                    Some(count) => {
                        *count -= 1;
                        Reply::Result
                    }
                    None if is_refused || is_cut_off => Reply::Refusal,
                    None => Reply::Nothing,
                };
            }
        }
        is_answered
    }
}

/// Whether the application teaches the model the protocol: in its own texts, in those at the start of the conversation,
/// or in a reminder.
fn is_taught(document: &Document<'_>, transcript: &Transcript<'_>, protocol: &Protocol) -> bool {
    let mut is_taught = false;
    if let Some(place) = transcript.request.instructions {
        visit_strings(document.value(place.node), &mut |text| is_taught |= (protocol.teaches)(&text));
    }
    let mut is_opening = true;
    for message in &transcript.messages {
        is_opening &= message.role != Role::Assistant;
        let is_of_application = message.role == Role::System
            || is_opening && message.role == Role::User && protocol.is_taught_by_user;
        let is_reminder =
            |text: &str| protocol.reminder.is_some_and(|beginning| text.trim_start().starts_with(beginning));
        if is_of_application || message.role == Role::User && protocol.reminder.is_some() {
            visit_texts(document, transcript, message, &mut |text| {
                is_taught |= (is_of_application || is_reminder(&text)) && (protocol.teaches)(&text);
            });
        }
    }
    is_taught
}

/// Calls `hear` with the texts of a message and of the results in it.
fn visit_texts(
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    message: &Message<'_>,
    hear: &mut dyn FnMut(Cow<'_, str>),
) {
    for part in transcript.parts_of(message) {
        match &part.body {
            Body::Text(text) => hear(text.string.decode()),
            Body::Result(result) => {
                if let Some(place) = result.content_place {
                    visit_strings(document.value(place.node), hear);
                }
            }
            _ => {}
        }
    }
}

/// Calls `hear` with the strings inside a value, in the order of the file.
fn visit_strings(value: Value<'_, '_>, hear: &mut dyn FnMut(Cow<'_, str>)) {
    // An explicit stack instead of recursion, because the file decides the depth.
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Some(text) = value.as_str() {
            hear(text);
        }
        let first = open.len();
        open.extend(value.children());
        open[first..].reverse();
    }
}

/// Whether a string may contain a tag of any protocol. Most strings do not.
fn has_tag(string: JsonStr<'_>) -> bool {
    memchr::memchr(b'<', string.raw()).is_some() || has_escaped_bracket(string)
}

/// Whether a string may contain a block. Only then is it decoded.
fn may_hold(protocol: &Protocol, string: JsonStr<'_>) -> bool {
    (protocol.may_hold)(string.raw()) || has_escaped_bracket(string)
}

/// Whether the bracket of a tag is escaped, as several serializers do for HTML. What follows may then be escaped too.
fn has_escaped_bracket(string: JsonStr<'_>) -> bool {
    static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u003"));
    let raw = string.raw();
    string.is_escaped() && ESCAPE.find_iter(raw).any(|at| matches!(raw.get(at + 5), Some(b'c' | b'C')))
}

/// The blocks of a text: those at the beginning of a line or right after another block. Blocks in a code fence or in
/// the model's reasoning are examples and are skipped.
fn blocks(protocol: &Protocol, text: &str) -> Vec<Block> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    // The mark that the code fence opened with.
    let mut fence: Option<(u8, usize)> = None;
    let (mut at, mut line_end) = (0, 0);
    while at < bytes.len() {
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        // Many blocks may be on one line, so its end is searched for only once.
        if at >= line_end {
            line_end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length + 1);
        }
        let line = &bytes[at..line_end];
        let mark = line.first().copied().filter(|mark| matches!(mark, b'`' | b'~'));
        let width = mark.map_or(0, |mark| line.iter().take_while(|byte| **byte == mark).count());
        if let Some((open, open_width)) = fence {
            let is_end = mark == Some(open) && width >= open_width && line[width..].trim_ascii().is_empty();
            if is_end {
                fence = None;
            }
        } else if let Some(mark) = mark.filter(|_| width >= 3) {
            // Text between backticks on one line is a code span and does not open a fence.
            if mark == b'~' || memchr::memchr(b'`', &line[width..]).is_none() {
                fence = Some((mark, width));
            }
        } else if let Some(closing) = reasoning_end(line) {
            let length = memchr::memmem::find(&bytes[at..], closing);
            at = length.map_or(bytes.len(), |length| at + length + closing.len());
            continue;
        } else if line.first() == Some(&b'<')
            && let Some(block) = (protocol.block_at)(text, at)
        {
            at = block.whole.end.max(at + 1);
            found.push(block);
            continue;
        }
        at = line_end;
    }
    found
}

/// The tag that ends the reasoning that begins with this line.
fn reasoning_end(line: &[u8]) -> Option<&'static [u8]> {
    const TAGS: [(&[u8], &[u8]); 2] = [(b"<think>", b"</think>"), (b"<thinking>", b"</thinking>")];
    TAGS.iter().find(|(opening, _)| line.starts_with(opening)).map(|(_, closing)| *closing)
}

fn up_to(text: &str, from: usize, mark: &str) -> Option<Range<usize>> {
    let length = memchr::memmem::find(&text.as_bytes()[from..], mark.as_bytes())?;
    Some(from..from + length)
}

/// A part of a range without the whitespace around it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}

/// A text whose ranges can be mapped back to the file.
struct Source<'s> {
    decoded: Decoded<'s>,
    node: NodeId,
}

impl<'s> Source<'s> {
    fn new(text: Text<'s>) -> Self {
        Self { decoded: Decoded::new(text.string, text.place.span.start), node: text.place.node }
    }

    /// The place in the file of a range of the text.
    fn place(&self, range: Range<usize>) -> Place {
        Place { node: self.node, span: self.decoded.span_of(range) }
    }
}
