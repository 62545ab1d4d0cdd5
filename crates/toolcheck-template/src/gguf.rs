//! Reads the metadata of GGUF files.

use std::io::{self, Read};

use crate::error::LoadError;

#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) templates: Vec<(String, String)>,
    pub(crate) tokens: Vec<(String, String)>,
}

/// The most bytes of metadata. Large vocabularies with their merges take about 10 MB.
const LONGEST: u64 = 256 << 20;
const LONGEST_TEXT: u64 = 4 << 20;
/// The most bytes of a key or of a token.
const LONGEST_KEY: u64 = 64 << 10;
/// The most bytes of all tokens that are kept.
const LONGEST_VOCABULARY: usize = 64 << 20;
/// The most members, which bounds the time that a file of empty ones takes.
const MOST_MEMBERS: u64 = 1 << 20;

/// The number of bytes of a GGUF file up to the end of its metadata, if all of them are in `prefix`. For a caller that
/// reads a growing prefix and wants to know whether it is enough.
pub fn gguf_metadata_end(prefix: &[u8]) -> Option<u64> {
    let mut reader = Reader { inner: prefix, at: 0, big: false, version: 0 };
    reader.metadata(false).ok()?;
    Some(reader.at)
}

pub(crate) fn metadata(reader: impl Read) -> Result<Metadata, LoadError> {
    Reader { inner: reader, at: 0, big: false, version: 0 }.metadata(true)
}

struct Reader<R> {
    inner: R,
    at: u64,
    big: bool,
    version: u32,
}

type Loaded<T> = Result<T, LoadError>;

fn malformed<T>(what: &'static str) -> Loaded<T> {
    Err(LoadError::Gguf(what))
}

