//! Regular expressions of models, ids and names.
//!
//! A run asks few of them about few short texts, and the same again for each request: most need no engine.

mod plain;

use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;
use toolcheck_toml::Text;

use self::plain::Plain;

/// A regular expression, compiled when it is first asked: most models are never named.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Text")]
pub struct Pattern {
    text: Text,
    plain: OnceLock<Option<Plain>>,
    engine: OnceLock<Option<Regex>>,
    /// Whether there may be a `|` outside of all brackets.
    has_outer_choice: OnceLock<bool>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<Text> for Pattern {
    fn from(text: Text) -> Self {
        Self { text, plain: OnceLock::new(), engine: OnceLock::new(), has_outer_choice: OnceLock::new() }
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Text::from(text).into()
    }
}

impl Pattern {
    /// The expression.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a text may match, by how it begins: a glance, because most expressions are for other texts.
    fn may_match(&self, text: &str) -> bool {
        let Some(pattern) = self.text.strip_prefix('^').map(str::as_bytes) else {
            return match self.text.as_bytes() {
                // The letter that it begins with is somewhere.
                [first, then, ..] if first.is_ascii_alphanumeric() || *first == b':' => {
                    b"*?{|".contains(then)
                        || memchr::memchr(*first, text.as_bytes()).is_some()
                        || self.has_outer_choice()
                }
                _ => true,
            };
        };
        let is_literal = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
        let literal = pattern.iter().take_while(is_literal).count();
        // The last one need not be there if this is said of it.
        let is_optional = matches!(pattern.get(literal), Some(b'*' | b'?' | b'{'));
        let start = &pattern[..literal - usize::from(is_optional && literal > 0)];
        text.as_bytes().starts_with(start) || self.has_outer_choice()
    }

    fn has_outer_choice(&self) -> bool {
        *self.has_outer_choice.get_or_init(|| self.finds_outer_choice())
    }

    fn finds_outer_choice(&self) -> bool {
        let mut depth = 0_usize;
        self.text.bytes().any(|byte| match byte {
            b'(' => {
                depth += 1;
                false
            }
            b')' => {
                depth = depth.saturating_sub(1);
                false
            }
            b'|' => depth == 0,
            // A bracket may be meant as a letter.
            b'[' | b'\\' => self.text.contains("\\(") || self.text.contains("[("),
            _ => false,
        })
    }

    /// A short text that matches, such as `gpt-5` for `^gpt-[56]`; `None` if none is found.
    pub fn example(&self) -> Option<String> {
        let plain = self.plain.get_or_init(|| Plain::of(&self.text)).as_ref();
        plain.map(Plain::example).filter(|example| self.is_match(example))
    }

    /// Whether something in a text matches. [`Target::parse`](super::Target::parse) has checked that the expression is one.
    pub fn is_match(&self, text: &str) -> bool {
        // What is compiled already tells by its first step, too.
        if let Some(Some(plain)) = self.plain.get()
            && plain.is_anchored()
            && let Some(is_match) = plain.is_match(text)
        {
            return is_match;
        }
        if !self.may_match(text) {
            return false;
        }
        let plain = self.plain.get_or_init(|| Plain::of(&self.text)).as_ref();
        plain.and_then(|plain| plain.is_match(text)).unwrap_or_else(|| {
            let engine = self.engine.get_or_init(|| Regex::new(&self.text).ok());
            engine.as_ref().is_some_and(|engine| engine.is_match(text))
        })
    }
}
