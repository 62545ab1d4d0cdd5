//! Objects that were right before, by their text.
//!
//! A client sends its tools with each request, and a conversation again with each turn: what was found to be right needs
//! no more than that comparison. What a log never repeats is not compared for long.

use foldhash::HashMap;
use toolcheck_json::Value;

/// The objects of a kind without faults, of which nothing else in the request decides whether they have some.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The texts for each number of an object.
    known: HashMap<usize, Known>,
    /// The bytes that are kept.
    size: usize,
    /// How many were known, and how many were not.
    hits: usize,
    misses: usize,
}

/// Texts, each with the values in it that no other object may have.
type Known = HashMap<Box<[u8]>, Box<[Unique]>>;

/// A value that no other object may have, with the numbers of its object and its field.
pub(super) type Unique = (usize, u16, String);

/// How long a text must be to be worth a comparison, and how long it may be.
const LENGTHS: std::ops::RangeInclusive<usize> = 48..=16 << 10;
/// The most bytes that are kept.
const MOST_BYTES: usize = 256 << 10;
/// The texts that are kept before one must have been there again, and how many are new for each that was.
const TRIES: usize = 256;

impl Texts {
    /// Whether an object that is to be the object `number` was right before: the values in it that no other object may
    /// have.
    pub(super) fn find(&mut self, value: Value<'_, '_>, number: usize) -> Option<&[Unique]> {
        if !self.wants(value) {
            return None;
        }
        let found = self.known.get(&number).and_then(|texts| texts.get(value.raw()));
        match found {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        found.map(|unique| &**unique)
    }

    /// Whether [`Self::find`] looks for this one.
    pub(super) fn wants(&self, value: Value<'_, '_>) -> bool {
        LENGTHS.contains(&value.raw().len()) && (self.misses < TRIES || self.hits * 2 > self.misses)
    }

    /// Keeps an object that is right.
    pub(super) fn keep(&mut self, value: Value<'_, '_>, number: usize, unique: &[Unique]) {
        let text = value.raw();
        if self.size + text.len() > MOST_BYTES {
            self.known.clear();
            self.size = 0;
        }
        self.size += text.len();
        self.known.entry(number).or_default().insert(text.into(), unique.into());
    }
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use super::Texts;

    #[test]
    fn what_is_never_repeated_is_not_kept_for_long() {
        let mut texts = Texts::default();
        let text = |number: usize| format!("{{\"content\": \"{number:064}\"}}");
        let mut kept = 0;
        for number in 0..1000 {
            let text = text(number);
            let document = Document::read(text.as_bytes());
            assert!(texts.find(document.root(), 0).is_none());
            if texts.wants(document.root()) {
                texts.keep(document.root(), 0, &[]);
                kept += 1;
            }
        }
        assert!((200..300).contains(&kept), "{kept}");
    }

    #[test]
    fn what_is_repeated_is_known_and_bounded() {
        let mut texts = Texts::default();
        for number in 0..1000 {
            let text = format!("{{\"content\": \"{:04096}\"}}", number / 4);
            let document = Document::read(text.as_bytes());
            assert_eq!(texts.find(document.root(), 7).is_some(), number % 4 > 0);
            assert!(texts.wants(document.root()));
            texts.keep(document.root(), 7, &[]);
            assert!(texts.size <= super::MOST_BYTES);
        }
        let text = format!("{{\"content\": \"{:04096}\"}}", 249);
        let document = Document::read(text.as_bytes());
        assert!(texts.find(document.root(), 8).is_none(), "another object");
    }
}
