//! What programs print: values as Python and JavaScript write them, and JSON in the lines of a log.
//!
//! After a 400, people have the output of `print(messages)` or `console.log(body)`, or a line of a log, rather than the body
//! that was sent, or they have the body under a line of text or in a block of Markdown. A file is only one of these if a
//! value in it is a conversation with an LLM.

use toolcheck_core::{exchange, unsupported};
use toolcheck_json::origins::{Mapped, Notation, Unread};
use toolcheck_json::{Document, Value};

use super::{Container, HEAD};
use crate::container::PRINTED;
use crate::exchanges::Maker;
use crate::literal::{self, Language, Literal};
use crate::needs::Needs;
use crate::tree::json_text;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: PRINTED, name: "printed value", needs: Needs::Nothing, sniff, read };

/// The largest file that is read: each string of a literal has places of its own.
const LARGEST: usize = 16 << 20;
/// How much of the text before a value is looked at.
const LONGEST_PREFIX: usize = 400;
/// The longest mark of a reference, and the white space around it.
const LONGEST_REFERENCE: usize = 24;
/// How deep in a value a conversation is looked for.
const DEEPEST: usize = 3;
/// How many values of an object or list are looked at.
const VALUES_LOOKED_AT: usize = 32;

/// Words of which a conversation has one.
const WORDS: [&[u8]; 3] = [b"role", b"parts", b"function_call"];

fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    if is_in_string(head) {
        return quoted(bytes).is_some();
    }
    if !may_be_printed(head) || !WORDS.iter().any(|word| memchr::memmem::find(head, word).is_some()) {
        return false;
    }
    let mut is_one = false;
    each(head, |literal| {
        is_one = with_conversation(literal, |_, _| ()).is_some();
        !is_one
    });
    is_one
}

/// Whether a text may begin with a value that is not JSON, or with something before one: a glance, since every file is
/// looked at.
fn may_be_printed(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let is_open = |byte: &u8| matches!(byte, b'{' | b'[' | b'(') || byte.is_ascii_whitespace();
    let Some(at) = head.iter().position(|byte| !is_open(byte)) else { return false };
    let has_open = head[..at].iter().any(|byte| matches!(byte, b'{' | b'['));
    // JSON goes on like this.
    !(has_open && matches!(head[at], b'"' | b'}' | b']' | b'/' | 0) || matches!(head[at], b'"' | b'%' | 0))
        && head[..at].last() != Some(&b'/')
}

/// Whether a text may be a body that was encoded twice: JSON in a string. A glance, as above.
fn is_in_string(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    head.starts_with(b"\"{")
}

/// The request that is in a string, if that is all of a text.
fn quoted(bytes: &[u8]) -> Option<Mapped> {
    if bytes.len() > LARGEST {
        return None;
    }
    let document = Document::read(bytes);
    let root = document.root();
    let span = root.span().range();
    let is_all = document.faults().is_empty() && bytes.get(span.end..)?.trim_ascii().is_empty();
    let inner = json_text(bytes, &span, &root.as_str().filter(|_| is_all)?);
    let is_request = {
        let document = Document::read(inner.text());
        document.root().is_object() && is_conversation(document.root())
    };
    is_request.then_some(inner)
}

/// Calls `see` with each value in a text that stands where programs print one, until it returns `false`.
fn each(bytes: &[u8], mut see: impl FnMut(&Literal) -> bool) {
    // `end` is where the last value ended.
    let (mut at, mut end) = (0, 0);
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = at + found;
        if !is_place(bytes, start, end) {
            at = start + 1;
            continue;
        }
        match literal::read(bytes, start) {
            Ok(literal) => {
                (at, end) = (literal.place.end, literal.place.end);
                if !see(&literal) {
                    return;
                }
            }
            Err(failed) => at = failed,
        }
    }
}

/// Whether there is nothing between two values but what a list of them has.
fn is_filler(between: &[u8]) -> bool {
    between.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b')'))
}

/// Whether a program may have printed a value at a place: at the beginning of the text or after another value, behind a
/// name and a colon or an equals sign, or in a line of a log. Anywhere else it may be an example in a text that people
/// read.
fn is_place(bytes: &[u8], start: usize, end: usize) -> bool {
    let between = &bytes[end..start];
    // `<ref *1> {` is how Node.js begins an object that holds itself.
    if is_filler(between) || between.trim_ascii().starts_with(b"<ref *") && between.len() <= LONGEST_REFERENCE
    {
        return true;
    }
    let window = &bytes[start.saturating_sub(LONGEST_PREFIX)..start];
    let line = |text: &'_ [u8]| text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let prefix = &window[line(window)..];
    if prefix.trim_ascii().is_empty() {
        let above = window.trim_ascii_end();
        let above = &above[line(above)..];
        return is_introduction(above) && (is_of_log(above) || is_assignment(above))
            || end == 0 && prefix.is_empty() && is_pasted(&bytes[..start]);
    }
    let is_first_line = bytes[..start].trim_ascii_start().len() <= prefix.trim_ascii_start().len();
    let is_separate = is_introduction(prefix) || prefix.ends_with(b" ") || prefix.ends_with(b"\t");
    let is_plain = || !prefix.iter().any(|byte| matches!(byte, b'{' | b'\'' | b'"'));
    is_first_line && is_introduction(prefix) && is_plain()
        || is_separate && is_of_log(prefix)
        || is_assignment(prefix)
}

