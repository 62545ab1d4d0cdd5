//! Objects that were right before, by their text.
//!
//! A client sends its tools with each request, and a conversation again with each turn: what was found to be right needs
//! no more than that comparison. What a log never repeats is not compared for long.

use std::hash::BuildHasher;

use foldhash::HashMap;
use toolcheck_json::Value;

use crate::targets::shape::Kind;

/// The tools and the messages without faults.
#[derive(Debug, Default)]
pub(super) struct ValidObjectCache {
    tools: Texts,
    messages: Texts,
    pub(super) other_keys: OtherKeys,
}

/// Keys that objects have and no table knows, and whether they are like one that it knows: a client has the same in each
/// request, and to compare names is dear.
#[derive(Debug, Default)]
pub(super) struct OtherKeys(HashMap<TextKey, OtherKey>);

/// The number of an object, a key that is none of its own, and whether it is like one.
type OtherKey = (usize, Box<[u8]>, bool);

/// The most such keys that are kept, and the longest.
const MOST_OTHER_KEYS: usize = 1024;
const LONGEST_OTHER_KEY: usize = 64;

impl OtherKeys {
    /// Whether a key of the object `number` is like one of its own; `is_like` says so, and is asked once.
    pub(super) fn are_like(&mut self, number: usize, key: &[u8], is_like: impl FnOnce() -> bool) -> bool {
        let hash = self.0.hasher().hash_one((number, key));
        let known = self.0.get(&hash).filter(|(of, known, _)| *of == number && **known == *key);
        if let Some((.., is_like)) = known {
            return *is_like;
        }
        let is_like = is_like();
        if key.len() <= LONGEST_OTHER_KEY {
            if self.0.len() == MOST_OTHER_KEYS {
                self.0.clear();
            }
            self.0.insert(hash, (number, key.into(), is_like));
        }
        is_like
    }
}

impl ValidObjectCache {
    /// The objects of a kind, if it is one of those that requests repeat.
    pub(super) fn of(&mut self, kind: Option<Kind>) -> Option<&mut Texts> {
        match kind {
            Some(Kind::Tool) => Some(&mut self.tools),
            Some(Kind::Message) => Some(&mut self.messages),
            _ => None,
        }
    }
}

/// The objects of a kind without faults, of which nothing else in the request decides whether they have some.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// By their keys: a text is hashed once, and not again to be kept or when the table grows.
    known: HashMap<TextKey, Known>,
    /// The bytes that are kept.
    size: usize,
    /// How many were known, and how many were not.
    hits: usize,
    misses: usize,
}

/// The hash of a text and the number of the object that it is to be.
pub(super) type TextKey = u64;

/// A text, and the values in it that no other object may have.
#[derive(Debug)]
struct Known {
    number: usize,
    text: Box<[u8]>,
    unique: Box<[Unique]>,
}

/// A value that no other object may have, with the numbers of its object and its field.
pub(super) type Unique = (usize, u16, String);

/// How long a text must be to be worth a comparison, and how long it may be.
const LENGTHS: std::ops::RangeInclusive<usize> = 48..=16 << 10;
/// The fewest values of an object that is worth a comparison, and the most bytes of it for each: a message of text is
/// checked sooner than compared.
const FEWEST_VALUES: usize = 6;
const BYTES_FOR_EACH: usize = 48;
/// The most bytes that are kept.
const MOST_BYTES: usize = 256 << 10;
/// The texts that are kept before one must have been there again, and how many are new for each that was.
const TRIES: usize = 256;

impl Texts {
    /// The key of an object that is to be the object `number`; `None` if it is not worth a look, and is not kept.
    pub(super) fn key(&self, value: Value<'_, '_>, number: usize) -> Option<TextKey> {
        self.wants(value).then(|| self.known.hasher().hash_one((number, value.raw())))
    }

    fn wants(&self, value: Value<'_, '_>) -> bool {
        if self.misses >= TRIES && self.hits * 2 <= self.misses {
            return false;
        }
        let (length, values) = (value.raw().len(), value.count());
        LENGTHS.contains(&length) && values >= FEWEST_VALUES && length <= values * BYTES_FOR_EACH
    }

    /// Whether an object that is to be the object `number` was right before: the values in it that no other object may have.
    pub(super) fn find(&mut self, key: TextKey, value: Value<'_, '_>, number: usize) -> Option<&[Unique]> {
        let known = self.known.get(&key);
        let found = known.filter(|known| known.number == number && *known.text == *value.raw());
        match found {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        found.map(|known| &*known.unique)
    }

    /// Keeps an object that is right.
    pub(super) fn keep(&mut self, key: TextKey, value: Value<'_, '_>, number: usize, unique: &[Unique]) {
        let text = value.raw();
        if self.size + text.len() > MOST_BYTES {
            self.known.clear();
            self.size = 0;
        }
        self.size += text.len();
        self.known.insert(key, Known { number, text: text.into(), unique: unique.into() });
    }
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use super::Texts;

    #[test]
    fn what_is_never_repeated_is_not_kept_for_long() {
        let mut texts = Texts::default();
        let text = |number: usize| format!("{{\"content\": [1, 2, 3, 4, {number:064}]}}");
        let mut kept = 0;
        for number in 0..1000 {
            let text = text(number);
            let document = Document::read(text.as_bytes());
            if let Some(key) = texts.key(document.root(), 0) {
                assert!(texts.find(key, document.root(), 0).is_none());
                texts.keep(key, document.root(), 0, &[]);
                kept += 1;
            }
        }
        assert!((200..300).contains(&kept), "{kept}");
    }

    /// An object of many values.
    fn long(number: usize) -> String {
        format!("{{\"content\": [{}{number}]}}", "10000000, ".repeat(400))
    }

    #[test]
    fn what_is_repeated_is_known_and_bounded() {
        let mut texts = Texts::default();
        for number in 0..1000 {
            let text = long(number / 4);
            let document = Document::read(text.as_bytes());
            let key = texts.key(document.root(), 7).expect("it is long");
            assert_eq!(texts.find(key, document.root(), 7).is_some(), number % 4 > 0);
            texts.keep(key, document.root(), 7, &[]);
            assert!(texts.size <= super::MOST_BYTES);
        }
        let text = long(249);
        let document = Document::read(text.as_bytes());
        let key = texts.key(document.root(), 8).expect("it is long");
        assert!(texts.find(key, document.root(), 8).is_none(), "another object");
    }
}
