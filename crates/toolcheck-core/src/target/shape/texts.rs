//! Objects that were right before, by their text.
//!
//! A client sends its tools with each request, and a conversation again with each turn: what was found to be right needs
//! no more than that comparison. What a log never repeats is not compared for long.

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

/// The objects of a kind without faults, of which nothing else in the request decides whether they have some.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The texts for each number of an object.
    known: HashMap<usize, HashSet<Box<[u8]>>>,
    /// The bytes that are kept.
    size: usize,
    /// How many were known, and how many were not.
    hits: usize,
    misses: usize,
}

/// How long a text must be to be worth a comparison, and how long it may be.
const LENGTHS: std::ops::RangeInclusive<usize> = 48..=16 << 10;
/// The most bytes that are kept.
const MOST_BYTES: usize = 256 << 10;
/// The texts that are kept before one must have been there again, and how many are new for each that was.
const TRIES: usize = 32;

impl Texts {
    /// Whether an object that is to be the object `number` was right before.
    pub(super) fn knows(&mut self, value: Value<'_, '_>, number: usize) -> bool {
        let text = value.raw();
        if !LENGTHS.contains(&text.len()) || !self.is_worth_it() {
            return false;
        }
        let is_known = self.known.get(&number).is_some_and(|texts| texts.contains(text));
        if is_known {
            self.hits += 1;
        } else {
            self.misses += 1;
        }
        is_known
    }

    /// Whether [`Self::knows`] looks for this one again.
    pub(super) fn wants(&self, value: Value<'_, '_>) -> bool {
        LENGTHS.contains(&value.raw().len()) && self.is_worth_it()
    }

    /// Keeps an object that is right.
    pub(super) fn keep(&mut self, value: Value<'_, '_>, number: usize) {
        let text = value.raw();
        if self.size + text.len() > MOST_BYTES {
            self.known.clear();
            self.size = 0;
        }
        self.size += text.len();
        self.known.entry(number).or_default().insert(text.into());
    }

    fn is_worth_it(&self) -> bool {
        self.misses < TRIES || self.hits * 2 > self.misses
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
            assert!(!texts.knows(document.root(), 0));
            if texts.wants(document.root()) {
                texts.keep(document.root(), 0);
                kept += 1;
            }
        }
        assert!(kept < 40, "{kept}");
    }

    #[test]
    fn what_is_repeated_is_known_and_bounded() {
        let mut texts = Texts::default();
        for number in 0..1000 {
            let text = format!("{{\"content\": \"{:04096}\"}}", number / 4);
            let document = Document::read(text.as_bytes());
            assert_eq!(texts.knows(document.root(), 7), number % 4 > 0);
            assert!(texts.wants(document.root()));
            texts.keep(document.root(), 7);
            assert!(texts.size <= super::MOST_BYTES);
        }
        let text = format!("{{\"content\": \"{:04096}\"}}", 249);
        let document = Document::read(text.as_bytes());
        assert!(!texts.knows(document.root(), 8), "another object");
    }
}
