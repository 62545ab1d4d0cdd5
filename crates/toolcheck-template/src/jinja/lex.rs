//! Cuts a template into tokens, as Jinja does with `trim_blocks` and `lstrip_blocks`.

use std::sync::Arc;

use super::fault::{Fault, RefusalKind};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Data(Arc<str>),
    BlockBegin,
    BlockEnd,
    VariableBegin,
    VariableEnd,
    Name(Arc<str>),
    Str(String),
    Int(i128),
    Float(f64),
    Sign(&'static str),
    End,
}

impl Token {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Data(_) => "template data / text".to_owned(),
            Self::BlockBegin => "begin of statement block".to_owned(),
            Self::BlockEnd => "end of statement block".to_owned(),
            Self::VariableBegin => "begin of print statement".to_owned(),
            Self::VariableEnd => "end of print statement".to_owned(),
            Self::Name(name) => name.to_string(),
            Self::Str(_) => "string".to_owned(),
            Self::Int(_) => "integer".to_owned(),
            Self::Float(_) => "float".to_owned(),
            Self::Sign(sign) => (*sign).to_owned(),
            Self::End => "end of template".to_owned(),
        }
    }
}

/// The operators, the longer ones first.
const SIGNS: [&str; 26] = [
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<",
    "=", ".", ":", "|", ",", ";",
];

/// The tokens of a template with their lines; the last is [`Token::End`].
pub(crate) fn tokens(source: &str) -> Result<Vec<(u32, Token)>, Box<Fault>> {
    let mut source = source.replace("\r\n", "\n").replace('\r', "\n");
    if source.ends_with('\n') {
        source.pop();
    }
    let mut lexer = Lexer { source: &source, at: 0, line: 1, line_starts: true, found: Vec::new() };
    lexer.run()?;
    let line = lexer.line;
    lexer.found.push((line, Token::End));
    Ok(lexer.found)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    /// Whether the last match ended with a line.
    line_starts: bool,
    found: Vec<(u32, Token)>,
}

/// What begins after a text.
#[derive(Clone, Copy, PartialEq)]
enum Tag {
    Raw,
    Block,
    Comment,
    Variable,
}

/// Whether Python's `str.isspace` holds.
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// The length of the whitespace at the start of a text.
fn space(text: &str) -> usize {
    text.len() - text.trim_start_matches(is_space).len()
}

