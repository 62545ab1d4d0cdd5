//! What is in results and media, whatever format they are written in.

use std::borrow::Cow;

use toolcheck_json::{Document, Kind, Value};

use super::canonical;
use crate::ir::Place;

/// The keys with which formats that take only objects wrap the output of a tool.
const WRAPPERS: [&str; 6] = ["output", "result", "content", "error", "text", "response"];

/// The keys under which the blocks of a result have their JSON.
const JSON: [&str; 2] = ["json", "data"];

#[derive(Debug, Default)]
pub(super) struct Content<'s> {
    /// Its text, if it is nothing but text.
    pub(super) text: Option<Cow<'s, str>>,
    /// A hash of the text as it is written, or else of the values.
    pub(super) exact: u64,
    /// A hash that is the same for JSON in a text and as a value, with or without a wrapper.
    pub(super) loose: u64,
    /// A hash of the text without whitespace.
    pub(super) words: u64,
    /// The number of characters of its text.
    pub(super) length: usize,
    /// The media in it, each with its identity.
    pub(super) media: Vec<(Place, u64)>,
}

enum Piece<'d, 's> {
    Text(Cow<'s, str>),
    Json(Value<'d, 's>),
    Media(Value<'d, 's>),
}

impl<'s> Content<'s> {
    /// Reads the content of a result; `part` is the whole result, which may hold media beside its content.
    pub(super) fn of(content: Option<Value<'_, 's>>, part: Value<'_, 's>) -> Self {
        let mut pieces = Vec::new();
        if let Some(content) = content {
            add(content, &mut pieces);
        }
        let is_content = |value: Value<'_, '_>| content.is_some_and(|content| content.id() == value.id());
        // They are in the result, or in the only member of a part, which is the result.
        let holders = Some(part).into_iter().chain(part.members()).filter(|holder| !is_content(*holder));
        let beside = holders.filter_map(|holder| holder.get("parts")).next();
        pieces.extend(beside.into_iter().flat_map(Value::elements).map(Piece::Media));
        let mut own = Self::default();
        let mut text = String::new();
        let (mut hashes, mut is_text) = (Vec::new(), true);
        let only_text = match &pieces[..] {
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        };
        for piece in &pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Json(value) => {
                    is_text = false;
                    flush(&mut text, &mut hashes);
                    hashes.push(canonical::of_value(*value));
                    own.length += value.raw().len();
                }
                Piece::Media(value) => own.media.push((Place::of(*value), identity(*value))),
            }
        }
        if is_text {
            let text = only_text.unwrap_or_else(|| Cow::Owned(text.clone()));
            own.exact = canonical::of_string(&text);
            own.words = canonical::of_words(&text);
            own.length = text.chars().count();
            own.text = Some(text);
        }
        flush(&mut text, &mut hashes);
        own.loose = match &hashes[..] {
            [hash] => *hash,
            hashes => canonical::of_all(b'p', hashes),
        };
        if !is_text {
            (own.exact, own.words) = (own.loose, own.loose);
        }
        own
    }

    /// Reads the content of a result in a format whose results are objects or lists: a text may be the JSON of one.
    pub(super) fn of_form(content: Option<Value<'_, 's>>, part: Value<'_, 's>) -> Self {
        let text = content.and_then(Value::as_str);
        let quoted = text.as_deref().filter(|text| text.trim_start().starts_with(['{', '[']));
        let document = quoted.map(|text| Document::read(text.as_bytes()));
        let Some(document) = document.filter(|document| document.faults().is_empty()) else {
            return Self::of(content, part);
        };
        let own = Content::of(Some(document.root()), document.root());
        Self { text: own.text.map(|text| Cow::Owned(text.into_owned())), media: Vec::new(), ..own }
    }

    /// Whether two contents say the same, written as text or as values.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        match (&self.text, &other.text) {
            (Some(_), Some(_)) => self.exact == other.exact,
            _ => self.loose == other.loose,
        }
    }
}

impl Content<'_> {
    pub(super) fn is_said_by(&self, text: &str) -> bool {
        match &self.text {
            Some(own) => own.trim() == text,
            None => self.loose == of_text(text),
        }
    }
}

/// Adds the hash of a run of text, which is that of the JSON in it if it is some.
fn flush(text: &mut String, hashes: &mut Vec<u64>) {
    if !text.is_empty() {
        hashes.push(of_text(text));
        text.clear();
    }
}

