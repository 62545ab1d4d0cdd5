//! Places in a document, and names with their places.

use std::borrow::Cow;

use toolcheck_json::{NodeId, Span, Value};

/// A place in the document: the value it belongs to, and the bytes to point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The value, which gives the JSON Pointer.
    pub node: NodeId,
    /// The bytes.
    pub span: Span,
}

impl Place {
    /// The place of a whole value.
    pub fn of(value: Value<'_, '_>) -> Self {
        Self { node: value.id(), span: value.span() }
    }

    /// The place of a value's key, or of the value if it has no key.
    pub fn of_key(value: Value<'_, '_>) -> Self {
        Self { node: value.id(), span: value.key_span().unwrap_or(value.span()) }
    }
}

/// A name or an id in the file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<'s> {
    /// The text.
    pub text: Cow<'s, str>,
    /// Its place.
    pub place: Place,
    /// The JSON type if the value is not a string; `text` is then its source text.
    pub instead: Option<Instead>,
}

/// The type of a value that should be a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instead {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// Another number.
    Number,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Instead {
    /// The type of `value`; `None` if it is a string.
    fn of(value: Value<'_, '_>) -> Option<Self> {
        match value.raw().first()? {
            b'"' => None,
            b'[' => Some(Self::Array),
            b'{' => Some(Self::Object),
            b't' | b'f' => Some(Self::Boolean),
            _ if value.raw().iter().any(|byte| b".eE".contains(byte)) => Some(Self::Number),
            _ => Some(Self::Integer),
        }
    }

    /// The type in prose, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    /// The JSON type.
    pub fn json_type(self) -> &'static str {
        match self {
            Self::Boolean => "bool",
            Self::Integer | Self::Number => "number",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Whether it is a scalar, which is short enough to quote in a message.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }
}

impl<'s> Named<'s> {
    /// The text of an id or a name, or `?` if there is none, for a message.
    pub fn text_or_unknown(name: Option<&Self>) -> &str {
        name.map_or("?", |name| &name.text)
    }

    /// The name at `value`; `None` for `null`. For other values than strings, the text is the source text.
    pub fn of(value: Value<'_, 's>) -> Option<Self> {
        if value.is_null() {
            return None;
        }
        let place = Place::of(value);
        if let Some(text) = value.as_str() {
            return Some(Self { text, place, instead: None });
        }
        Some(Self { text: String::from_utf8_lossy(value.raw()), place, instead: Instead::of(value) })
    }
}
