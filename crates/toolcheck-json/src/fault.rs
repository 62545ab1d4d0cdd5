//! The faults of JSON text.

use crate::Span;

/// A fault of the text, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// The kind of fault.
    pub kind: SyntaxErrorKind,
    /// The bytes that are wrong; empty if something is missing.
    pub span: Span,
    /// The start of the value that the fault belongs to, such as the bracket that is never closed.
    pub opened_at: Option<u32>,
}

/// Declares the kinds of fault, each with its description for a message: one line, in lower case.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal,)+) => {
        /// The kinds of fault, from the encoding of the text to its structure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SyntaxErrorKind {
            $($(#[$doc])* $kind,)+
        }

        impl SyntaxErrorKind {
            /// A description of the fault for a message: one line, in lower case.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)+
                }
            }
        }
    };
}

kinds! {
    /// The file begins with a byte order mark.
    ByteOrderMark = "the text starts with a byte order mark",
    /// A byte sequence that is not UTF-8.
    InvalidUtf8 = "these bytes are not valid UTF-8",
    /// A `\uD800`-`\uDFFF` escape without its other half.
    LoneSurrogate = "surrogate escape without its other half",
    /// A byte below 0x20 inside a string, which must be written as an escape.
    ControlCharacter = "unescaped control character in a string",
    /// A backslash that is not followed by one of `"\/bfnrtu`, or a `\u` without four hex digits.
    InvalidEscape = "invalid escape sequence",
    /// A string that is still open at the end of the text.
    UnterminatedString = "unterminated string",
    /// A quote that is missing, or one inside a string that has no backslash before it. The text is read up to there.
    MissingQuote = "a quote is missing, or one inside a string is not escaped",
    /// An array or object that is still open at the end of the text.
    Unclosed = "unclosed bracket: the text is cut off",
    /// A closing bracket without an opening one.
    MismatchedBracket = "closing bracket does not match any open bracket",
    /// An array or object that is not closed before what follows it or the end of what it is in.
    MissingBracket = "closing bracket is missing",
    /// The bracket that opens an object, written twice.
    RepeatedBracket = "opening bracket is repeated",
    /// A comma after the last element or member.
    TrailingComma = "trailing comma",
    /// Two values without a comma between them.
    MissingComma = "missing comma between two entries",
    /// A key without a colon after it.
    MissingColon = "missing colon after a key",
    /// A comma, colon or bracket where a value should be.
    MissingValue = "missing value",
    /// A member whose key is not a string.
    InvalidKey = "key is not a string in double quotes",
    /// `NaN`, `Infinity` or `-Infinity`, which Python's `json` writes but JSON does not allow.
    NotANumber = "`NaN` and `Infinity` are not valid JSON",
    /// A number that JSON's grammar does not allow, such as `01`, `+1` or `1.`.
    InvalidNumber = "invalid number",
    /// A word other than `true`, `false` and `null`, or a character that cannot start a value.
    InvalidValue = "invalid JSON value",
    /// Null bytes between values, as left by an interrupted write.
    NulBytes = "null bytes, as left behind by an interrupted write",
    /// A `//` or `/* */` comment.
    Comment = "JSON does not allow comments",
    /// A string in single quotes.
    SingleQuotes = "JSON strings must be in double quotes",
    /// Something after the end of the value.
    TrailingContent = "unexpected content after the end of the value",
    /// No value at all.
    Empty = "no JSON value found",
    /// The text is longer than the 4 GiB that a span can address.
    TooLong = "the text is longer than 4 GiB",
    /// Arrays and objects are inside one another more than [`DEEPEST`](crate::DEEPEST) times: the rest is not read.
    TooDeep = "arrays and objects are nested more than 10,000 deep: the rest is not read",
    /// There are more than [`MOST_VALUES`](crate::MOST_VALUES) values, or more than there is memory for: the rest is not
    /// read.
    TooManyValues = "more values than can be held in memory: the rest is not read",
    /// The text is UTF-16, as some shells write redirected output. Exchanged JSON must be UTF-8 (RFC 8259, 8.1).
    Utf16 = "the text is UTF-16, not UTF-8",
    /// The text is UTF-32.
    Utf32 = "the text is UTF-32, not UTF-8",
    /// The bytes are not text at all: an archive, an image, a program.
    Binary = "this is not text",
}

impl SyntaxErrorKind {
    /// Whether the fault is about the encoding inside a string, so that the structure is still readable.
    pub fn is_in_text(self) -> bool {
        matches!(self, Self::InvalidUtf8 | Self::LoneSurrogate)
    }

    /// Whether all values are read in spite of the fault: it is inside a string, or before the first value.
    pub fn is_harmless(self) -> bool {
        self.is_in_text() || self == Self::ByteOrderMark
    }

    /// Whether the text may go on after it, so that the last values may not be whole.
    pub fn is_cut(self) -> bool {
        self.may_cut_string() || matches!(self, Self::Unclosed | Self::TooDeep | Self::TooManyValues)
    }

