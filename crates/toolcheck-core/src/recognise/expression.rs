//! Expressions made from texts. There are thousands, and hardly any matches an error, so only those are compiled whose
//! literal characters the error has.

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

    pub(super) fn found_in(&self, error: &str) -> Option<&Regex> {
        let mut words = self.literals.split(' ').filter(|word| !word.is_empty());
        if !words.all(|word| memmem::find(error.as_bytes(), word.as_bytes()).is_some()) {
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
