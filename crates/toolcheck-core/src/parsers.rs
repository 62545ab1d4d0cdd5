//! What parsers of JSON say of a text that is none, as data with its sources.
//!
//! A client answers a call whose arguments it can't read with such a text, in place of a result. One TOML file a
//! language, compiled in, and read when it is first asked for.

use memchr::memmem;
use serde::Deserialize;

use crate::tables::{PARSERS, Tables};

static ALL: Tables<Parser, { PARSERS.1.len() }> = Tables::new(PARSERS);

/// What stands for anything in a text.
const GAP: &str = "{}";
/// The most bytes of what it stands for.
const LONGEST_GAP: usize = 400;

/// A parser of JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Parser {
    /// The name of its file.
    pub id: String,
    /// Its name in prose.
    pub name: String,
    /// Where the texts stand.
    pub sources: Vec<String>,
    /// When they were looked at.
    pub seen: String,
    /// What it says.
    #[serde(rename = "message")]
    pub messages: Vec<Message>,
}

/// What a parser says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Message {
    /// What is the same each time; `{}` stands for what is not.
    pub text: String,
    /// Whole texts.
    pub examples: Vec<String>,
}

/// The parsers, sorted by their ids.
pub fn all() -> impl Iterator<Item = &'static Parser> {
    ALL.all()
}

/// Whether a text says that JSON cannot be read, anywhere in it.
pub fn is_error(text: &[u8]) -> bool {
    all().flat_map(|parser| &parser.messages).any(|message| message.is_in(text))
}

impl Message {
    /// Whether it is anywhere in a text.
    pub fn is_in(&self, text: &[u8]) -> bool {
        let mut pieces = self.text.split(GAP);
        let first = pieces.next().unwrap_or_default();
        let follows = |at: usize| {
            let mut rest = &text[at..];
            pieces.clone().all(|piece| {
                let near = &rest[..rest.len().min(LONGEST_GAP + piece.len())];
                let found = memmem::find(near, piece.as_bytes());
                rest = &rest[found.map_or(0, |found| found + piece.len())..];
                found.is_some()
            })
        };
        memmem::find_iter(text, first.as_bytes()).any(|at| follows(at + first.len()))
    }
}
