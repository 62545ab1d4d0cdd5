//! Names from a file as messages may show them: one line, bounded, nothing hidden.

use std::borrow::Cow;

/// The longest name that a message prints: a file may hold a megabyte where an id should stand.
const LONGEST_NAME: usize = 80;

/// A name for a message: one line, bounded.
#[must_use]
pub fn shorten(name: &str) -> Cow<'_, str> {
    let is_plain = name.len() <= LONGEST_NAME && !name.chars().any(is_hidden);
    if is_plain {
        return Cow::Borrowed(name);
    }
    let mut short: String =
        name.chars().take(LONGEST_NAME).flat_map(|character| character.escape_debug()).collect();
    if name.chars().nth(LONGEST_NAME).is_some() {
        short.push('\u{2026}');
    }
    Cow::Owned(short)
}

/// Whether the character hides what stands there, and so must be shown by its number: a terminal would obey a control
/// character, others change the direction of the text, and those that Unicode lets a program ignore are not seen at
/// all, though a model reads what they spell. The one that turns a sign into its emoji spells nothing.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(
            character,
            '\u{AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{3164}'
        )
        || matches!(character, '\u{180B}'..='\u{180F}' | '\u{FE00}'..='\u{FE0E}' | '\u{FEFF}' | '\u{FFA0}')
        || matches!(character, '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}')
        || matches!(character, '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_hidden() {
        // Tags and selectors spell words that a model reads; the others have no width, or turn the text.
        for hidden in "\u{1b}\u{9b}\u{7f}\n\u{ad}\u{200b}\u{202e}\u{2060}\u{2066}\u{3164}\u{fe00}\u{feff}\u{e0041}\u{e0101}".chars() {
            assert!(is_hidden(hidden), "{hidden:?}");
        }
        for seen in "aß漢 \u{a0}\u{301}\u{2764}\u{fe0f}\u{1f600}\u{fffd}".chars() {
            assert!(!is_hidden(seen), "{seen:?}");
        }
    }
}