impl Lexer<'_> {
    fn fault<T>(&self, message: impl Into<String>) -> Result<T, Box<Fault>> {
        Err(Fault::at(RefusalKind::Syntax, message, self.line))
    }

    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    /// Steps over so many bytes, and counts their lines.
    fn step(&mut self, length: usize) {
        let passed = &self.source[self.at..self.at + length];
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count() as u32;
        if length > 0 {
            self.line_starts = passed.ends_with('\n');
        }
        self.at += length;
    }

    fn run(&mut self) -> Result<(), Box<Fault>> {
        while self.at < self.source.len() {
            let Some((start, tag, sign, length)) = self.next_tag() else {
                let data = self.rest().to_owned();
                self.data(&data);
                self.step(data.len());
                return Ok(());
            };
            let text = self.source[self.at..start].to_owned();
            let kept = self.kept(&text, sign, tag != Tag::Variable);
            self.data(&text[..kept]);
            self.step(text.len());
            let line = self.line;
            self.step(length);
            match tag {
                Tag::Raw => self.raw()?,
                Tag::Comment => self.comment()?,
                Tag::Block | Tag::Variable => self.inside(tag, line)?,
            }
        }
        Ok(())
    }

    fn data(&mut self, text: &str) {
        if !text.is_empty() {
            self.found.push((self.line, Token::Data(text.into())));
        }
    }

    /// How much of the text before a tag is kept.
    fn kept(&self, text: &str, sign: Option<char>, is_block: bool) -> usize {
        if sign == Some('-') {
            return text.trim_end_matches(is_space).len();
        }
        if sign != Some('+') && is_block {
            let line = text.rfind('\n').map_or(0, |at| at + 1);
            if (line > 0 || self.line_starts) && text[line..].chars().all(is_space) {
                return line;
            }
        }
        text.len()
    }

    /// The next tag: where it starts, what it is, its sign and its length.
    fn next_tag(&self) -> Option<(usize, Tag, Option<char>, usize)> {
        let mut from = self.at;
        loop {
            let start = from + self.source[from..].find('{')?;
            let after = &self.source[start + 1..];
            let tag = match after.bytes().next() {
                Some(b'%') => Tag::Block,
                Some(b'#') => Tag::Comment,
                Some(b'{') => Tag::Variable,
                _ => {
                    from = start + 1;
                    continue;
                }
            };
            let sign = after[1..].chars().next().filter(|sign| matches!(sign, '-' | '+'));
            let length = 2 + usize::from(sign.is_some());
            if tag == Tag::Block
                && let Some(raw) = raw_begin(&self.source[start + length..])
            {
                return Some((start, Tag::Raw, sign, length + raw));
            }
            return Some((start, tag, sign, length));
        }
    }

    fn comment(&mut self) -> Result<(), Box<Fault>> {
        let Some(end) = self.rest().find("#}") else { return self.fault("Missing end of comment tag") };
        // The sign may be that of the beginning in Jinja only if there is a text between.
        let minus = self.rest()[..end].ends_with('-');
        let plus = self.rest()[..end].ends_with('+');
        let after = self.after_end(end + 2, minus, plus);
        self.step(after);
        Ok(())
    }

    /// Where a tag that ends at `end` lets the text go on.
    fn after_end(&self, end: usize, minus: bool, plus: bool) -> usize {
        let after = &self.rest()[end..];
        match (minus, plus) {
            (true, _) => end + space(after),
            (_, true) => end,
            _ => end + usize::from(after.starts_with('\n')),
        }
    }

    fn raw(&mut self) -> Result<(), Box<Fault>> {
        let mut from = 0;
        loop {
            let Some(start) = self.rest()[from..].find("{%").map(|at| at + from) else {
                return self.fault("Missing end of raw directive");
            };
            let tag = &self.rest()[start + 2..];
            let sign = tag.chars().next().filter(|sign| matches!(sign, '-' | '+'));
            let name_at = usize::from(sign.is_some());
            let name_at = name_at + space(&tag[name_at..]);
            if let Some(name) = tag[name_at..].strip_prefix("endraw") {
                let end = space(name);
                let (minus, plus) = (name[end..].starts_with("-%}"), name[end..].starts_with("+%}"));
                if minus || plus || name[end..].starts_with("%}") {
                    let text = self.rest()[..start].to_owned();
                    let kept = self.kept(&text, sign, true);
                    self.data(&text[..kept]);
                    let length = start + 2 + name_at + 6 + end + 2 + usize::from(minus || plus);
                    let after = self.after_end(length, minus, plus);
                    self.step(after);
                    return Ok(());
                }
            }
            from = start + 2;
        }
    }

    /// The tokens of a statement or a print statement that begins in this line, up to its end.
    fn inside(&mut self, tag: Tag, line: u32) -> Result<(), Box<Fault>> {
        let (begin, end) = match tag {
            Tag::Block => (Token::BlockBegin, Token::BlockEnd),
            _ => (Token::VariableBegin, Token::VariableEnd),
        };
        self.found.push((line, begin));
        let mut open: Vec<&'static str> = Vec::new();
        while self.at < self.source.len() {
            if open.is_empty()
                && let Some(length) = self.end_of(tag)
            {
                self.found.push((self.line, end));
                self.step(length);
                return Ok(());
            }
            let blank = space(self.rest());
            if blank > 0 {
                self.step(blank);
                continue;
            }
            let line = self.line;
            let (token, length) = self.token()?;
            if let Token::Sign(sign) = token {
                self.balance(sign, &mut open)?;
            }
            self.found.push((line, token));
            self.step(length);
        }
        Ok(())
    }

    fn balance(&self, sign: &'static str, open: &mut Vec<&'static str>) -> Result<(), Box<Fault>> {
        match sign {
            "{" => open.push("}"),
            "(" => open.push(")"),
            "[" => open.push("]"),
            "}" | ")" | "]" => match open.pop() {
                None => return self.fault(format!("unexpected '{sign}'")),
                Some(expected) if expected != sign => {
                    return self.fault(format!("unexpected '{sign}', expected '{expected}'"));
                }
                Some(_) => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn end_of(&self, tag: Tag) -> Option<usize> {
        let (rest, is_block) = (self.rest(), tag == Tag::Block);
        let end = if is_block { "%}" } else { "}}" };
        if let Some(after) = rest.strip_prefix('-').and_then(|rest| rest.strip_prefix(end)) {
            return Some(3 + space(after));
        }
        if is_block && rest.starts_with("+%}") {
            return Some(3);
        }
        let after = rest.strip_prefix(end)?;
        Some(2 + usize::from(is_block && after.starts_with('\n')))
    }

    fn token(&self) -> Result<(Token, usize), Box<Fault>> {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            if first.is_numeric() {
                return self.fault("Invalid character in identifier");
            }
            return Ok((Token::Name(rest[..length].into()), length));
        }
        if matches!(first, '\'' | '"')
            && let Some(length) = string_length(rest, first)
        {
            let text = unescape(&rest[1..length - 1]);
            return match text {
                Some(text) => Ok((Token::Str(text), length)),
                None => self.fault("truncated \\xXX escape"),
            };
        }
        match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => Ok((Token::Sign(sign), sign.len())),
            None => {
                let at = self.source[..self.at].chars().count();
                self.fault(format!("unexpected char {} at {at}", super::print::quoted(&first.to_string())))
            }
        }
    }

    fn number(&self, rest: &str) -> Result<(Token, usize), Box<Fault>> {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0o", 8), ("0O", 8)] {
            if let Some(text) = rest.strip_prefix(prefix) {
                let length = text.find(|c: char| !c.is_digit(radix) && c != '_').unwrap_or(text.len());
                let number = i128::from_str_radix(&text[..length].replace('_', ""), radix);
                if let Ok(number) = number {
                    return Ok((Token::Int(number), length + 2));
                }
            }
        }
        let whole = digits(rest);
        let mut length = whole;
        // `x.0.1` is two attributes and not a fraction.
        let after_dot = self.source[..self.at].ends_with('.');
        if rest[length..].starts_with('.') && rest[length + 1..].starts_with(|c: char| c.is_ascii_digit()) {
            length += 1 + digits(&rest[length + 1..]);
        }
        if rest[length..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
            let power = digits(&rest[length + 1 + sign..]);
            length += if power > 0 { 1 + sign + power } else { 0 };
        }
        if length > whole && !after_dot {
            let number = rest[..length].replace('_', "").parse().unwrap_or(f64::NAN);
            return Ok((Token::Float(number), length));
        }
        match rest[..whole].replace('_', "").parse() {
            Ok(number) => Ok((Token::Int(number), whole)),
            Err(_) => Err(Fault::at(RefusalKind::Unsupported, "a very large integer", self.line)),
        }
    }
}