/// Whether a text before a value is no more than a line that introduces it, the beginning of a block of Markdown, or both.
fn is_pasted(before: &[u8]) -> bool {
    if before.len() > LONGEST_PREFIX {
        return false;
    }
    let before = before.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(before);
    let lines = before.strip_suffix(b"\n").unwrap_or(before);
    let at = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let is_block = lines[at..].starts_with(b"```");
    let text = if is_block { lines[..at].trim_ascii() } else { lines.trim_ascii_start() };
    let is_line = is_introduction(text) && !text.trim_ascii_end().contains(&b'\n');
    is_block && text.is_empty() || is_line && (is_block || !text.ends_with(b"\n"))
}

/// Whether a value follows what a line says.
fn is_introduction(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b":") || line.ends_with(b"=") || line.ends_with(b"(")
}

/// Whether a line is one of a log: it begins with a time, or names a level.
fn is_of_log(line: &[u8]) -> bool {
    const LEVELS: [&[u8]; 7] = [b"DEBUG", b"INFO", b"WARN", b"ERROR", b"TRACE", b"CRITICAL", b"FATAL"];
    let line = line.trim_ascii_start();
    let time = line.strip_prefix(b"[").unwrap_or(line);
    let is_time = time.len() > 4 && time[..4].iter().filter(|byte| byte.is_ascii_digit()).count() >= 2;
    is_time && time[0].is_ascii_digit()
        || LEVELS.iter().any(|level| memchr::memmem::find(line, level).is_some())
}

/// Whether a line begins with a name and an equals sign or a colon.
fn is_assignment(prefix: &[u8]) -> bool {
    let prefix = prefix.trim_ascii();
    let is_name = |name: &[u8]| {
        !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let name = prefix.strip_suffix(b"=").or_else(|| prefix.strip_suffix(b":"));
    name.is_some_and(|name| is_name(name.trim_ascii_end()))
}

/// Calls `with` with the conversation in a value and the keys that lead to it.
fn with_conversation<R>(literal: &Literal, with: impl FnOnce(Value<'_, '_>, &str) -> R) -> Option<R> {
    let document = Document::read(literal.json.text());
    let (value, path) = conversation(document.root(), String::new(), 0)?;
    Some(with(value, &path))
}

/// The conversation in a value: itself, or one below it, with its path.
fn conversation<'d, 's>(value: Value<'d, 's>, path: String, depth: usize) -> Option<(Value<'d, 's>, String)> {
    if is_conversation(value) {
        return Some((value, path));
    }
    if depth == DEEPEST {
        return None;
    }
    value.children().take(VALUES_LOOKED_AT).filter(|child| child.is_object() || child.is_array()).find_map(
        |child| {
            let key = child.key_text().unwrap_or_default();
            let dot = if path.is_empty() || key.is_empty() { "" } else { "." };
            conversation(child, format!("{path}{dot}{key}"), depth + 1)
        },
    )
}

fn is_conversation(value: Value<'_, '_>) -> bool {
    let has_messages = || {
        let list = if value.is_array() { Some(value) } else { unsupported::messages_of(value) };
        let says = |message: Value<'_, '_>| message.get_any(&["role", "type"]).is_some();
        list.is_some_and(|list| list.elements().any(says))
    };
    unsupported::is_unread_request(value) || has_messages() && exchange::is_request(value)
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    if bytes.len() > LARGEST {
        return None;
    }
    let mut maker = Maker::new(bytes.len(), limits);
    if is_in_string(&bytes[..bytes.len().min(HEAD)]) {
        maker.add_record(String::new(), &quoted(bytes)?);
        let mut opened = maker.finish(&CONTAINER, None);
        opened.notation = Some(encoded_twice());
        return Some(opened);
    }
    let (mut first, mut count, mut cut) = (None, 0_usize, None);
    each(bytes, |literal| {
        let found = with_conversation(literal, |value, path| (value.span().range(), path.to_owned()));
        let Some((span, path)) = found else { return true };
        let ends_early = literal.is_unfinished.then_some(literal.place.end);
        if let Some(at) = literal.cut.as_ref().map(|place| place.start).or(ends_early) {
            cut.get_or_insert((at, literal.language));
            return true;
        }
        count += 1;
        first.get_or_insert((literal.place.start, literal.language));
        let mut json = Mapped::default();
        json.push_part(&literal.json, span);
        maker.add_record(path, &json);
        true
    });
    if first.is_none() && cut.is_none() {
        return None;
    }
    let mut opened = maker.finish(&CONTAINER, None);
    opened.notation = first.map(|(at, language)| notation(language, count, at));
    opened.unread = cut.map(|(at, language)| unread(language, at));
    Some(opened)
}

/// How a body is written that is JSON in a string.
fn encoded_twice() -> Notation {
    let what = "a body that was encoded twice: JSON in a string".to_owned();
    Notation { what, at: 0, advice: "only what is in the string was checked: send that" }
}

/// How values were written that were read.
fn notation(language: Language, count: usize, at: usize) -> Notation {
    let (one, several, advice) = match language {
        Language::Json => (
            "JSON with other text around it, such as a line of a log",
            "JSON values with other text around them, such as lines of a log",
            "only that value was checked: write it to a file of its own",
        ),
        Language::Python => (
            "a Python literal, not JSON",
            "Python literals, not JSON",
            "it was read as what `json.dumps` writes: write that to check the very text that is sent",
        ),
        Language::JavaScript => (
            "a JavaScript literal, not JSON",
            "JavaScript literals, not JSON",
            "it was read as what `JSON.stringify` writes: write that to check the very text that is sent",
        ),
    };
    let what = if count == 1 { one.to_owned() } else { format!("{count} {several}") };
    Notation { what, at, advice }
}

/// What is said of a value of which the program has left something out.
fn unread(language: Language, at: usize) -> Unread {
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
