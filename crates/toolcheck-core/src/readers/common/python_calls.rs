//! Calls as Python writes them: `tide(port="Oban", day=None)`, on lines of their own or in a list.

use std::ops::Range;

use toolcheck_json::{Document, Value};

use super::tagged::MappedText;
use super::{literal, parts};
use crate::ir::{Body, Named, Place, ToolKind, Transcript, UnpairedReason};

/// A call in a text.
pub(crate) struct PythonCall {
    pub(crate) name: Range<usize>,
    pub(crate) whole: Range<usize>,
    /// The arguments as JSON; `None` if one of them has no name, or is no literal.
    pub(crate) arguments: Option<String>,
}

/// The calls of a text that is nothing else; none, if it is anything else.
pub(crate) fn read(text: &str) -> Vec<PythonCall> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let rest =
            text[at..].trim_start_matches(|letter: char| letter.is_whitespace() || "[],;".contains(letter));
        let start = text.len() - rest.len();
        if rest.is_empty() {
            return found;
        }
        // ToolACE has names of several words, in a list.
        let is_listed = text.starts_with('[') && !rest.starts_with(' ');
        let is_in_name = |byte: &u8| is_of_name(*byte) || is_listed && matches!(byte, b' ' | b'/');
        let name = rest.bytes().take_while(is_in_name).count();
        let inside = rest[name..].strip_prefix('(').filter(|_| name > 0);
        let Some((given, length)) = inside.and_then(given) else { return Vec::new() };
        at = start + name + 1 + length;
        found.push(PythonCall { name: start..start + name, whole: start..at, arguments: json_of(&given) });
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

/// What is given to a call, of the text after its bracket, and the length up to the bracket that closes it.
fn given(text: &str) -> Option<(Vec<&str>, usize)> {
    let (mut given, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => _ = bytes.next(),
            (Some(end), _) => quote = quote.filter(|_| byte != end),
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b',' | b')') if depth == 0 => {
                given.push(text[start..at].trim());
                start = at + 1;
                if byte == b')' {
                    given.retain(|one| !one.is_empty());
                    return Some((given, start));
                }
            }
            (None, b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn json_of(given: &[&str]) -> Option<String> {
    let is_json = |text: &str| Document::read(text.as_bytes()).faults().is_empty();
    let member = |one: &&str| {
        let (name, value) = one.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let json = if is_json(value) { value.to_owned() } else { literal::json_of(value)? };
        (name.bytes().all(is_of_name) && is_json(&json)).then(|| format!("\"{name}\": {json}"))
    };
    let members: Vec<String> = given.iter().map(member).collect::<Option<_>>()?;
    Some(format!("{{{}}}", members.join(", ")))
}

/// Whether a text is calls in a list of Python and nothing else, as ToolACE's rows have them (Team-ACE/ToolACE).
pub(crate) fn is_list(text: Value<'_, '_>) -> bool {
    let said = text.as_json_str().filter(|text| text.may_begin_with(b"[")).map(|text| text.decode());
    said.is_some_and(|said| {
        let calls = read(said.trim());
        said.trim().ends_with(")]") && !calls.is_empty() && calls.iter().all(|call| call.arguments.is_some())
    })
}

/// What each call of a list returned, in the text of a list: `[{"name": …, "results": …}]` (Team-ACE/ToolACE).
pub(crate) fn results<'s>(said: &MappedText<'_, 's>) -> Vec<(Named<'s>, Place)> {
    let document = Document::read(said.text().as_bytes());
    let result = |one: Value<'_, '_>| {
        one.get("results")?;
        let text = one.get_str("name")?.into_owned().into();
        let place = said.place(one.span().range());
        Some((Named { text, place, instead: None }, place))
    };
    document.root().elements().map(result).collect::<Option<_>>().unwrap_or_default()
}

/// Adds the calls that a text in Python has, or as many as there are answers.
pub(crate) fn add<'s>(transcript: &mut Transcript<'s>, text: Value<'_, 's>, answers: usize) {
    let Some(said) = MappedText::of(text) else { return };
    let found = read(said.text());
    let unread = if found.is_empty() { answers.max(1) } else { 0 };
    let unread = (0..unread).map(|_| (None, 0..said.text().len(), None));
    let found = found.into_iter().map(|call| (Some(call.name), call.whole, call.arguments));
    for (number, (name, whole, arguments)) in found.chain(unread).enumerate() {
        let mut call = parts::call(None, None, None);
        call.name = name.map(|name| {
            let text = said.text()[name.clone()].to_owned().into();
            Named { text, place: said.place(name), instead: None }
        });
        match arguments {
            Some(json) => _ = transcript.details.streamed_arguments.insert(transcript.parts.len(), json),
            None => call.kind = ToolKind::Custom,
        }
        // One text may have what all of them returned.
        call.unpaired = (number > 0 && answers == 1).then_some(UnpairedReason::Elsewhere);
        transcript.part(text, Body::Call(call));
        if let Some(part) = transcript.parts.last_mut() {
            part.place = said.place(whole);
        }
    }
}