    /// Whether a string may end with it before its own end.
    pub fn may_cut_string(self) -> bool {
        matches!(self, Self::UnterminatedString | Self::MissingQuote)
    }

    /// Whether the whole text is not UTF-8, so that none of it was read.
    pub fn is_other_encoding(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf32 | Self::Binary)
    }
}

/// The encoding of a text that is not UTF-8, detected from its byte order mark or from which of its first bytes are
/// zero: JSON starts with ASCII characters.
pub(crate) fn other_encoding(bytes: &[u8]) -> Option<SyntaxErrorKind> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, 1..=255, ..] | [1..=255, 0, 0, 0, ..] => {
            Some(SyntaxErrorKind::Utf32)
        }
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, 1..=255, 0, 1..=255, ..] | [1..=255, 0, 1..=255, 0, ..] => {
            Some(SyntaxErrorKind::Utf16)
        }
        _ => None,
    }
}

/// A text in UTF-16 or UTF-32, in UTF-8; `None` if it is in neither.
pub fn decoded(bytes: &[u8]) -> Option<String> {
    let kind = other_encoding(bytes)?;
    let is_big = matches!(bytes, [0 | 0xFE, ..]);
    let units = bytes.chunks_exact(if kind == SyntaxErrorKind::Utf32 { 4 } else { 2 }).map(|unit| {
        let shift = |unit, byte: &u8| unit << 8 | u32::from(*byte);
        if is_big { unit.iter().fold(0, shift) } else { unit.iter().rev().fold(0, shift) }
    });
    let or_replaced = |character: Option<char>| character.unwrap_or(char::REPLACEMENT_CHARACTER);
    let text: String = match kind {
        SyntaxErrorKind::Utf32 => units.map(|unit| or_replaced(char::from_u32(unit))).collect(),
        _ => char::decode_utf16(units.map(|unit| unit as u16)).map(|unit| or_replaced(unit.ok())).collect(),
    };
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The number of bytes that are checked to decide whether the file is text.
const LOOKED_AT: usize = 4096;

/// The control characters that are in texts.
const TEXT_CONTROLS: [u8; 5] = *b"\t\n\r\x0C\x1B";

/// Whether the bytes are not text: more than a tenth of the first ones can't be in a text, or more than a quarter if
/// they start like JSON. A text with some broken characters is still text.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let is_json = begins_as_json(bytes);
    let mut controls = count(head, |byte| byte < 0x20);
    if controls > 0 {
        controls -= TEXT_CONTROLS.iter().map(|control| count(head, |byte| byte == *control)).sum::<usize>();
        // An interrupted write leaves null bytes.
        controls -= if is_json { count(head, |byte| byte == 0) } else { 0 };
    }
    let valid = simdutf8::compat::from_utf8(head).map_or_else(|error| error.valid_up_to(), str::len);
    let invalid: usize = head[valid..].utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    controls + invalid > if is_json { head.len() / 4 } else { head.len() / 10 }.max(3)
}

/// How many bytes are of a kind. Each body that is linted comes through here: plain comparisons, with a sum for as many as
/// fit a byte, are vectorised.
fn count(bytes: &[u8], is_counted: impl Fn(u8) -> bool) -> usize {
    let part =
        |part: &[u8]| part.iter().fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(is_counted(*byte))));
    bytes.chunks(255).map(|bytes| usize::from(part(bytes))).sum()
}

/// Whether the first character, after whitespace and null bytes, is one that an object, array or string starts with.
pub(crate) fn begins_as_json(bytes: &[u8]) -> bool {
    let space = bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
    matches!(bytes.get(space), None | Some(b'{' | b'[' | b'"'))
}
/// The maximum number of faults kept per document: a binary file may have one per byte.
pub const MOST_FAULTS: usize = 256;
/// The same of halves of characters, of which a broken tool writes very many.
pub(crate) const MOST_HALVES: usize = 1024;

/// Adds a fault for each run of bytes that is not UTF-8.
pub(crate) fn invalid_utf8(bytes: &[u8], faults: &mut Vec<SyntaxError>, left_out: &mut usize) {
    let (mut offset, mut count) = (0, 0);
    let mut last_end = None;
    for chunk in bytes.utf8_chunks() {
        offset += chunk.valid().len();
        let (start, end) = (offset as u32, (offset + chunk.invalid().len()) as u32);
        offset = end as usize;
        if start == end {
            continue;
        }
        // A run of invalid bytes (Latin-1 text, binary data) is one fault.
        if last_end == Some(start)
            && let Some(last) = faults.last_mut()
        {
            last.span.end = end;
        } else if count < MOST_FAULTS {
            count += 1;
            let span = Span::new(start, end);
            faults.push(SyntaxError { kind: SyntaxErrorKind::InvalidUtf8, span, opened_at: None });
        } else {
            *left_out += 1;
            continue;
        }
        last_end = Some(end);
    }
}
