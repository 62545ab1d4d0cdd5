//! Values as programs print them: literals of Python and JavaScript, which become JSON.
//!
//! `print(messages)` writes `{'role': 'user', 'content': None}`, and `console.log(messages)` writes `{ role: 'user' }`. Both
//! leave out what they have no notation for, and the second what is deep: such a value is cut.

use std::ops::Range;

use toolcheck_json::origins::Mapped;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Json,
    Python,
    JavaScript,
}

pub(crate) struct Literal {
    pub(crate) json: Mapped,
    pub(crate) language: Language,
    /// The first place at which the program left something out.
    pub(crate) cut: Option<Range<usize>>,
    pub(crate) place: Range<usize>,
    /// Whether the text ends inside it.
    pub(crate) is_unfinished: bool,
}

/// How deep objects and lists may be inside one another.
const DEEPEST: usize = 100;
/// How deep what is copied once more, tuples and objects of classes, may be inside one another.
const DEEPEST_COPY: usize = 12;
/// The longest name in angle brackets, such as `<object at 0x7f>`.
const LONGEST_NAME: usize = 400;

/// Reads the value that starts at a byte, or returns where it stops being one, which is always later.
pub(crate) fn read(bytes: &[u8], at: usize) -> Result<Literal, usize> {
    let (out, language) = (Mapped::default(), Language::Json);
    let mut reader = Reader { bytes, at, out, language, cut: None, is_unfinished: false, copies: 0 };
    match reader.value(0) {
        Some(()) => Ok(reader.finish(at)),
        // What is there of a value at the end of the text tells what it is.
        None if bytes.get(reader.at..).is_none_or(|rest| rest.trim_ascii_start().is_empty()) => {
            reader.is_unfinished = true;
            Ok(reader.finish(at))
        }
        None => Err(reader.at.max(at + 1)),
    }
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    out: Mapped,
    language: Language,
    cut: Option<Range<usize>>,
    is_unfinished: bool,
    /// How many values around this one are copied.
    copies: usize,
}

