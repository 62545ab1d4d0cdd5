//! What programs print: values as Python and JavaScript write them, and JSON in the lines of a log.
//!
//! After a 400, people have the output of `print(messages)` or `console.log(body)`, or a line of a log, rather than the body
//! that was sent, or they have the body under a line of text or in a block of Markdown. A file is only one of these if a
//! value in it is a conversation with an LLM.

mod blocks;
mod places;
mod strings;
mod tally;

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_core::{exchange, readers, unsupported};
use toolcheck_json::origins::{Mapped, Opened, Unread};
use toolcheck_json::{Document, Value};

use self::blocks::{Block, Part};
use self::places::Places;
use self::tally::{Tally, Written};
use super::{Container, HEAD};
use crate::Limits;
use crate::container::PRINTED;
use crate::exchanges::Maker;
use crate::literal::{self, Language, Literal};
use crate::needs::Needs;
use crate::reason::Reason;

pub(super) static CONTAINER: Container =
    Container { id: PRINTED, name: "printed value", needs: Needs::Nothing, sniff, read };

/// The largest file that is read: each string of a literal has places of its own.
const LARGEST: usize = 16 << 20;
/// How deep in a value a conversation is looked for.
const DEEPEST: usize = 3;

const WORDS: [&[u8]; 4] = [b"role", b"parts", b"function_call", b"jsonrpc"];

fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    if strings::may_begin(head) {
        return strings::begin(bytes);
    }
    if begins_as_json(head) {
        return false;
    }
    let head = &*without_colours(head);
    // Which of its blocks holds a request is not always seen at its start.
    if blocks::has_one(head) {
        return true;
    }
    if !may_be_printed(head) || !has_word(head) {
        return false;
    }
    let mut is_one = false;
    each(head, 0, None, |_, read| {
        is_one =
            read.is_some_and(|literal| !conversations(Document::read(literal.json.text()).root()).is_empty());
        !is_one
    });
    is_one
}

/// The text up to its first letter or mark that opens nothing, and what follows.
fn opened(head: &[u8]) -> (&[u8], &[u8]) {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let is_open = |byte: &u8| matches!(byte, b'{' | b'[' | b'(') || byte.is_ascii_whitespace();
    head.split_at(head.iter().position(|byte| !is_open(byte)).unwrap_or(head.len()))
}

/// Whether a text begins as JSON does, or is empty: a glance, since every file is looked at.
fn begins_as_json(head: &[u8]) -> bool {
    let (open, rest) = opened(head);
    let has_open = open.iter().any(|byte| matches!(byte, b'{' | b'['));
    match rest.first() {
        None => true,
        Some(b'"' | b'}' | b']' | b'/' | 0) => has_open,
        // A number, as in a pair with a message: the time of a log has no comma behind its first digits.
        Some(b'0'..=b'9') => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let next = rest[digits..].trim_ascii_start().strip_prefix(b",").map(opened);
            has_open && next.is_some_and(|(_, next)| next.first() == Some(&b'"'))
        }
        Some(_) => false,
    }
}

/// A text with spaces in place of what colors it in a terminal.
fn without_colours(text: &[u8]) -> Cow<'_, [u8]> {
    let mut plain = Cow::Borrowed(text);
    for at in memchr::memmem::find_iter(text, b"\x1b[") {
        let is_set = |byte: &&u8| byte.is_ascii_digit() || **byte == b';';
        let end = at + 2 + text[at + 2..].iter().take_while(is_set).count();
        if text.get(end) == Some(&b'm') {
            plain.to_mut()[at..=end].fill(b' ');
        }
    }
    plain
}

fn has_word(text: &[u8]) -> bool {
    WORDS.iter().any(|word| memchr::memmem::find(text, word).is_some())
}

/// Whether a text that does not begin as JSON may begin with a value, or with something before one.
fn may_be_printed(head: &[u8]) -> bool {
    !matches!(opened(head).1.first(), None | Some(b'"' | b'%' | 0))
}

