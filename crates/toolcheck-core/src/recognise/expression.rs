//! Expressions made from texts. There are thousands, and hardly any matches an error, so only those are compiled whose
//! literal characters the error has.

use std::ops::Deref;
use std::sync::OnceLock;

use memchr::memmem;
use regex::Regex;

use crate::targets::FREE;
use crate::text::is_placeholder;

/// The placeholder for allowed values, each in quotes.
pub(super) const VALUES: &str = "values";

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

/// A regular expression for a text, with the expression `last` for its last placeholder.
pub(super) fn pattern(text: &str, last: &str) -> String {
    let mut pattern = String::from("(?s)");
    let mut seen: Vec<&str> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((name, after)) = placeholder(rest) {
            let is_last = !after.contains(char::is_alphanumeric);
            let inside = match name {
                // A tuple of Python: there are commas and quotes in it.
                "schema-context" | "tuple-path" => r"\(.*?\)|[^\s(),]+",
                _ if is_number(name) => r"\d+|\?|N|X|\[\.\.\.\]",
                VALUES if is_last => r#"\\*['"`\u{2018}\u{201c}](?:,\s+|[^\n"}])*"#,
                // A list of values may go on in the next line.
                _ if is_last && name.starts_with(VALUES) => r#"(?:,\s+|[^\n"}])*"#,
                _ if is_last => last,
                // What is in front of the text is no part of it.
                _ if text[..text.len() - rest.len()].chars().all(is_gap) => r#"[^\s"{}]*?"#,
                _ => ".*?",
            };
            let group = name.replace('-', "_");
            // A repeated placeholder may have another value: only the first is captured.
            if seen.contains(&name) || name == FREE {
                pattern.push_str(&format!("(?:{inside})"));
            } else {
                pattern.push_str(&format!("(?P<{group}>{inside})"));
                seen.push(name);
            }
            // What is said next is a word of its own: `temperature` is not `temper`, `at` and `ure`. Its quotes may be lost.
            let next = after.trim_start_matches(is_gap);
            if next.len() < after.len() && next.starts_with(char::is_alphanumeric) {
                pattern
                    .push_str(r#"(?:[\s>|\u{2502}\u{258f}\\'"`\u{2018}\u{2019}\u{201c}\u{201d}]|\\+[nrt])+"#);
                rest = next;
                continue;
            }
            rest = after;
            continue;
        }
        let mut characters = rest.chars();
        let character = characters.next().unwrap_or_default();
        if character.is_whitespace() {
            // What is said before a value is a word of its own, too.
            let is_value = placeholder(characters.as_str().trim_start_matches(is_gap)).is_some();
            if is_value && text[..text.len() - rest.len()].ends_with(char::is_alphanumeric) {
                pattern.push_str(r"\b");
            }
            // A line may be quoted, framed or escaped again.
            pattern.push_str(r"(?:[\s>|\u{2502}\u{258f}]|\\+[nrt])*");
        } else if is_quote(character) {
            pattern.push_str(r#"[\\'"`\u{2018}\u{2019}\u{201c}\u{201d}]*"#);
        } else if character == '.' && characters.as_str().is_empty() {
            // The final full stop is often lost, so it is optional.
        } else {
            pattern.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
        }
        rest = characters.as_str();
    }
    pattern
}

/// The name of the placeholder with which a text begins, and what comes after it.
pub(super) fn placeholder(text: &str) -> Option<(&str, &str)> {
    let placeholder = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    placeholder.filter(|(name, _)| is_placeholder(name))
}

pub(super) fn is_number(name: &str) -> bool {
    matches!(name, "index" | "part" | "member" | "part-member" | "line" | "max" | "length" | "count")
}

/// Whether a character is often lost, doubled or replaced.
pub(super) fn is_gap(character: char) -> bool {
    character.is_whitespace() || is_quote(character)
}

pub(super) fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"' | '`' | '\\' | '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}')
}
