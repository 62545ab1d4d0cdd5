//! The body of a request, as an API takes it: one JSON object in UTF-8, and nothing else.
//!
//! This is not the reading of a file: nothing is detected, opened or fixed.

use std::borrow::Cow;
use std::cell::Cell;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use toolcheck_core::RuleId;
use toolcheck_core::text::shown;
use toolcheck_json::{Document, locate};
use toolcheck_open::{Undecoded, decoded};

use crate::content::without_halves;

/// The most values of a body. Each takes memory while it is checked, and a hostile one has many in few bytes.
const MOST_VALUES: usize = 4 << 20;

/// Why a body is not a request, whatever API gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoRequest {
    pub(crate) rule: RuleId,
    pub(crate) message: String,
    pub(crate) status: u16,
}

impl NoRequest {
    fn new(rule: RuleId, message: impl Into<String>, status: u16) -> Self {
        Self { rule, message: message.into(), status }
    }

    fn malformed(message: impl Into<String>) -> Self {
        Self::new(RuleId::MalformedJson, message, 400)
    }
}

/// A body that is larger than what is held of one.
pub(crate) fn too_large(most: usize) -> NoRequest {
    NoRequest::new(
        RuleId::UnrecognisedFormat,
        format!("the body has more than {most} bytes (`--max-body`), so nothing was checked"),
        413,
    )
}

/// A body that is one JSON object; `None` if it is none.
pub(crate) fn json(body: &[u8], encoding: Option<&str>, most: usize) -> Option<Json> {
    let plain = plain(body, encoding, most).ok()?;
    serde_json::from_str(object(&plain).ok()?).ok()
}

/// A body without its `Content-Encoding`, in at most so many bytes.
pub(crate) fn plain<'b>(
    body: &'b [u8],
    encoding: Option<&str>,
    most: usize,
) -> Result<Cow<'b, [u8]>, NoRequest> {
    let Some(encoding) = encoding else { return Ok(Cow::Borrowed(body)) };
    let name = || shown(encoding);
    decoded(body, encoding, most).map(Cow::Owned).map_err(|why| match why {
        Undecoded::TooLarge => NoRequest::new(
            RuleId::UnrecognisedFormat,
            format!("decoded, the body has more than {most} bytes"),
            413,
        ),
        Undecoded::Damaged => NoRequest::new(
            RuleId::UnrecognisedFormat,
            format!("the body is not encoded with `{}`", name()),
            400,
        ),
        _ => {
            let message = format!("the content encoding `{}` is not read, so nothing was checked", name());
            NoRequest::new(RuleId::UnrecognisedFormat, message, 415)
        }
    })
}

/// The text of a body that is one JSON object, as a plain parser of JSON reads it. Halves of characters, which JSON can
/// write, are left to who judges what is in it.
pub(crate) fn object(body: &[u8]) -> Result<&str, NoRequest> {
    let text = std::str::from_utf8(body).map_err(|error| {
        NoRequest::new(
            RuleId::InvalidUtf8,
            format!("byte {} of the body is not UTF-8", error.valid_up_to()),
            400,
        )
    })?;
    if text.trim_ascii().is_empty() {
        return Err(NoRequest::malformed("the body is empty"));
    }
    let left = Cell::new(MOST_VALUES);
    let read = walk(text, &left).or_else(|error| {
        if left.get() == 0 || !text.contains("\\u") {
            return Err(error);
        }
        left.set(MOST_VALUES);
        if walk(&without_halves(text), &left).is_ok() { Ok(()) } else { Err(error) }
    });
    match read {
        Err(_) if left.get() == 0 => {
            let message = format!("the body has more than {MOST_VALUES} values");
            Err(NoRequest::new(RuleId::UnrecognisedFormat, message, 413))
        }
        Err(error) => match syntax_error(text, &error) {
            Some(message) => Err(NoRequest::malformed(message)),
            None => is_object(text),
        },
        Ok(()) => is_object(text),
    }
}

fn is_object(text: &str) -> Result<&str, NoRequest> {
    if text.trim_ascii_start().starts_with('{') {
        return Ok(text);
    }
    Err(NoRequest::new(RuleId::UnrecognisedFormat, "the body is JSON, but not an object", 400))
}

