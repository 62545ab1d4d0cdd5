//! Text that a screen shows: on one line, bounded, with nothing hidden in it.

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