/// Calls `see` with each value in a part of a text that stands where programs print one, and with where one begins that
/// can't be read, until it returns `false`. `block` is the block of Markdown that the part is, if it is one.
fn each(
    text: &[u8],
    start: usize,
    block: Option<&Block>,
    mut see: impl FnMut(usize, Option<&Literal>) -> bool,
) {
    let mut places = Places::new(text, start, block);
    let mut at = start;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = at + found;
        if !places.has(start) {
            at = start + 1;
            continue;
        }
        let goes_on = match literal::read(text, start) {
            Ok(literal) => {
                at = literal.place.end;
                places.is_after(at);
                see(start, Some(&literal))
            }
            Err(failed) => {
                at = failed;
                !(block.is_some() || places.is_next(start)) || see(start, None)
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// A conversation in a value: its place there, and the keys that lead to it.
type FoundConversation = (Range<usize>, String);

/// The conversations in a value: itself, or those below it.
fn conversations(value: Value<'_, '_>) -> Vec<FoundConversation> {
    let mut found = Vec::new();
    find_conversations(value, String::new(), 0, &mut found);
    found
}

fn find_conversations(value: Value<'_, '_>, path: String, depth: usize, found: &mut Vec<FoundConversation>) {
    let is_event = depth == 0 && readers::of_protocol(value).is_some();
    if is_event || is_conversation(value) {
        return found.push((value.span().range(), path));
    }
    // The response of an API ends with calls that nothing has answered yet.
    if depth == DEEPEST || unsupported::is_response(value) {
        return;
    }
    for child in value.children().filter(|child| child.is_object() || child.is_array()) {
        let key = child.key_text().unwrap_or_default();
        let dot = if path.is_empty() || key.is_empty() { "" } else { "." };
        find_conversations(child, format!("{path}{dot}{key}"), depth + 1, found);
    }
}

/// Whether a value is a conversation by itself: a request, a list of messages, or an exchange. Records of other kinds have
/// lists under the same keys, but neither roles nor a model.
fn is_conversation(value: Value<'_, '_>) -> bool {
    let has_messages = || {
        let list = if value.is_array() { Some(value) } else { unsupported::messages_of(value) };
        let says = |message: Value<'_, '_>| message.get_any(&["role", "type", "parts"]).is_some();
        list.is_some_and(|list| list.elements().any(says))
    };
    let has_settings =
        || value.get_any(&["model", "modelId", "agent", "contents", "inferenceConfig"]).is_some();
    unsupported::is_unread_request(value)
        || (has_messages() || has_settings()) && exchange::is_request(value)
        || exchange::exchanges(value).is_some()
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    if bytes.len() > LARGEST {
        return None;
    }
    let mut reading = Reading {
        bytes,
        maker: Maker::new(bytes.len(), limits),
        tally: Tally::default(),
        unread: None,
        unread_count: 0,
    };
    if strings::may_begin(bytes) && reading.strings(bytes) {
        return reading.finish();
    }
    let mut text = without_colours(bytes);
    for part in blocks::parts(bytes) {
        match part {
            Part::Prose(range) => reading.prose(&text[..range.end], range.start),
            Part::Block(block) => {
                if block.is_quoted() {
                    block.unquote(text.to_mut());
                }
                reading.block(&text[..block.content.end], &block);
            }
        }
    }
    reading.finish()
}

struct Reading<'f> {
    bytes: &'f [u8],
    maker: Maker,
    tally: Tally,
    /// The first conversation that can't be read as a whole, and the number of them.
    unread: Option<Unread>,
    unread_count: usize,
}

impl Reading<'_> {
    fn prose(&mut self, text: &[u8], start: usize) {
        let is_last = text.len() == self.bytes.len();
        each(text, start, None, |_, read| {
            // What goes on in a block is not a value.
            if let Some(literal) = read.filter(|literal| is_last || !literal.is_unfinished) {
                self.literal(literal, false);
            }
            true
        });
    }

    /// Reads a block of Markdown, which ends where the text does.
    fn block(&mut self, text: &[u8], block: &Block) {
        let count = |own: &Self| own.tally.count() + own.unread_count;
        let (before, start) = (count(self), block.content.start);
        // In a quotation, the lines of the file have marks before them.
        let is_json = block.is_json && !block.is_quoted();
        let mut failed = Vec::new();
        let mut at = start;
        each(text, start, Some(block), |from, read| {
            match read {
                Some(literal) => {
                    self.encoded(text, at..literal.place.start);
                    at = literal.place.end;
                    let before = count(self);
                    self.literal(literal, is_json);
                    if literal.is_unfinished && count(self) == before {
                        self.unfinished(text, from);
                    }
                }
                None => failed.push(from),
            }
            true
        });
        self.encoded(text, at..text.len());
        // Each is read as far as the next one, so that nothing is read twice.
        let ends = failed.iter().skip(1).copied().chain([text.len()]);
        failed.iter().zip(ends).for_each(|(at, end)| self.invalid(&text[..end], *at));
        if count(self) == before {
            self.maker.leave_out(Reason::NoRequest);
        }
    }

    /// Reads the lines in a part of a block that are strings with a conversation.
    fn encoded(&mut self, text: &[u8], part: Range<usize>) {
        for (at, line) in strings::lines(&text[..part.end], part.start) {
            self.encoded_line(line, at);
        }
    }

    /// Adds the conversation in the string that a line is; whether it is one.
    fn encoded_line(&mut self, line: &[u8], at: usize) -> bool {
        let Some(encoded) = strings::read(line, at) else { return false };
        self.tally.add(Written::Encoded(encoded.times), at);
        self.maker.add_record(String::new(), &encoded.json);
        true
    }

    /// Names a value in a block without an end, which may hold what follows it.
    fn unfinished(&mut self, text: &[u8], start: usize) {
        if has_word(&text[start..]) {
            let what = "a value in a block of Markdown has no end, so what follows it can't be read";
            self.unread_in_block(what.to_owned(), start);
        }
    }

    /// Reads the lines of a text that begins with a string that holds JSON; whether there is a conversation in one. Other
    /// lines are kept as they are, so that they are reported.
    fn strings(&mut self, text: &[u8]) -> bool {
        if !strings::lines(text, 0).any(|(at, line)| strings::read(line, at).is_some()) {
            return false;
        }
        for (at, line) in strings::lines(text, 0) {
            if !self.encoded_line(line, at) {
                self.maker.add_record(String::new(), &Mapped::same(line, at));
            }
        }
        true
    }

    /// Adds the conversations in a value. `is_json` is whether it is said to be JSON.
    fn literal(&mut self, literal: &Literal, is_json: bool) {
        let found = conversations(Document::read(literal.json.text()).root());
        if found.is_empty() {
            return;
        }
        let ends_early = literal.is_unfinished.then_some(literal.place.end);
        if let Some(at) = literal.cut.as_ref().map(|place| place.start).or(ends_early) {
            return self.add_unread(cut(literal.language, at));
        }
        let is_json = is_json && literal.language == Language::Json;
        let own = if is_json { self.with_faults(literal) } else { None };
        let own = own.filter(|own| own.len() == found.len()).unwrap_or_default();
        for (number, (span, path)) in found.into_iter().enumerate() {
            self.tally.add(Written::As(literal.language), literal.place.start);
            let json = match own.get(number) {
                Some(own) => Mapped::same(&self.bytes[own.clone()], own.start),
                None => {
                    let mut json = Mapped::default();
                    json.push_part(&literal.json, span);
                    json
                }
            };
            self.maker.add_record(path, &json);
        }
    }

    /// The conversations in what is said to be JSON, as they are in the file, if there is a fault in it that a literal may
    /// have.
    fn with_faults(&self, literal: &Literal) -> Option<Vec<Range<usize>>> {
        let place = literal.place.clone();
        let document = Document::read(&self.bytes[place.clone()]);
        if document.faults().is_empty() {
            return None;
        }
        let found = conversations(document.root()).into_iter();
        Some(found.map(|(span, _)| span.start + place.start..span.end + place.start).collect())
    }

    /// Names a conversation in a block that is no value of JSON, Python or JavaScript.
    fn invalid(&mut self, text: &[u8], start: usize) {
        let document = Document::read(&text[start..]);
        let fault = document.faults().iter().find(|fault| !fault.kind.is_in_text());
        let Some(fault) = fault.filter(|_| is_conversation(document.root())) else { return };
        let what = format!("a request in a block of Markdown can't be read: {}", fault.kind.describe());
        self.unread_in_block(what, start + fault.span.start as usize);
    }

    fn unread_in_block(&mut self, what: String, at: usize) {
        let advice = Some("correct it, or write the request to a file of its own".to_owned());
        self.add_unread(Unread { what, at, origin: None, advice });
    }

    fn add_unread(&mut self, unread: Unread) {
        self.unread.get_or_insert(unread);
        self.unread_count += 1;
    }

    /// What was read; `None` if there is no conversation.
    fn finish(self) -> Option<Opened> {
        let Self { maker, tally, mut unread, unread_count, .. } = self;
        let notation = tally.notation();
        if notation.is_none() && unread.is_none() {
            return None;
        }
        if let (Some(unread), 2..) = (&mut unread, unread_count) {
            unread.what = format!("{}; {} more are not read either", unread.what, unread_count - 1);
        }
        Some(Opened { notation, unread, ..maker.finish(&CONTAINER, None) })
    }
}

/// What is said of a value of which the program has left something out.
fn cut(language: Language, at: usize) -> Unread {
    let (what, advice) = match language {
        Language::JavaScript => (
            "a printed value is cut off here: what `console.log` left out can't be checked",
            "print it with `JSON.stringify(value, null, 2)`",
        ),
        _ => (
            "a printed value is cut off here: what was left out can't be checked",
            "print the whole of it, with `json.dumps(value, indent=2)`",
        ),
    };
    Unread { what: what.to_owned(), at, origin: None, advice: Some(advice.to_owned()) }
}