/// The length of what follows `{%` and its sign, if it is the rest of a tag `raw`.
fn raw_begin(after: &str) -> Option<usize> {
    let start = space(after);
    let name = after[start..].strip_prefix("raw")?;
    let end = start + 3 + space(name);
    match &after[end..] {
        rest if rest.starts_with("-%}") => Some(end + 3 + space(&rest[3..])),
        rest if rest.starts_with("%}") => Some(end + 2),
        _ => None,
    }
}

fn string_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            return Some(at + 1);
        }
    }
    None
}

/// The text of a string, with the escapes of Python.
fn unescape(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let Some(escape) = rest.next() else {
            text.push('\\');
            break;
        };
        let simple = match escape {
            '\n' => continue,
            '\\' | '\'' | '"' => Some(escape),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            'x' => Some(code_point(&mut rest, 2)?),
            'u' => Some(code_point(&mut rest, 4)?),
            'U' => Some(code_point(&mut rest, 8)?),
            '0'..='7' => Some(octal(escape, &mut rest)),
            _ => None,
        };
        match simple {
            Some(simple) => text.push(simple),
            None => text.extend(['\\', escape]),
        }
    }
    Some(text)
}

fn code_point(rest: &mut std::str::Chars<'_>, length: usize) -> Option<char> {
    let digits = rest.as_str().get(..length)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    *rest = rest.as_str()[length..].chars();
    Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn octal(first: char, rest: &mut std::str::Chars<'_>) -> char {
    let mut number = first.to_digit(8).unwrap_or(0);
    for _ in 0..2 {
        let mut ahead = rest.clone();
        let Some(digit) = ahead.next().and_then(|c| c.to_digit(8)) else { break };
        number = number * 8 + digit;
        *rest = ahead;
    }
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}
