//! Text that is JSON: of the extension type `arrow.json`, at any depth, and of lists and schemas that are stored as text. What
//! a row says does not depend on how it is stored.

use arrow_schema::Field;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::IgnoredAny;

use super::cells::{Cell, Texts};
use crate::text::write_string;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    Text,
    /// A text is the JSON of a value.
    Json,
    /// A row: an object of columns, or a list of messages.
    Row,
    /// A list of objects, which may be one text, or have a text for each object.
    List,
    /// An object, which may be a text.
    Object,
    /// The same of tools.
    Tools,
    /// A tool, or what is around the schema in it; it may be a text.
    Tool,
    /// A schema or a part of one. A text is an object if it is the JSON of one: DuckDB and others do not keep `arrow.json`.
    Schema,
    /// The arguments of a call: only its tool knows whether a key without a value was there with `null`.
    Arguments,
}

/// The columns that hold a list of objects in every format, so that a text in them is the list, stored as text.
const LISTS: [&str; 2] = ["messages", "contents"];
/// The same of tools.
const TOOLS: [&str; 2] = ["tools", "functions"];
/// What a tool may have around its schema.
const AROUND: [&str; 4] = ["function", "functionDeclarations", "function_declarations", "toolSpec"];
const SCHEMAS: [&str; 5] =
    ["parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema"];
/// What has texts or any value in a schema.
const WORDS: [&str; 8] =
    ["$comment", "const", "default", "description", "enum", "example", "examples", "title"];
/// What has the arguments of a call.
const ARGUMENTS: [&str; 3] = ["arguments", "args", "input"];

impl TextEncoding {
    /// What an array with a field says, if it would say `otherwise` without the type of that field.
    pub(crate) fn of(field: &Field, otherwise: Self) -> Self {
        if field.extension_type_name() == Some("arrow.json") { Self::Json } else { otherwise }
    }

    /// Whether texts are no JSON.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::Text | Self::Arguments)
    }

    pub(crate) fn element(self, field: &Field) -> Self {
        let says = match self {
            Self::Row | Self::List => Self::Object,
            Self::Tools | Self::Tool => Self::Tool,
            Self::Schema => Self::Schema,
            Self::Arguments => Self::Arguments,
            Self::Text | Self::Json | Self::Object => Self::Text,
        };
        Self::of(field, says)
    }

    pub(crate) fn member(self, field: &Field) -> Self {
        let name = &**field.name();
        let says = match self {
            Self::Row if LISTS.contains(&name) => Self::List,
            Self::Row if TOOLS.contains(&name) => Self::Tools,
            Self::Tool if AROUND.contains(&name) => Self::Tool,
            Self::Tool if SCHEMAS.contains(&name) => Self::Schema,
            Self::Schema if !WORDS.contains(&name) => Self::Schema,
            Self::Arguments => Self::Arguments,
            Self::Text | Self::Object if ARGUMENTS.contains(&name) => Self::Arguments,
            _ => Self::Text,
        };
        Self::of(field, says)
    }

    pub(crate) fn value(self, field: &Field) -> Self {
        Self::of(field, if matches!(self, Self::Schema | Self::Arguments) { self } else { Self::Text })
    }

    fn json(self, text: &[u8]) -> Option<&[u8]> {
        let text = text.trim_ascii();
        let may_be = match self {
            Self::Json => true,
            Self::List | Self::Tools => text.starts_with(b"["),
            Self::Object | Self::Tool | Self::Schema => text.starts_with(b"{"),
            Self::Text | Self::Row | Self::Arguments => false,
        };
        // What is damaged is written as a text: as it is, it would damage what is around it.
        (may_be && serde_json::from_slice::<IgnoredAny>(text).is_ok()).then_some(text)
    }
}

pub(crate) struct EncodedText<'a> {
    pub(crate) texts: Box<dyn Texts + 'a>,
    pub(crate) says: TextEncoding,
}

impl Cell for EncodedText<'_> {
    fn is_null(&self, row: usize) -> bool {
        match self.texts.text(row) {
            None => true,
            Some(text) => self.says == TextEncoding::Json && text.trim_ascii() == b"null",
        }
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        let text = self.texts.text(row).unwrap_or_default();
        match self.says.json(text) {
            Some(json) => out.extend_from_slice(json),
            None => write_string(text, out),
        }
    }
}

/// Bytes as a text or, where they are none, such as those of an image, in Base64.
pub(crate) struct Bytes<'a>(pub(crate) Box<dyn Texts + 'a>);

impl Cell for Bytes<'_> {
    fn is_null(&self, row: usize) -> bool {
        self.0.text(row).is_none()
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        let bytes = self.0.text(row).unwrap_or_default();
        if std::str::from_utf8(bytes).is_ok() {
            return write_string(bytes, out);
        }
        write_string(BASE64_STANDARD.encode(bytes).as_bytes(), out);
    }
}
