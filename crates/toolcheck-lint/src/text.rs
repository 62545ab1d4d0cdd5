//! Text that a screen shows: on one line, bounded, with nothing hidden in it.

use std::fmt;

use toolcheck_core::text::is_hidden;

/// The character, or its number if it would not be visible.
pub fn visible(character: char) -> impl Iterator<Item = char> {
    let is_hidden = is_hidden(character);
    let escaped = is_hidden.then(|| character.escape_unicode()).into_iter().flatten();
    escaped.chain((!is_hidden).then_some(character))
}

/// The text on one line, with control characters made visible.
#[must_use]
pub fn shown(text: &str) -> String {
    text.chars().flat_map(visible).collect()
}

/// At most `most` characters of a text, on one line, with control characters made visible.
#[must_use]
pub fn bounded(text: &str, most: usize) -> String {
    let mut characters = text.chars().flat_map(visible);
    let mut short: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        short.pop();
        short.push('\u{2026}');
    }
    short
}

/// A number and its noun, which takes an `s` unless the number is 1.
#[derive(Debug, Clone, Copy)]
pub struct Counted(pub usize, pub &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}
