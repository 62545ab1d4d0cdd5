//! Names from a file as messages may show them: one line, bounded, nothing hidden.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// The longest name that a message prints: a file may hold a megabyte where an id should stand.
const LONGEST_NAME: usize = 80;

/// Whether what is in braces in an API's text is a placeholder: some texts have braces of their own.
pub(crate) fn is_placeholder(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// A name for a message: one line, bounded.
#[must_use]
pub fn shorten(name: &str) -> Cow<'_, str> {
    let is_plain = name.len() <= LONGEST_NAME && !hides_any(name);
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

/// The most bytes that are kept of a name for programs, and of a name in an API's text.
const MOST_KEPT: usize = 1024;

/// A name as it is, but of one longer than a kilobyte only the start: many findings may be about the same name.
#[must_use]
pub fn kept(name: &str) -> String {
    match name.len() <= MOST_KEPT {
        true => name.to_owned(),
        false => format!("{}\u{2026}", &name[..name.floor_char_boundary(MOST_KEPT)]),
    }
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

/// Whether a text has a hidden character. Almost every one is plain ASCII, which is told for many bytes at a time.
fn hides_any(text: &str) -> bool {
    let is_odd = |byte: u8| !(b' '..=b'~').contains(&byte);
    text.bytes().fold(false, |any, byte| any | is_odd(byte)) && text.chars().any(is_hidden)
}

/// The character, or its number if it would not be visible.
pub fn visible(character: char) -> impl Iterator<Item = char> {
    let is_hidden = is_hidden(character);
    let escaped = is_hidden.then(|| character.escape_unicode()).into_iter().flatten();
    escaped.chain((!is_hidden).then_some(character))
}

/// The text on one line, with control characters made visible.
#[must_use]
pub fn shown(text: &str) -> String {
    if !hides_any(text) {
        return inert(Cow::Borrowed(text)).into_owned();
    }
    inert(text.chars().flat_map(visible).collect::<String>().into()).into_owned()
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
    inert(short.into()).into_owned()
}

/// What Azure Pipelines and GitHub take for a command wherever it is in a line.
const COMMANDS: [&str; 2] = ["##vso[", "##["];

fn inert(mut text: Cow<'_, str>) -> Cow<'_, str> {
    for command in COMMANDS {
        if text.contains(command) {
            text = Cow::Owned(text.replace(command, &format!("#\\u{{23}}{}", &command[2..])));
        }
    }
    text
}

/// A text that begins a line, on one line, with control characters made visible. GitHub takes a line that begins with `::`
/// for a command.
#[must_use]
pub fn line(text: &str) -> String {
    guard(&shown(text)).into_owned()
}

/// A line that is ready to print; if a CI runner would take it for a command, with a character of that made visible.
#[must_use]
pub fn guard(line: &str) -> Cow<'_, str> {
    let rest = line.trim_start();
    match rest.strip_prefix("::") {
        Some(behind) => inert(Cow::Owned(format!("{}\\u{{3a}}:{behind}", &line[..line.len() - rest.len()]))),
        None => inert(Cow::Borrowed(line)),
    }
}

/// A number and its noun, which takes an `s` unless the number is 1.
#[derive(Debug, Clone, Copy)]
pub struct Counted(pub usize, pub &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// The longest text of a [`Line`], in characters.
const LONGEST_LINE: usize = 4000;

/// Text that is safe to print anywhere: one line, bounded, with nothing hidden in it. It is made once, and then needs no
/// further care.
///
/// ```
/// use toolcheck_core::text::Line;
///
/// assert_eq!(Line::from("two\nlines"), "two\\u{a}lines");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Line(Cow<'static, str>);

impl Line {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Cow<'static, str>> for Line {
    fn from(text: Cow<'static, str>) -> Self {
        let is_safe = text.len() <= LONGEST_LINE && !hides_any(&text);
        Self(if is_safe { text } else { Cow::Owned(bounded(&text, LONGEST_LINE)) })
    }
}

impl From<&'static str> for Line {
    fn from(text: &'static str) -> Self {
        Cow::Borrowed(text).into()
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Cow::<'static, str>::Owned(text).into()
    }
}

impl Deref for Line {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<str> for Line {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Line {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_runner_takes_a_text_for_a_command() {
        assert_eq!(shown("a ##vso[task.x]b ##[error]"), "a #\\u{23}vso[task.x]b #\\u{23}[error]");
        assert_eq!(bounded("###[group]", 80), "##\\u{23}[group]");
        assert_eq!(line(" ::error::x"), " \\u{3a}:error::x");
        assert_eq!(line("a::b #[c] ##"), "a::b #[c] ##");
        assert_eq!(line("\n::error::x"), "\\u{a}::error::x");
    }

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