impl<R: Read> Reader<R> {
    fn bytes<const N: usize>(&mut self) -> Loaded<[u8; N]> {
        let mut bytes = [0; N];
        self.count(N as u64)?;
        self.inner.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn count(&mut self, bytes: u64) -> Loaded<()> {
        self.at = self.at.saturating_add(bytes);
        if self.at > LONGEST { malformed("its metadata is too long") } else { Ok(()) }
    }

    fn u32(&mut self) -> Loaded<u32> {
        let bytes = self.bytes()?;
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(&mut self) -> Loaded<u64> {
        let bytes = self.bytes()?;
        Ok(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn skip(&mut self, length: u64) -> Loaded<()> {
        self.count(length)?;
        let skipped = io::copy(&mut self.inner.by_ref().take(length), &mut io::sink()).map_err(failed)?;
        if skipped == length { Ok(()) } else { Err(LoadError::MoreNeeded) }
    }

    /// A text of at most so many bytes; `None` for a longer one, which is skipped. No memory is taken for a length that
    /// the file only claims.
    fn text(&mut self, most: u64) -> Loaded<Option<Vec<u8>>> {
        let length = self.u64()?;
        if length > most {
            self.skip(length)?;
            return Ok(None);
        }
        self.count(length)?;
        let mut text = Vec::new();
        io::copy(&mut self.inner.by_ref().take(length), &mut text).map_err(failed)?;
        if text.len() as u64 == length { Ok(Some(text)) } else { Err(LoadError::MoreNeeded) }
    }

    fn metadata(&mut self, finds_tokens: bool) -> Loaded<Metadata> {
        if self.bytes::<4>()? != *b"GGUF" {
            return malformed("it does not begin with GGUF");
        }
        self.version = self.u32()?;
        if self.version > 0xFFFF {
            self.big = true;
            self.version = self.version.swap_bytes();
        }
        if !matches!(self.version, 2 | 3) {
            return malformed("its version is not 2 or 3");
        }
        self.u64()?;
        let members = self.u64()?;
        if members > MOST_MEMBERS {
            return malformed("it has too many keys");
        }
        let mut found = Metadata::default();
        let mut ids: Vec<(String, u64)> = Vec::new();
        let mut vocabulary = Vocabulary::default();
        for _ in 0..members {
            let key = self.text(LONGEST_KEY)?.unwrap_or_default();
            let key = String::from_utf8_lossy(&key).into_owned();
            let kind = self.u32()?;
            self.member(&key, kind, &mut found, (&mut ids, &mut vocabulary))?;
        }
        if finds_tokens {
            for (name, id) in ids {
                if let Some(text) = vocabulary.get(id) {
                    found.tokens.push((name, String::from_utf8_lossy(text).into_owned()));
                }
            }
        }
        Ok(found)
    }

    fn member(
        &mut self,
        key: &str,
        kind: u32,
        found: &mut Metadata,
        tokens: (&mut Vec<(String, u64)>, &mut Vocabulary),
    ) -> Loaded<()> {
        let (ids, vocabulary) = tokens;
        if kind == STRING && key.starts_with("tokenizer.chat_template") {
            let Some(text) = self.text(LONGEST_TEXT)? else { return Err(LoadError::TooLong) };
            let text = String::from_utf8(text).map_err(|_| LoadError::NotText)?;
            match key.strip_prefix("tokenizer.chat_template") {
                Some("") => found.templates.push(("default".to_owned(), text)),
                Some(name) if name.starts_with('.') => found.templates.push((name[1..].to_owned(), text)),
                _ => {}
            }
            return Ok(());
        }
        let id = key.strip_prefix("tokenizer.ggml.").and_then(|name| name.strip_suffix("_token_id"));
        if let (Some(name), Some(size)) = (id, size(kind).filter(|size| matches!(size, 4 | 8))) {
            let id = if size == 4 { u64::from(self.u32()?) } else { self.u64()? };
            // llama.cpp writes the names of two tokens in another way than transformers.
            let name = match name {
                "unknown" => "unk",
                "padding" => "pad",
                // Its name has been misspelt and corrected.
                name if name.starts_with("sep") => "sep",
                name => name,
            };
            ids.push((format!("{name}_token"), id));
            return Ok(());
        }
        if kind == ARRAY && key == "tokenizer.ggml.tokens" {
            return self.vocabulary(vocabulary);
        }
        self.skip_value(kind, 0)
    }

    fn vocabulary(&mut self, vocabulary: &mut Vocabulary) -> Loaded<()> {
        let kind = self.u32()?;
        let length = self.u64()?;
        if kind != STRING {
            return self.skip_items(kind, length, 0);
        }
        for _ in 0..length {
            let text = self.text(LONGEST_KEY)?.unwrap_or_default();
            vocabulary.push(&text);
        }
        Ok(())
    }

    fn skip_value(&mut self, kind: u32, depth: u32) -> Loaded<()> {
        match kind {
            STRING => {
                let length = self.u64()?;
                self.skip(length)
            }
            ARRAY => {
                let kind = self.u32()?;
                let length = self.u64()?;
                self.skip_items(kind, length, depth + 1)
            }
            _ => match size(kind) {
                Some(size) => self.skip(size),
                None => malformed("a value has an unknown type"),
            },
        }
    }

    fn skip_items(&mut self, kind: u32, length: u64, depth: u32) -> Loaded<()> {
        if depth > 4 {
            return malformed("its arrays are nested too deeply");
        }
        if let Some(size) = size(kind) {
            return self.skip(length.saturating_mul(size));
        }
        // Each item takes at least eight bytes, so this ends with the file.
        for _ in 0..length {
            self.skip_value(kind, depth)?;
        }
        Ok(())
    }
}

const STRING: u32 = 8;
const ARRAY: u32 = 9;

fn size(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

fn failed(error: io::Error) -> LoadError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        LoadError::MoreNeeded
    } else {
        LoadError::Read(error.to_string())
    }
}

/// The texts of tokens one after another, because there are many short ones.
#[derive(Debug, Default)]
struct Vocabulary {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl Vocabulary {
    fn push(&mut self, token: &[u8]) {
        if self.text.len() < LONGEST_VOCABULARY {
            self.text.extend_from_slice(token);
        }
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    fn get(&self, id: u64) -> Option<&[u8]> {
        let id = usize::try_from(id).ok()?;
        let start = id.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start as usize..*self.ends.get(id)? as usize)
    }
}