impl Reader<'_> {
    fn finish(self, start: usize) -> Literal {
        let Self { at, out, language, cut, is_unfinished, .. } = self;
        Literal { json: out, language, cut, place: start..at, is_unfinished }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn starts_with(&self, text: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(text)
    }

    /// Skips whitespace and comments, which programs do not print, but people write.
    fn skip_space(&mut self) {
        loop {
            while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.at += 1;
            }
            let (language, end): (_, &[u8]) = match &self.bytes[self.at..] {
                [b'/', b'/', ..] => (Language::JavaScript, b"\n"),
                [b'/', b'*', ..] => (Language::JavaScript, b"*/"),
                [b'#', ..] => (Language::Python, b"\n"),
                _ => return,
            };
            self.is_in(language);
            let found = memchr::memmem::find(&self.bytes[self.at..], end);
            self.at = found.map_or(self.bytes.len(), |found| self.at + found + end.len());
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn write(&mut self, text: &[u8], place: Range<usize>) {
        if self.bytes.get(place.clone()) == Some(text) {
            self.out.push_same(text, place.start);
        } else {
            self.out.push_whole(text, place);
        }
    }

    /// Writes a mark of JSON for the byte at a place.
    fn mark(&mut self, mark: u8, at: usize) {
        self.write(&[mark], at..(at + 1).min(self.bytes.len()));
    }

    /// Begins a value whose text is only written when it is known what it is, and returns the text so far.
    fn start_copy(&mut self) -> Option<Mapped> {
        self.copies += 1;
        (self.copies <= DEEPEST_COPY).then(|| std::mem::take(&mut self.out))
    }

    fn end_copy(&mut self, before: Mapped) -> Mapped {
        self.copies -= 1;
        std::mem::replace(&mut self.out, before)
    }

    fn is_in(&mut self, language: Language) {
        if self.language == Language::Json {
            self.language = language;
        }
    }

    fn is_cut_at(&mut self, place: Range<usize>) {
        self.cut.get_or_insert(place);
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        self.skip_space();
        let start = self.at;
        match self.peek()? {
            _ if depth > DEEPEST => None,
            b'{' => self.object(depth),
            b'[' => match self.name_in_brackets() {
                Some(is_cut) => {
                    self.is_in(Language::JavaScript);
                    if is_cut {
                        self.is_cut_at(start..self.at);
                    }
                    self.write(b"null", start..self.at);
                    Some(())
                }
                None => self.list(b']', depth),
            },
            b'(' => self.parenthesised(depth),
            b'\'' | b'"' | b'`' => self.string(false),
            b'-' | b'+' | b'0'..=b'9' => self.number(),
            b'<' => {
                self.name_in_angles()?;
                self.skip_space();
                // `<ref *1> {`: what follows refers to it.
                if self.peek() == Some(b'{') && self.bytes[start..self.at].starts_with(b"<ref ") {
                    return self.object(depth);
                }
                self.write(b"null", start..self.at);
                Some(())
            }
            b'.' => self.ellipsis().map(|()| self.write(b"null", start..self.at)),
            _ => self.word(depth),
        }
    }

    /// `...`, with what follows in words: `... 2 more items`.
    fn ellipsis(&mut self) -> Option<()> {
        let start = self.at;
        if !self.starts_with(b"...") {
            return None;
        }
        self.at += 3;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b' ';
        let words = self.bytes[self.at..].iter().take(LONGEST_NAME).take_while(|byte| is_word(byte)).count();
        if self.bytes[self.at..self.at + words].starts_with(b" ") {
            self.at += words;
        }
        self.is_cut_at(start..self.at);
        Some(())
    }

    /// What `console.log` writes in brackets in place of a value; whether it was left out because it is deep.
    fn name_in_brackets(&mut self) -> Option<bool> {
        let rest = &self.bytes[self.at + 1..];
        let cut: [&[u8]; 3] = [b"Object", b"Array", b"Circular"];
        let others: [&[u8]; 5] = [b"Function", b"AsyncFunction", b"class ", b"Getter", b"Symbol("];
        let is_cut = cut.iter().any(|name| rest.starts_with(name));
        if !is_cut && !others.iter().any(|name| rest.starts_with(name)) {
            return None;
        }
        let end = rest.iter().take(LONGEST_NAME).position(|byte| matches!(byte, b']' | b'\n'))?;
        if rest[end] != b']' {
            return None;
        }
        self.at += end + 2;
        Some(is_cut)
    }

    /// A name in angle brackets, which Python writes for what has no literal.
    fn name_in_angles(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let mut depth = 0_usize;
        for (at, byte) in rest.iter().enumerate().take(LONGEST_NAME) {
            match byte {
                b'<' => depth += 1,
                b'>' if depth == 1 => {
                    self.at += at + 1;
                    return Some(());
                }
                b'>' => depth -= 1,
                b'\n' => break,
                _ => {}
            }
        }
        self.at += 1;
        None
    }

    /// Whether the next value is one that has no place in JSON: `undefined`, or the mark of an argument that was not given.
    fn skip_nothing(&mut self) -> bool {
        self.skip_space();
        let start = self.at;
        let nothing: [&[u8]; 4] = [b"undefined", b"NOT_GIVEN", b"Omit()", b"omit"];
        if let Some(word) = nothing.iter().find(|word| self.starts_with(word)) {
            self.at += word.len();
            if !self.peek().is_some_and(is_of_word) {
                return true;
            }
        } else if self.peek() == Some(b'<') && !self.starts_with(b"<ref ") && self.name_in_angles().is_some()
        {
            return true;
        } else if let Some(false) = (self.peek() == Some(b'[')).then(|| self.name_in_brackets()).flatten() {
            return true;
        }
        self.at = start;
        false
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        let open = self.at;
        self.at += 1;
        self.mark(b'{', open);
        let mut is_first = true;
        loop {
            self.skip_space();
            let start = self.at;
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    self.mark(b'}', start);
                    return Some(());
                }
                b'.' => {
                    self.ellipsis()?;
                    self.skip_space();
                    self.take(b',');
                    continue;
                }
                _ => {}
            }
            // A key is written only if its value is.
            let key = std::mem::take(&mut self.out);
            let read = self.key();
            let key = std::mem::replace(&mut self.out, key);
            read?;
            self.skip_space();
            let colon = self.at;
            if !self.take(b':') {
                self.peek()?;
                return None;
            }
            if !self.skip_nothing() {
                self.member(&key, colon, &mut is_first);
                self.value(depth + 1)?;
            }
            self.after_element(b'}')?;
        }
    }

    fn member(&mut self, key: &Mapped, colon: usize, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.mark(b',', colon);
        }
        self.out.push_part(key, 0..key.text().len());
        self.mark(b':', colon);
    }

    /// A key: a string, or a name without quotes.
    fn key(&mut self) -> Option<()> {
        let start = self.at;
        match self.peek()? {
            b'\'' => {
                self.is_in(Language::Python);
                self.string(true)
            }
            b'"' => self.string(true),
            byte if byte.is_ascii_digit() || is_of_word(byte) => {
                while self.peek().is_some_and(is_of_word) {
                    self.at += 1;
                }
                let name = &self.bytes[start..self.at];
                self.language = Language::JavaScript;
                self.out.push_whole(b"\"", start..start + 1);
                self.out.push_same(name, start);
                self.out.push_whole(b"\"", self.at - 1..self.at);
                Some(())
            }
            _ => None,
        }
    }

    /// A comma, or the end that may follow an element.
    fn after_element(&mut self, end: u8) -> Option<()> {
        self.skip_space();
        if self.take(b',') || self.peek()? == end { Some(()) } else { None }
    }

    fn list(&mut self, end: u8, depth: usize) -> Option<()> {
        self.mark(b'[', self.at);
        self.at += 1;
        self.elements(end, depth, true)
    }

    fn elements(&mut self, end: u8, depth: usize, mut is_first: bool) -> Option<()> {
        loop {
            self.skip_space();
            let start = self.at;
            match self.peek()? {
                byte if byte == end => {
                    self.at += 1;
                    self.mark(b']', start);
                    return Some(());
                }
                b'.' => self.ellipsis()?,
                _ => {
                    if !std::mem::take(&mut is_first) {
                        self.mark(b',', start);
                    }
                    self.value(depth + 1)?;
                }
            }
            self.after_element(end)?;
        }
    }

    fn parenthesised(&mut self, depth: usize) -> Option<()> {
        let open = self.at;
        self.is_in(Language::Python);
        self.at += 1;
        self.skip_space();
        if self.peek()? == b')' {
            self.mark(b'[', open);
            return self.elements(b')', depth, true);
        }
        let before = self.start_copy()?;
        let read = self.value(depth + 1);
        let value = self.end_copy(before);
        read?;
        self.skip_space();
        let is_tuple = self.peek()? == b',';
        if is_tuple {
            self.mark(b'[', open);
        }
        self.out.push_part(&value, 0..value.text().len());
        if is_tuple {
            self.at += 1;
            return self.elements(b')', depth, false);
        }
        self.take(b')').then_some(())
    }

    /// A word: a constant, the prefix of a string, or the name of a class before its members.
    fn word(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| is_of_word(byte) || byte == b'.') {
            self.at += 1;
        }
        if self.at == start {
            return None;
        }
        let word = &self.bytes[start..self.at];
        let json: &[u8] = match word {
            b"true" | b"false" | b"null" => word,
            b"True" => b"true",
            b"False" => b"false",
            b"None" => b"null",
            b"nan" | b"NaN" | b"inf" | b"Infinity" | b"undefined" | b"NOT_GIVEN" => b"null",
            _ => return self.after_name(start, depth),
        };
        if word.first().is_some_and(u8::is_ascii_uppercase) && word != b"NaN" && word != b"Infinity" {
            self.is_in(Language::Python);
        }
        self.write(json, start..self.at);
        Some(())
    }

    /// What follows a name that is not a constant.
    fn after_name(&mut self, start: usize, depth: usize) -> Option<()> {
        let is_prefix = matches!(&self.bytes[start..self.at], b"b" | b"u" | b"B" | b"U");
        match self.peek()? {
            b'\'' | b'"' if is_prefix => {
                self.is_in(Language::Python);
                self.string(false)
            }
            b'(' => {
                self.is_in(Language::Python);
                self.constructor(start, depth)
            }
            b' ' if self.bytes[start].is_ascii_uppercase() && self.starts_with(b" {") => {
                self.is_in(Language::JavaScript);
                self.at += 1;
                self.object(depth)
            }
            _ => None,
        }
    }

    /// An object as Python prints it: the name of its class with its attributes, of which those that are `None` were not
    /// set. A class whose arguments have no names has no notation in JSON.
    fn constructor(&mut self, start: usize, depth: usize) -> Option<()> {
        let open = self.at;
        self.at += 1;
        let before = self.start_copy()?;
        self.mark(b'{', open);
        let (mut is_first, mut is_named) = (true, true);
        let read = loop {
            self.skip_space();
            let at = self.at;
            let Some(byte) = self.peek() else { break None };
            if byte == b')' {
                self.at += 1;
                self.mark(b'}', at);
                break Some(());
            }
            while self.peek().is_some_and(is_of_word) {
                self.at += 1;
            }
            let key = at..self.at;
            let colon = self.at;
            if key.is_empty() || !self.take(b'=') {
                self.at = at;
                is_named = false;
                if self.value(depth + 1).is_none() {
                    break None;
                }
            } else if !self.skip_unset() {
                let mut name = Mapped::default();
                name.push_whole(b"\"", key.start..key.start + 1);
                name.push_same(&self.bytes[key.clone()], key.start);
                name.push_whole(b"\"", key.end - 1..key.end);
                self.member(&name, colon, &mut is_first);
                if self.value(depth + 1).is_none() {
                    break None;
                }
            }
            if self.after_element(b')').is_none() {
                break None;
            }
        };
        let object = self.end_copy(before);
        read.or_else(|| (self.at >= self.bytes.len() && is_named).then_some(()))?;
        if is_named {
            self.out.push_part(&object, 0..object.text().len());
        } else {
            self.write(b"null", start..self.at);
        }
        read
    }

    fn skip_unset(&mut self) -> bool {
        if self.starts_with(b"None") && matches!(self.bytes.get(self.at + 4), Some(b',' | b')')) {
            self.at += 4;
            return true;
        }
        self.skip_nothing()
    }

    /// A string, with those that are joined to it. A key is one string.
    fn string(&mut self, is_key: bool) -> Option<()> {
        self.mark(b'"', self.at);
        loop {
            self.quoted()?;
            let end = self.at;
            if is_key {
                self.mark(b'"', end - 1);
                return Some(());
            }
            if self.starts_with(b"... ") {
                self.ellipsis()?;
            }
            self.skip_space();
            let is_joined = self.take(b'+');
            self.skip_space();
            if !matches!(self.peek(), Some(b'\'' | b'"' | b'`')) {
                if is_joined {
                    self.peek()?;
                    return None;
                }
                self.mark(b'"', end - 1);
                return Some(());
            }
        }
    }

    fn quoted(&mut self) -> Option<()> {
        let quote = self.peek()?;
        let triple = [quote; 3];
        let is_triple = quote != b'`' && self.starts_with(&triple);
        self.at += if is_triple { 3 } else { 1 };
        if quote == b'\'' {
            self.is_in(Language::Python);
        }
        let mut plain = self.at;
        loop {
            let byte = self.peek();
            let is_end = byte == Some(quote) && (!is_triple || self.starts_with(&triple));
            let is_plain = byte.is_some_and(|byte| !is_end && byte >= 0x20 && !matches!(byte, b'"' | b'\\'));
            if is_plain {
                self.at += 1;
                continue;
            }
            let text = &self.bytes[plain..self.at];
            self.out.push_same(text, plain);
            let start = self.at;
            match byte? {
                _ if is_end => {
                    self.at += if is_triple { 3 } else { 1 };
                    return Some(());
                }
                b'"' => {
                    self.at += 1;
                    self.out.push_whole(b"\\\"", start..self.at);
                }
                b'\\' => self.escape()?,
                b'\n' | b'\r' if !is_triple && quote != b'`' => return None,
                byte => {
                    self.at += 1;
                    self.out.push_whole(&escaped(u32::from(byte)), start..self.at);
                }
            }
            plain = self.at;
        }
    }

    /// An escape, which JSON writes alike or in another way.
    fn escape(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        let kind = self.peek()?;
        self.at += 1;
        let code = match kind {
            b'n' | b't' | b'r' | b'b' | b'f' | b'\\' | b'"' | b'/' => {
                self.out.push_same(&self.bytes[start..self.at], start);
                return Some(());
            }
            b'\n' => return Some(()),
            b'\'' | b'`' => u32::from(kind),
            b'a' => 7,
            b'v' => 11,
            b'0' => 0,
            b'x' => self.hex(2)?,
            b'u' if self.peek()? == b'{' => {
                self.at += 1;
                let length = self.bytes[self.at..].iter().take(7).position(|byte| *byte == b'}')?;
                let code = self.hex(length)?;
                self.at += 1;
                code
            }
            b'u' => {
                self.hex(4)?;
                self.out.push_same(&self.bytes[start..self.at], start);
                return Some(());
            }
            b'U' => self.hex(8)?,
            // Python keeps the backslash of what is not an escape.
            _ => {
                self.at = start + 1;
                self.out.push_whole(b"\\\\", start..self.at);
                return Some(());
            }
        };
        let text = match char::from_u32(code) {
            Some(character) if code >= 0x20 && character != '"' && character != '\\' => {
                character.to_string().into_bytes()
            }
            _ => escaped(code),
        };
        self.out.push_whole(&text, start..self.at);
        Some(())
    }

    fn hex(&mut self, length: usize) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + length);
        let Some(digits) = digits else {
            self.at = self.bytes.len();
            return None;
        };
        let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        self.at += length;
        Some(code)
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        let is_part =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b':');
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        if serde_json::from_str::<serde_json::Number>(text).is_ok() {
            self.write(&self.bytes[start..self.at], start..self.at);
            return Some(());
        }
        let plain = text.trim_start_matches('+').trim_end_matches('n').replace('_', "");
        // A date, or what only a program knows, is not a number, but a value.
        let json = plain.parse::<f64>().ok().filter(|number| number.is_finite());
        let json = json.map_or_else(|| "null".to_owned(), |number| number.to_string());
        if json == "null" && !text.contains([':', 'n', 'N', 'I']) {
            return None;
        }
        self.write(json.as_bytes(), start..self.at);
        Some(())
    }
}

/// A character as an escape of JSON.
fn escaped(code: u32) -> Vec<u8> {
    match code {
        0x22 => b"\\\"".to_vec(),
        0x5C => b"\\\\".to_vec(),
        0x0A => b"\\n".to_vec(),
        _ => format!("\\u{:04x}", code.min(0xFFFF)).into_bytes(),
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}
