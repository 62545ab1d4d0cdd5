//! Literals of Python in data sets, such as `{'name': 'tide', 'arguments': '{"port": "Oban"}'}`, which is what `str` makes of
//! a dictionary.
//!
//! ms-swift reads the calls in messages of `tool_call` with `json.loads`, and then with `ast.literal_eval` (`_parse_json` in
//! `swift/plugin/agent_template/base.py` of modelscope/ms-swift). The rows of Toucan-1.5M have all calls so.

use std::ops::Range;

use toolcheck_json::origins::Mapped;
use toolcheck_json::{Decoded, Document, Value};

/// A part of a literal, and what JSON has in its place, if that is something else.
struct Piece {
    range: Range<usize>,
    json: Option<String>,
}

/// Whether a string begins as a dictionary or a list of them. JSON never begins so.
pub(crate) fn is_like_one(value: Value<'_, '_>) -> bool {
    let Some(string) = value.as_json_str() else { return false };
    let text = string.raw().trim_ascii_start();
    let text = text.strip_prefix(b"[").map_or(text, <[u8]>::trim_ascii_start);
    let quoted = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    // Several serializers escape it for HTML.
    quoted.is_some_and(|text| text.starts_with(b"'") || text.starts_with(br"\u0027"))
}

/// Whether a string is a literal that says what is wanted.
pub(crate) fn holds(value: Value<'_, '_>, is_wanted: impl Fn(Value<'_, '_>) -> bool) -> bool {
    json(value).is_some_and(|json| {
        let document = Document::read(json.as_bytes());
        document.faults().is_empty() && is_wanted(document.root())
    })
}

/// What a string says as JSON, if it is a literal.
pub(crate) fn json(value: Value<'_, '_>) -> Option<String> {
    json_of(&Some(value).filter(|value| is_like_one(*value))?.as_str()?)
}

pub(crate) fn json_of(text: &str) -> Option<String> {
    let piece = |piece: Piece| piece.json.unwrap_or_else(|| text[piece.range].to_owned());
    Some(pieces(text)?.into_iter().map(piece).collect())
}

/// Writes a string of a document with these bytes: what it says, with JSON instead of a literal.
pub(crate) fn write(mapped: &mut Mapped, document: &[u8], decoded: &Decoded<'_>) {
    let text = decoded.text();
    let push = |mapped: &mut Mapped, range: Range<usize>| {
        let (said, place) = (text[range.clone()].as_bytes(), decoded.span_of(range).range());
        let is_same = document.get(place.clone()) == Some(said);
        if is_same {
            mapped.push_same(said, place.start);
        }
        is_same
    };
    let all = || vec![Piece { range: 0..text.len(), json: None }];
    let is_literal = text.trim_start_matches(['[', '{', ' ']).starts_with('\'');
    let pieces = if is_literal { pieces(text) } else { None };
    for Piece { range, json } in pieces.unwrap_or_else(all) {
        if let Some(json) = json {
            mapped.push_whole(json.as_bytes(), decoded.span_of(range).range());
        } else if !push(mapped, range.clone()) {
            for (at, letter) in text[range.clone()].char_indices() {
                let own = range.start + at..range.start + at + letter.len_utf8();
                if !push(mapped, own.clone()) {
                    mapped.push_whole(text[own.clone()].as_bytes(), decoded.span_of(own).range());
                }
            }
        }
    }
}

/// The parts of a text in which JSON differs from a literal, and those between them; `None` if it is none.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let bytes = text.as_bytes();
    let (mut found, mut same, mut at) = (Vec::new(), 0, 0);
    // The quote that ends the string.
    let mut quote = None;
    while at < bytes.len() {
        let (length, json) = match (quote, bytes[at]) {
            (Some(end), byte) if byte == end => {
                quote = None;
                (1, Some("\"".to_owned()))
            }
            (Some(_), b'\\') => escape(text.get(at + 1..)?)?,
            (Some(_), b'"') => (1, Some("\\\"".to_owned())),
            (Some(_), b'\n' | b'\r') => return None,
            (Some(_), byte @ 0..0x20) => (1, Some(format!("\\u{byte:04x}"))),
            (None, byte @ (b'\'' | b'"')) => {
                quote = Some(byte);
                (1, Some("\"".to_owned()))
            }
            (None, byte) if byte.is_ascii_alphabetic() => word(&text[at..])?,
            (None, b'(' | b')' | b'#') => return None,
            _ => (1, None),
        };
        if json.is_some() {
            found.push(Piece { range: same..at, json: None });
            found.push(Piece { range: at..at + length, json });
            same = at + length;
        }
        at += length;
    }
    found.push(Piece { range: same..bytes.len(), json: None });
    quote.is_none().then_some(found)
}

/// The length of a word outside of strings, and what it is in JSON.
fn word(text: &str) -> Option<(usize, Option<String>)> {
    let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let json = match &text[..length] {
        "None" => "null",
        "True" => "true",
        "False" => "false",
        // The exponent of a number.
        "e" => return Some((1, None)),
        _ => return None,
    };
    Some((length, Some(json.to_owned())))
}

/// The length of an escape, of which the text after the backslash is given, and what it is in JSON.
fn escape(text: &str) -> Option<(usize, Option<String>)> {
    let digits = |count: usize| u32::from_str_radix(text.get(1..=count)?, 16).ok();
    Some(match text.bytes().next()? {
        b'\'' => (2, Some("'".to_owned())),
        b'\\' | b'"' | b'n' | b't' | b'r' | b'b' | b'f' => (2, None),
        b'u' => (6, digits(4).map(|_| None)?),
        b'x' => (4, Some(format!("\\u{:04x}", digits(2)?))),
        b'U' => (10, Some(char::from_u32(digits(8)?).filter(|letter| !letter.is_control())?.to_string())),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python does not read is none.
    #[test]
    fn what_python_writes_becomes_json() {
        let cases: std::collections::BTreeMap<String, Vec<(String, Option<String>)>> =
            serde_json::from_str(include_str!("literal.json")).unwrap();
        for (literal, expected) in cases.into_values().flatten() {
            assert_eq!(json_of(&literal), expected, "{literal}");
            let faults = expected.map_or(0, |expected| Document::read(expected.as_bytes()).faults().len());
            assert_eq!(faults, 0, "{literal}");
        }
    }
}
