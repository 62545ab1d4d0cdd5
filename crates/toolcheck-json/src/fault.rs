//! What can be wrong with JSON text, and where.

use crate::Span;

/// One thing that is wrong with the text, at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The bytes that are wrong; empty where something is missing.
    pub span: Span,
    /// Where the thing began that the fault belongs to, such as the bracket that is never closed.
    pub opened_at: Option<u32>,
}

/// The kinds of fault, from the text's encoding up to its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The file begins with a byte order mark.
    ByteOrderMark,
    /// A byte sequence that is not UTF-8.
    InvalidUtf8,
    /// A `\uD800`-`\uDFFF` escape without its other half.
    LoneSurrogate,
    /// A byte below 0x20 inside a string, which must be written as an escape.
    ControlCharacter,
    /// A backslash that is not followed by one of `"\/bfnrtu`, or a `\u` without four hex digits.
    InvalidEscape,
    /// A string that the text ends in.
    UnterminatedString,
    /// An array or object that the text ends in.
    Unclosed,
    /// A closing bracket that closes nothing, or closes the wrong kind.
    MismatchedBracket,
    /// A comma after the last element or member.
    TrailingComma,
    /// Two values without a comma between them.
    MissingComma,
    /// A key without a colon after it.
    MissingColon,
    /// A comma, colon or bracket where a value should stand.
    MissingValue,
    /// A member whose key is not a string.
    InvalidKey,
    /// `NaN`, `Infinity` or `-Infinity`, which Python's `json` writes and JSON does not know.
    NotANumber,
    /// A number that JSON's grammar does not allow, such as `01`, `+1` or `1.`.
    InvalidNumber,
    /// A word that is neither `true`, `false` nor `null`, or a character that begins no value.
    InvalidValue,
    /// Zero bytes between values: what is left where a file was cut while it was written.
    NulBytes,
    /// A `//` or `/* */` comment.
    Comment,
    /// A string in single quotes.
    SingleQuotes,
    /// Something after the end of the value.
    TrailingContent,
    /// No value at all.
    Empty,
    /// The text is longer than the 4 GiB that a span can address.
    TooLong,
    /// The text is UTF-16, as some shells write what they redirect. JSON that is exchanged is UTF-8 (RFC 8259, 8.1).
    Utf16,
    /// The text is UTF-32.
    Utf32,
    /// The bytes are no text at all: an archive, an image, a program.
    Binary,
}

impl FaultKind {
    /// Whether the fault is one of encoding inside a string, which leaves the structure readable.
    #[must_use]
    pub fn is_in_text(self) -> bool {
        matches!(self, Self::InvalidUtf8 | Self::LoneSurrogate)
    }

    /// Whether the whole is not UTF-8, so that nothing of it was read.
    #[must_use]
    pub fn is_other_encoding(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf32 | Self::Binary)
    }

    /// The fault in one lower-case line, for a message.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "the text begins with a byte order mark",
            Self::InvalidUtf8 => "these bytes are not UTF-8",
            Self::LoneSurrogate => "a surrogate escape stands without its other half",
            Self::ControlCharacter => "a raw control character stands inside a string",
            Self::InvalidEscape => "a backslash begins no escape that JSON knows",
            Self::UnterminatedString => "a string is never closed",
            Self::Unclosed => "a bracket is never closed, so the text is cut off",
            Self::MismatchedBracket => "a closing bracket matches no open one",
            Self::TrailingComma => "a comma stands after the last entry",
            Self::MissingComma => "a comma is missing between two entries",
            Self::MissingColon => "a colon is missing after a key",
            Self::MissingValue => "a value is missing",
            Self::InvalidKey => "a key is not a string in double quotes",
            Self::NotANumber => "NaN and Infinity are no JSON numbers",
            Self::InvalidNumber => "this is no number that JSON allows",
            Self::InvalidValue => "no JSON value begins like this",
            Self::NulBytes => "zero bytes stand here, as where a file was cut while it was written",
            Self::Comment => "JSON has no comments",
            Self::SingleQuotes => "JSON strings stand in double quotes",
            Self::TrailingContent => "something follows the end of the value",
            Self::Empty => "there is no JSON value",
            Self::TooLong => "the text is longer than 4 GiB",
            Self::Utf16 => "the text is UTF-16, and not UTF-8",
            Self::Utf32 => "the text is UTF-32, and not UTF-8",
            Self::Binary => "this is not text",
        }
    }
}

/// The encoding of a text that is not UTF-8, told by its mark or by where its first bytes are zero: JSON begins with
/// characters of ASCII.
pub(crate) fn other_encoding(bytes: &[u8]) -> Option<FaultKind> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, 1..=255, ..] | [1..=255, 0, 0, 0, ..] => {
            Some(FaultKind::Utf32)
        }
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, 1..=255, 0, 1..=255, ..] | [1..=255, 0, 1..=255, 0, ..] => {
            Some(FaultKind::Utf16)
        }
        _ => None,
    }
}

/// How many bytes are looked at to tell whether they are text.
const LOOKED_AT: usize = 4096;

/// Whether bytes are no text: every tenth of the first ones stands in none, or every fourth where they begin as JSON
/// does. A text with some broken characters is still one.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let is_json = begins_as_json(bytes);
    let is_control = |byte: u8| match byte {
        // What is left of a text that was cut while it was written.
        0 => !is_json,
        b'\t' | b'\n' | b'\r' | 0x0C | 0x1B => false,
        other => other < 0x20,
    };
    let controls = head.iter().filter(|byte| is_control(**byte)).count();
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    controls + invalid > if is_json { head.len() / 4 } else { head.len() / 10 }.max(3)
}

/// Whether the first character, behind space and zero bytes, is one that JSON texts of more than a word begin with.
pub(crate) fn begins_as_json(bytes: &[u8]) -> bool {
    let space = bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
    matches!(bytes.get(space), None | Some(b'{' | b'[' | b'"'))
}