fn of_text(text: &str) -> u64 {
    let first = text.trim_start().bytes().next();
    if first == Some(b'{') {
        let document = Document::read(text.as_bytes());
        if document.faults().is_empty() {
            return canonical::of_value(unwrapped(document.root()));
        }
    }
    canonical::of_json_text(text).unwrap_or_else(|| canonical::of_string(text))
}

/// What is in an object with nothing but a wrapper's key.
fn unwrapped<'d, 's>(mut value: Value<'d, 's>) -> Value<'d, 's> {
    loop {
        let mut members = value.members();
        match (members.next(), members.next()) {
            (Some(only), None) if WRAPPERS.iter().any(|key| only.has_key(key)) => value = only,
            _ => return value,
        }
    }
}

fn add<'d, 's>(content: Value<'d, 's>, pieces: &mut Vec<Piece<'d, 's>>) {
    match content.kind() {
        Kind::Array => content.elements().for_each(|block| add_block(block, pieces)),
        Kind::Object if content.has("type") => add_block(content, pieces),
        Kind::Object => {
            let inside = unwrapped(content);
            if inside.id() == content.id() {
                pieces.push(Piece::Json(content));
            } else if inside.is_array() && inside.elements().all(|block| block.has("type")) {
                inside.elements().for_each(|block| add_block(block, pieces));
            } else {
                push(inside, pieces);
            }
        }
        _ => push(content, pieces),
    }
}

fn push<'d, 's>(value: Value<'d, 's>, pieces: &mut Vec<Piece<'d, 's>>) {
    match value.as_str() {
        Some(text) => pieces.push(Piece::Text(text)),
        None if value.is_null() => {}
        None => pieces.push(Piece::Json(value)),
    }
}

fn add_block<'d, 's>(block: Value<'d, 's>, pieces: &mut Vec<Piece<'d, 's>>) {
    // A list in a list of blocks.
    let is_block = |value: Value<'_, '_>| value.get_any(&["type", "text"]).is_some();
    if block.is_array() && block.elements().all(is_block) {
        block.elements().for_each(|block| add_block(block, pieces));
    } else if !block.is_object() {
        push(block, pieces);
    } else if let Some(text) = block.get_str("text") {
        pieces.push(Piece::Text(text));
    } else if let Some(text) = block.get("json").filter(|json| json.is_string()) {
        // JSON that is written as a text.
        push(text, pieces);
    } else if let Some(json) = block.get_any(&JSON).filter(|json| json.is_object() || json.is_array()) {
        push(unwrapped(json), pieces);
    } else if let Some(data) = block.get_in(&["document", "data"]) {
        // A document that is made of text.
        push(unwrapped(data), pieces);
    } else if is_medium(block) {
        pieces.push(Piece::Media(block));
    } else {
        push(unwrapped(block), pieces);
    }
}

/// Whether a block holds an image, a document or something else that is not text.
fn is_medium(block: Value<'_, '_>) -> bool {
    let keys = ["image", "document", "video", "audio", "inlineData", "inline_data", "fileData", "file_data"];
    block.has("type") || block.get_any(&keys).is_some()
}

/// The keys of a medium that say what it is, and not what is in it.
const ABOUT_MEDIA: [&str; 9] = [
    "type",
    "media_type",
    "mediaType",
    "mime_type",
    "mimeType",
    "format",
    "detail",
    "cache_control",
    "prompt_cache_breakpoint",
];

/// What makes a medium the same in every format: its data, or its address. That is its longest text.
pub(super) fn identity(medium: Value<'_, '_>) -> u64 {
    let mut longest: Cow<'_, str> = Cow::Borrowed("");
    let mut open = vec![medium];
    while let Some(value) = open.pop() {
        if let Some(text) = value.as_json_str().filter(|text| text.raw().len() > longest.len())
            && let text = text.decode()
            && text.len() > longest.len()
        {
            longest = text;
        }
        let is_content = |child: &Value<'_, '_>| !ABOUT_MEDIA.iter().any(|key| child.has_key(key));
        open.extend(value.children().filter(is_content));
    }
    let data = longest.strip_prefix("data:").and_then(|url| url.split_once(',')).map(|(_, data)| data);
    canonical::of_bytes(b'i', data.unwrap_or(&longest).as_bytes())
}
