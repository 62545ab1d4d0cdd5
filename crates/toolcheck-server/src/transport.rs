//! Messages over two streams of bytes, as the base protocol frames them.

use std::io::{self, BufRead, Read, Write};

use lsp_server::{ErrorCode, Message};
use lsp_types::notification::{Cancel, Notification as _};
use serde_json::Value as Json;

/// The largest message that is read. An editor that sends more than that has lost its way.
const LARGEST: usize = 1 << 30;

#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Message),
    /// A body that is not a message, and why.
    Malformed(ErrorCode, String),
}

/// Reads a message; `None` at the end of the stream.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    let mut body = Vec::new();
    io::copy(&mut input.by_ref().take(length as u64), &mut body)?;
    if body.len() < length {
        return Ok(None);
    }
    Ok(Some(match parse(body) {
        Ok(message) => Incoming::Message(message),
        Err((code, why)) => Incoming::Malformed(code, why),
    }))
}

/// Parses a message. An editor whose text is UTF-16 may send half a character, as VS Code does when half an emoji is
/// pasted. Such a half becomes U+FFFD, which is as long in UTF-16: were the message dropped, the server's text would
/// differ from the editor's from then on, and so would the places of all fixes.
fn parse(mut body: Vec<u8>) -> Result<Message, (ErrorCode, String)> {
    let parsed = serde_json::from_slice(&body).or_else(|error| {
        if replace_lone_surrogates(&mut body) == 0 {
            return Err(error);
        }
        serde_json::from_slice(&body)
    });
    let mut json: Json = parsed.map_err(|error| (ErrorCode::ParseError, error.to_string()))?;
    let method = json["method"].as_str().unwrap_or_default();
    let of_request = if method == Cancel::METHOD { "/params/id" } else { "/id" };
    // Some put an empty id into a notification.
    let is_notice = ["$/", "exit", "initialized"].iter().any(|start| method.starts_with(start))
        || method.contains("/did");
    if let Some(id) = json.pointer_mut(of_request).filter(|id| !(id.is_null() && is_notice))
        && !(id.is_string() || id.as_i64().is_some_and(|id| i32::try_from(id).is_ok()))
    {
        *id = format!("{OTHER_ID}{id}").into();
    }
    serde_json::from_value(json).map_err(|_| {
        let why = "neither a request, a notification nor a response; batches are not supported";
        (ErrorCode::InvalidRequest, why.to_owned())
    })
}

/// What begins an id that the type of ids has no place for, such as one of 53 bits, as long as it is here.
const OTHER_ID: char = '\0';

/// Replaces the escapes of surrogates without their other half by `\ufffd`; returns their number.
fn replace_lone_surrogates(json: &mut [u8]) -> usize {
    let mut replaced = 0;
    let mut at = 0;
    while let Some(next) = json[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        at += match (surrogate(&json[at..]), json.get(at + 6..).and_then(surrogate)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(_), _) => {
                json[at..at + 6].copy_from_slice(br"\ufffd");
                replaced += 1;
                6
            }
            (None, _) => 2,
        };
        at = at.min(json.len());
    }
    replaced
}

/// The surrogate whose escape begins `json`.
fn surrogate(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(br"\u")?.get(..4)?;
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..=0xDFFF).contains(unit))
}

/// Reads the header of a message; returns the length of its body.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let broken = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let mut length = None;
    loop {
        let mut line = Vec::new();
        // A header is short; what is not is none.
        if input.by_ref().take(8192).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            let length = length.ok_or_else(|| broken("a message without a Content-Length"))?;
            return Ok(Some(length));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| broken("a header without a colon"))?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let number = value.trim().parse().ok().filter(|number| *number <= LARGEST);
            length = Some(number.ok_or_else(|| broken("a Content-Length that is not a length"))?);
        }
    }
}

pub(crate) fn write(message: &Message, out: &mut dyn Write) -> io::Result<()> {
    let mut json = serde_json::to_value(message)?;
    json["jsonrpc"] = "2.0".into();
    if let Some(id) = json["id"].as_str().and_then(|id| id.strip_prefix(OTHER_ID)) {
        json["id"] = serde_json::from_str(id)?;
    }
    write_json(&json, out)
}

pub(crate) fn write_json(json: &Json, out: &mut dyn Write) -> io::Result<()> {
    let body = json.to_string();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match read(&mut bytes) {
                Ok(Some(Incoming::Message(Message::Notification(it)))) => all.push(it.method),
                Ok(Some(Incoming::Message(it))) => all.push(format!("{it:?}")),
                Ok(Some(Incoming::Malformed(..))) => all.push("malformed".to_owned()),
                Ok(None) => return all,
                Err(error) => {
                    all.push(error.to_string());
                    return all;
                }
            }
        }
    }

    #[test]
    fn what_is_no_message_does_not_hide_the_next_one() {
        let bytes = b"Content-Length: 3\r\n\r\n{x}Content-Type: x\r\ncontent-length: 30\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";
        assert_eq!(all(bytes), ["malformed", "m"]);
        assert_eq!(all(b"Content-Length: 30\r\n\r\n{"), [""; 0]);
        assert_eq!(all(b"nonsense\n"), ["a header without a colon"]);
        assert_eq!(all(b"\r\n"), ["a message without a Content-Length"]);
        assert_eq!(all(b"Content-Length: 99999999999\r\n\r\n"), ["a Content-Length that is not a length"]);
    }

    #[test]
    fn half_a_character_is_replaced_by_one_as_long() {
        let replaced = |json: &str| {
            let mut json = json.as_bytes().to_vec();
            let number = replace_lone_surrogates(&mut json);
            (String::from_utf8(json).unwrap(), number)
        };
        assert_eq!(replaced(r#""\ud83d""#), (r#""\ufffd""#.to_owned(), 1));
        assert_eq!(replaced(r#""\ud83d\uDE00""#), (r#""\ud83d\uDE00""#.to_owned(), 0));
        assert_eq!(
            replaced(r#""\ude00\ud83d\ud83d\ude00""#),
            (r#""\ufffd\ufffd\ud83d\ude00""#.to_owned(), 2)
        );
        assert_eq!(replaced(r#""\\ud83d\n\u00e9\ud8"#), (r#""\\ud83d\n\u00e9\ud8"#.to_owned(), 0));
        assert_eq!(replaced(r"\"), (r"\".to_owned(), 0));

        let body = r#"{"jsonrpc":"2.0","method":"\ud83d"}"#.as_bytes().to_vec();
        assert!(matches!(parse(body), Ok(Message::Notification(it)) if it.method == "\u{fffd}"));
    }
}
