//! Recognises JSON in a JSON string, without decoding the string.
//!
//! The arguments of calls are usually written like this, and nearly all of them are valid. Decoding them only to check
//! that would cost more than reading the rest of the file.

use crate::block::first_backslash;

/// The maximum depth of nesting.
const DEEPEST: u32 = 64;

/// Whether the inside of a string, with its escapes, is certainly the text of an object. `false` means that it is not known:
/// an object in an unusual notation is not recognised.
pub(crate) fn is_surely_object(raw: &[u8]) -> bool {
    let mut at = Cursor { raw, at: 0 };
    at.skip_space();
    at.raw.get(at.at) == Some(&b'{') && at.object_or_array().is_some() && {
        at.skip_space();
        at.at == raw.len()
    }
}

struct Cursor<'r> {
    raw: &'r [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.raw.get(self.at).copied()
    }

    /// Skips whitespace: spaces, and line ends and tabs, which are escapes here.
    fn skip_space(&mut self) {
        loop {
            match self.raw.get(self.at..) {
                Some([b' ', ..]) => self.at += 1,
                Some([b'\\', b'n' | b't' | b'r', ..]) => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips a byte that must be next.
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Skips a whole object or array; `None` if it is not certainly one.
    fn object_or_array(&mut self) -> Option<()> {
        // One bit for each open container: whether it is an object.
        let (mut objects, mut depth): (u64, u32) = (0, 0);
        loop {
            self.skip_space();
            // A value.
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    depth += 1;
                    if depth > DEEPEST {
                        return None;
                    }
                    objects = objects << 1 | u64::from(open == b'{');
                    self.skip_space();
                    let close = if open == b'{' { b'}' } else { b']' };
                    if self.peek() != Some(close) {
                        if open == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'\\' => self.string()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            // A comma or a closing bracket.
            loop {
                self.skip_space();
                let is_object = objects & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        if is_object {
                            self.skip_space();
                            self.key()?;
                        }
                        break;
                    }
                    b'}' if is_object => self.at += 1,
                    b']' if !is_object => self.at += 1,
                    _ => return None,
                }
                depth -= 1;
                objects >>= 1;
                if depth == 0 {
                    return Some(());
                }
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.skip_space();
        self.expect(b':')
    }

    /// Skips a string, whose quotes are escapes here.
    fn string(&mut self) -> Option<()> {
        if !self.raw.get(self.at..)?.starts_with(b"\\\"") {
            return None;
        }
        self.at += 2;
        loop {
            self.at += first_backslash(&self.raw[self.at..])?;
            match self.raw.get(self.at + 1..)? {
                [b'"', ..] => {
                    self.at += 2;
                    return Some(());
                }
                // An escape of the inner string, whose backslash is escaped.
                [b'\\', b'n' | b't' | b'r' | b'b' | b'f' | b'/', ..] => self.at += 3,
                [b'\\', b'\\', b'"' | b'\\', ..] => self.at += 4,
                [b'\\', b'u', digits @ ..] => {
                    let digits = digits.get(..4)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    self.at += 7;
                }
                // An escape of the outer string, for a character that is not a control character.
                [b'/', ..] => self.at += 2,
                [b'u', digits @ ..] => {
                    let unit = crate::unescape::code_unit(digits)?;
                    if unit < 0x80 {
                        return None;
                    }
                    self.at += 6;
                }
                _ => return None,
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.raw[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let first = self.peek();
        let length = self.digits()?;
        if first == Some(b'0') && length > 1 {
            return None;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Skips at least one digit.
    fn digits(&mut self) -> Option<usize> {
        let length = self.raw[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += length;
        (length > 0).then_some(length)
    }
}