/// What is wrong with a text that `serde_json` does not read, in the words of the linter. `None` if it is JSON all the
/// same: `serde_json` stops at a depth that APIs take.
fn syntax_error(text: &str, error: &serde_json::Error) -> Option<String> {
    if text.bytes().filter(|byte| b",:[{".contains(byte)).count() >= MOST_VALUES {
        return Some(error.to_string());
    }
    let document = Document::read(text.as_bytes());
    let fault = document.faults().iter().find(|fault| !fault.kind.is_in_text());
    let Some(fault) = fault else {
        let is_only_deep = error.to_string().starts_with("recursion limit exceeded");
        return (!is_only_deep).then(|| error.to_string());
    };
    let place = locate(text.as_bytes(), &[fault.span.start as usize]).pop()?;
    Some(format!("line {}, column {}: {}", place.line, place.column, fault.kind.describe()))
}

/// Reads a text as `serde_json` reads a value, without keeping it.
fn walk(text: &str, left: &Cell<usize>) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Walk(left).deserialize(&mut reader)?;
    reader.end()
}

/// A value that is read and not kept, if so many more are allowed.
#[derive(Clone, Copy)]
struct Walk<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0.get().checked_sub(1) {
            None => return Err(D::Error::custom("too many values")),
            Some(left) => self.0.set(left),
        }
        deserializer.deserialize_any(self)
    }
}

macro_rules! nothing {
    ($($visit:ident: $kind:ty),*) => { $(fn $visit<E>(self, _: $kind) -> Result<(), E> { Ok(()) })* };
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    nothing! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn only_an_object_is_a_request() {
        let nested =
            |depth: usize, end: usize| format!("{{\"a\": {}1{}}}", "[".repeat(depth), "]".repeat(end));
        let (deep, open, deepest) = (nested(200, 200), nested(200, 199), nested(20_000, 20_000));
        let many = format!("{{\"a\": [{}1]}}", "1,".repeat(MOST_VALUES));
        for (body, rule, status) in [
            ("", "malformed-json", 400),
            (" \n", "malformed-json", 400),
            ("{\"a\": NaN}", "malformed-json", 400),
            ("{\"a\": 1,}", "malformed-json", 400),
            ("{} {}", "malformed-json", 400),
            ("\u{feff}{}", "malformed-json", 400),
            ("a: 1", "malformed-json", 400),
            (&*open, "malformed-json", 400),
            (&*deepest, "malformed-json", 400),
            ("null", "unrecognised-format", 400),
            ("[{}]", "unrecognised-format", 400),
            ("\"{}\"", "unrecognised-format", 400),
            (&*many, "unrecognised-format", 413),
        ] {
            let found = object(body.as_bytes()).map_err(|why| (why.rule.as_str(), why.status));
            assert_eq!(found, Err((rule, status)), "{:.40}", body);
        }
        assert_eq!(object(b"{\"a\": \"\xff\"}").map_err(|why| why.rule.as_str()), Err("invalid-utf8"));
        assert_eq!(object(b" {\"a\": \"\\ud800\"}\n"), Ok(" {\"a\": \"\\ud800\"}\n"));
        assert_eq!(object(deep.as_bytes()), Ok(&*deep));
        assert!(object(format!("[{deep}]").as_bytes()).is_err());
    }

    proptest! {
        /// What is not JSON to `serde_json` is not a request, but for halves of characters; and any object is one.
        #[test]
        fn a_body_is_a_request_if_it_is_an_object_to_a_plain_parser(
            body in prop_oneof![
                "\\PC{0,40}".prop_map(String::into_bytes),
                "[{}\\[\\]\":,0-9a-f\\\\uNn.eE+ -]{0,24}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..60),
                toolcheck_json_like().prop_map(String::into_bytes),
            ]
        ) {
            let is_object = |read: serde_json::Result<Json>| read.is_ok_and(|value| value.is_object());
            let text = std::str::from_utf8(&body).unwrap_or_default();
            let plain = is_object(serde_json::from_slice(&body));
            let is_fixed = is_object(serde_json::from_str(&without_halves(text)));
            prop_assert_eq!(object(&body).is_ok(), plain || is_fixed);
        }
    }

    /// Texts that are nearly JSON: a value in which one byte is another.
    fn toolcheck_json_like() -> impl Strategy<Value = String> {
        let texts = [
            "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"\\u00e4\\ud83d\\ude00\"}]}",
            "{\"a\": [1e5, -0.5, true, null], \"b\": {\"c\": \"\\n\"}}",
        ];
        (prop::sample::select(texts.to_vec()), any::<prop::sample::Index>(), "[ -~]").prop_map(
            |(text, at, other)| {
                let mut bytes = text.as_bytes().to_vec();
                let at = at.index(bytes.len());
                bytes[at] = other.as_bytes()[0];
                String::from_utf8(bytes).unwrap_or_default()
            },
        )
    }
}
