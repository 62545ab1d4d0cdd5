//! What was sent or answered: its text, and its JSON for who asks.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde_json::Value as Json;

/// The body of a request or a response. It is kept as text, which takes a fraction of the memory, and is JSON to who looks
/// into it.
#[derive(Clone, Default)]
pub struct Content {
    /// One JSON value.
    text: Box<str>,
    json: OnceLock<Json>,
}

impl Content {
    /// A value.
    pub fn of(value: &Json) -> Self {
        Self { text: value.to_string().into(), json: OnceLock::new() }
    }

    /// A text that is known to be one JSON value, but for halves of characters.
    pub(crate) fn of_json(text: &str) -> Self {
        Self { text: text.into(), json: OnceLock::new() }
    }

    /// Bytes that are not a request: they are kept as a string.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self::of(&Json::from(String::from_utf8_lossy(bytes).into_owned()))
    }

    /// The text, as it was sent.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a string in it has half a character, which a JSON value of Rust can't hold: it is U+FFFD there.
    pub fn has_half_characters(&self) -> bool {
        // Only an escape can be half a character in a text that is UTF-8.
        self.text.contains("\\u") && serde_json::from_str::<Json>(&self.text).is_err()
    }

    /// The JSON value, which is not kept beside the text if nobody has asked for it before.
    pub(crate) fn json(&self) -> Cow<'_, Json> {
        self.json.get().map_or_else(|| Cow::Owned(read(&self.text)), Cow::Borrowed)
    }

    /// The JSON value.
    pub fn into_json(mut self) -> Json {
        let json = self.json.take();
        json.unwrap_or_else(|| read(&self.text))
    }
}

impl Deref for Content {
    type Target = Json;

    fn deref(&self) -> &Json {
        self.json.get_or_init(|| read(&self.text))
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text || **self == **other
    }
}

impl PartialEq<Json> for Content {
    fn eq(&self, other: &Json) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The JSON of a text, with U+FFFD for halves of characters.
fn read(text: &str) -> Json {
    let read = serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_halves(text)));
    read.unwrap_or_else(|_| Json::from(text))
}

/// A text of JSON with U+FFFD in place of each half of a character, which JavaScript and Python send and a Rust string
/// can't hold.
pub(crate) fn without_halves(text: &str) -> String {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let after = || escape.get(6..).and_then(unit);
        let (length, is_half) = match unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(after(), Some(0xDC00..=0xDFFF)) => (12, false),
            Some(0xD800..=0xDFFF) => (6, true),
            Some(_) => (6, false),
            None => (1 + escape[1..].chars().next().map_or(0, char::len_utf8), false),
        };
        whole.push_str(if is_half { "\\ufffd" } else { &escape[..length] });
        rest = &escape[length..];
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_json_to_who_looks_into_it() {
        let content = Content::of_json("{\"a\": [1],\n \"b\": \"half \\ud83d\"}");
        assert_eq!((&content["a"], &content["b"]), (&json!([1]), &json!("half \u{fffd}")));
        assert!(content.has_half_characters());
        assert!(!Content::of_json("{\"a\": \"\\ud83d\\ude00\"}").has_half_characters());
        assert_eq!(Content::of_bytes(b"\xff{").into_json(), json!("\u{fffd}{"));
        assert_eq!(Content::of(&json!({"a": 1})), Content::of_json("{ \"a\": 1 }"));
    }
}
