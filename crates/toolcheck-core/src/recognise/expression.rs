//! Expressions made from texts. There are thousands, and hardly any matches an error, so only those are compiled whose
//! literal characters the error has.

use std::ops::Deref;
use std::sync::OnceLock;

use memchr::memmem;
use regex::Regex;

use super::{is_gap, pattern, placeholder};

#[derive(Debug)]
pub(super) struct Expression {
    source: Source,
    /// The literal characters, with a space wherever something else may come between.
    literals: String,
    /// The number of literal characters in the text: the more, the surer the match.
    pub(super) own: usize,
    compiled: OnceLock<Regex>,
}

#[derive(Debug)]
enum Source {
    /// A text, and the expression for its last placeholder.
    Text(&'static str, &'static str),
    Pattern(String),
}

impl Expression {
    pub(super) fn of(text: &'static str, last: &'static str) -> Self {
        Self::from(Source::Text(text, last), literals(text))
    }

    /// An expression that matches only what contains each word of `literals`.
    pub(super) fn new(pattern: String, literals: String) -> Self {
        Self::from(Source::Pattern(pattern), literals)
    }

    fn from(source: Source, literals: String) -> Self {
        let own = literals.chars().filter(|character| *character != ' ').count();
        Self { source, literals, own, compiled: OnceLock::new() }
    }

    pub(super) fn found_in(&self, error: &Window<'_>) -> Option<&Regex> {
        let mut words = self.literals.split(' ').filter(|word| !word.is_empty());
        if !words.all(|word| error.has(word)) {
            return None;
        }
        let compile = || {
            let pattern = match &self.source {
                Source::Text(text, last) => &pattern(text, last),
                Source::Pattern(pattern) => pattern,
            };
            Regex::new(pattern).expect("a pattern made from a text is an expression")
        };
        let compiled = self.compiled.get_or_init(compile);
        compiled.is_match(error).then_some(compiled)
    }
}

/// A piece of an error to look at.
pub(super) struct Window<'e> {
    pub(super) text: &'e str,
    /// Which two bytes stand side by side in it, a bit for each two: of thousands of words, hardly any has only such.
    pairs: Box<[u64; 1 << 10]>,
}

impl<'e> Window<'e> {
    pub(super) fn new(text: &'e str) -> Self {
        let mut pairs = Box::new([0; 1 << 10]);
        for pair in text.as_bytes().windows(2) {
            let (at, bit) = place_of(pair);
            pairs[at] |= bit;
        }
        Self { text, pairs }
    }

    fn has(&self, word: &str) -> bool {
        let mut pairs = word.as_bytes().windows(2).map(place_of);
        pairs.all(|(at, bit)| self.pairs[at] & bit != 0)
            && memmem::find(self.text.as_bytes(), word.as_bytes()).is_some()
    }
}

/// Where two bytes are in a table of bits.
fn place_of(pair: &[u8]) -> (usize, u64) {
    let number = usize::from(pair[0]) << 8 | usize::from(pair[1]);
    (number >> 6, 1 << (number & 63))
}

impl Deref for Window<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

/// The literal characters of a text, which [`pattern`] requires one by one, with a space where that allows something else.
pub(super) fn literals(text: &str) -> String {
    let mut literals = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = placeholder(rest).map(|(_, after)| after);
        rest = after.unwrap_or(&rest[character.len_utf8()..]);
        let is_literal = after.is_none() && !is_gap(character) && !(character == '.' && rest.is_empty());
        literals.push(if is_literal { character } else { ' ' });
    }
    literals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literals_of_a_text_are_in_its_pattern() {
        let texts = crate::recognise::texts().map(|(.., text)| text);
        let mut count = 0;
        for text in texts.chain(["a {name} b. {id}.", "{} {no.", "'{count}' '. x", "{index}."]) {
            let (literals, pattern) = (literals(text), pattern(text, "[^}]*"));
            for word in literals.split(' ') {
                assert!(pattern.contains(&regex::escape(word)), "{text}: {word}");
            }
            count += 1;
        }
        assert!(count > 900, "{count}");
    }
}
