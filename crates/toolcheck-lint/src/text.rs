//! Text that a screen shows: on one line, bounded, with nothing hidden in it.

use std::borrow::Cow;
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
}
