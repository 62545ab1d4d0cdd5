//! Names from a file as messages may show them: one line, bounded, nothing hidden.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Deref;

/// The longest name that a message prints: a file may hold a megabyte where an id should stand.
const LONGEST_NAME: usize = 80;

/// Whether what is in braces in an API's text is a placeholder: some texts have braces of their own.
pub fn is_placeholder(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// A name for a message: one line, bounded.
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
pub fn kept(name: &str) -> String {
    match name.len() <= MOST_KEPT {
        true => name.to_owned(),
        false => format!("{}\u{2026}", &name[..name.floor_char_boundary(MOST_KEPT)]),
    }
}

/// Whether the character hides what stands there, and so must be shown by its number: a terminal would obey a control
/// character, others change the direction of the text, and those that Unicode lets a program ignore are not seen at
/// all, though a model reads what they spell. The one that turns a sign into its emoji spells nothing.
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
    !is_plain(text.as_bytes()) && text.chars().any(is_hidden)
}

fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |all, byte| all & (b' '..=b'~').contains(byte))
}

/// The character, or its number if it would not be visible.
pub fn visible(character: char) -> impl Iterator<Item = char> {
    let is_hidden = is_hidden(character);
    let escaped = is_hidden.then(|| character.escape_unicode()).into_iter().flatten();
    escaped.chain((!is_hidden).then_some(character))
}

/// The name of a file, which need not be UTF-8, as a text that no other file has: each byte that is not UTF-8 becomes NUL,
/// which no name contains, and two hexadecimal digits. [`shown`] prints it as `\xff`.
pub fn name_of(bytes: &[u8]) -> String {
    let mut name = String::new();
    for chunk in bytes.utf8_chunks() {
        name.push_str(chunk.valid());
        name.extend(chunk.invalid().iter().map(|byte| format!("\0{byte:02x}")));
    }
    name
}

/// The bytes of a [name](name_of).
pub fn bytes_of(name: &str) -> Vec<u8> {
    let mut pieces = name.split('\0');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        match number_of(piece) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[2..]);
            }
            None => {
                bytes.push(0);
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }
    bytes
}

/// The byte whose two digits a piece of a [name](name_of) begins with.
fn number_of(piece: &str) -> Option<u8> {
    let digits = piece.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

/// A [name](name_of) with its bytes that are not UTF-8 as `\xff`.
pub fn plain_name(name: &str) -> Cow<'_, str> {
    if !name.contains('\0') {
        return Cow::Borrowed(name);
    }
    let mut pieces = name.split('\0');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(if number_of(piece).is_some() { "\\x" } else { "\0" });
        plain.push_str(piece);
    }
    Cow::Owned(plain)
}

/// The text on one line, with control characters made visible.
pub fn shown(text: &str) -> String {
    if !hides_any(text) {
        return inert(text).into_owned();
    }
    inert(&plain_name(text).chars().flat_map(visible).collect::<String>()).into_owned()
}

/// The same, but for tabs, which stay as they are.
pub fn shown_with_tabs(text: &str) -> String {
    text.split('\t').map(shown).collect::<Vec<_>>().join("\t")
}

/// At most `most` characters of a text, on one line, with control characters made visible.
pub fn bounded(text: &str, most: usize) -> String {
    // Almost every start is plain ASCII.
    let start = &text.as_bytes()[..text.len().min(most.saturating_add(1))];
    if most > 0 && is_plain(start) {
        return match text.len() > most {
            true => format!("{}\u{2026}", inert(&text[..most - 1])),
            false => inert(text).into_owned(),
        };
    }
    let text = plain_name(text);
    let mut characters = text.chars().flat_map(visible);
    let mut short: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        short.pop();
        short.push('\u{2026}');
    }
    inert(&short).into_owned()
}

/// Where a CI runner finds a command inside a line: the second `#` of `##[` (GitHub), `##vso[` (Azure Pipelines),
/// `##teamcity[` and the like. It need not be at the beginning of the line.
pub fn hash_commands(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_command = |at: &usize| {
        let word = bytes[at + 2..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        bytes.get(at + 2 + word) == Some(&b'[')
    };
    text.match_indices('#')
        .map(|(at, _)| at)
        .filter(|at| bytes.get(at + 1) == Some(&b'#'))
        .filter(is_command)
        .map(|at| at + 1)
}

/// A text with a character of each [command inside a line](hash_commands) made visible, so that it no longer is one.
pub fn inert(text: &str) -> Cow<'_, str> {
    let mut inert = String::new();
    let mut from = 0;
    for at in hash_commands(text) {
        inert.push_str(&text[from..at]);
        inert.push_str("\\u{23}");
        from = at + 1;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    inert.push_str(&text[from..]);
    Cow::Owned(inert)
}

/// A text that begins a line, on one line, with control characters made visible. GitHub takes a line that begins with `::`
/// for a command, and behind the name of a file a colon may follow.
pub fn line(text: &str) -> String {
    let text = shown(text);
    match without_indent(&text) {
        ":" => text.replace(':', "\\u{3a}"),
        _ => guard(&text).into_owned(),
    }
}

/// A line that is ready to print; if a CI runner would take it for a command, with a character of that made visible.
pub fn guard(line: &str) -> Cow<'_, str> {
    let rest = without_indent(line);
    match rest.strip_prefix("::") {
        Some(behind) => {
            let indent = &line[..line.len() - rest.len()];
            Cow::Owned(format!("{indent}\\u{{3a}}:{}", inert(behind)))
        }
        None => inert(line),
    }
}

/// A line without the whitespace and the colors that it begins with.
fn without_indent(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some((numbers, behind)) = rest.strip_prefix("\u{1b}[").and_then(|color| color.split_once('m')) {
        if !numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

/// An error of the system in plain words: without its number, and the same on every system where it is a common one.
pub fn reason(error: &(dyn Error + 'static)) -> String {
    let kind = error.downcast_ref::<io::Error>().filter(|error| error.raw_os_error().is_some());
    let words = kind.and_then(|error| match error.kind() {
        ErrorKind::NotFound => Some("no such file or directory"),
        ErrorKind::AlreadyExists => Some("it exists already"),
        ErrorKind::PermissionDenied => Some("permission denied"),
        ErrorKind::StorageFull => Some("no space left on the device"),
        ErrorKind::QuotaExceeded => Some("the disk quota is used up"),
        ErrorKind::ReadOnlyFilesystem => Some("the file system is read-only"),
        ErrorKind::IsADirectory => Some("it is a folder, not a file"),
        ErrorKind::NotADirectory => Some("a folder in its path is a file"),
        ErrorKind::BrokenPipe => Some("its reader has closed it"),
        ErrorKind::InvalidFilename => Some("the name is too long, or not valid here"),
        _ => None,
    });
    words.map_or_else(|| without_number(&error.to_string()), str::to_owned)
}

/// An error's text without the numbers that the standard library adds to those of the system.
fn without_number(text: &str) -> String {
    const MARK: &str = " (os error ";
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, behind)) = rest.split_once(MARK) {
        plain.push_str(before);
        let number = behind.bytes().take_while(u8::is_ascii_digit).count();
        rest = match behind[number..].strip_prefix(')') {
            Some(rest) if number > 0 => rest,
            _ => {
                plain.push_str(MARK);
                behind
            }
        };
    }
    plain + rest
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
