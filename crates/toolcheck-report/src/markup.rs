//! Text for XML and HTML.

use std::fmt::{self, Write as _};

/// Text escaped for XML 1.0 and HTML, in an attribute or between tags. Characters that XML cannot represent are left out,
/// and `##` is broken, with which commands for CI runners begin.
pub(crate) struct Escaped<'t>(pub(crate) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ' ';
        for character in self.0.chars() {
            match character {
                '#' if before == '#' => f.write_str("&#35;")?,
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&apos;")?,
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character))?,
                '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {}
                _ => f.write_char(character)?,
            }
            before = character;
        }
        Ok(())
    }
}

/// A piece of a message: plain, or code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Plain(&'t str),
    /// Text between two backticks.
    Code(&'t str),
}

/// The pieces of a message. An unclosed backtick is plain text.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let Some(length) = rest[start + 1..].find('`') else { break };
        pieces.push(Piece::Plain(&rest[..start]));
        pieces.push(Piece::Code(&rest[start + 1..start + 1 + length]));
        rest = &rest[start + length + 2..];
    }
    pieces.push(Piece::Plain(rest));
    pieces.retain(|piece| *piece != Piece::Plain(""));
    pieces
}
