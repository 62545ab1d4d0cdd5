//! Text for XML and HTML.

use std::fmt::{self, Write as _};
use std::io;

use toolcheck_core::text::bounded;

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

/// Metadata for browsers. The page is valid XML too, so that programs can read it.
const HEAD: &str = r#"<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="referrer" content="no-referrer"/>
"#;

/// Starts a page, up to the start of its body. `styles` come after those that all pages have.
pub(crate) fn start_page(title: &str, styles: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n{HEAD}<title>{}</title>\n<style>\n{}{styles}</style>\n</head>\n<body>",
        Escaped(title),
        include_str!("show/outputs/html.css"),
    )
}

/// Writes a message of at most so many characters, with its code as such.
pub(crate) fn write_message(text: &str, longest: usize, out: &mut dyn io::Write) -> io::Result<()> {
    for piece in pieces(&bounded(text, longest)) {
        match piece {
            Piece::Plain(text) => write!(out, "{}", Escaped(text))?,
            Piece::Code(text) => write!(out, "<code>{}</code>", Escaped(text))?,
        }
    }
    Ok(())
}
