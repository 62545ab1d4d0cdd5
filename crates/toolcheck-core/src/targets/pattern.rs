//! Regular expressions of models, ids and names.
//!
//! A run asks few of them about few short texts, and the same again for each request: most need no engine.

mod plain;

use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use self::plain::Plain;

/// A regular expression, compiled when it is first asked: most models are never named.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    text: String,
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

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self { text, plain: OnceLock::new(), engine: OnceLock::new(), has_outer_choice: OnceLock::new() }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::{Pattern, Plain};

    proptest! {
        #[test]
        fn what_matches_may_match(number in 0..patterns().len(), text in "[a-z0-9.-]{0,8}|gpt-[a-z0-9.-]{0,8}|o[1-4](-mini)?") {
            let pattern = Pattern::from(patterns()[number].clone());
            prop_assert!(!pattern.is_match(&text) || pattern.may_match(&text), "{} {text}", pattern.as_str());
        }
    }

    fn of_targets() -> Vec<String> {
        let expression = Regex::new("(?m)(?:pattern|model|advisor) = '(.*?)'").expect("an expression");
        let mut all = Vec::new();
        for folder in ["targets", "shapes"] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            for file in std::fs::read_dir(folder).expect("a folder") {
                let text = std::fs::read_to_string(file.expect("a file").path()).expect("a text");
                all.extend(expression.captures_iter(&text).map(|found| found[1].to_owned()));
            }
        }
        assert!(all.len() > 100, "{}", all.len());
        all
    }

    fn patterns() -> Vec<String> {
        let mut all = of_targets();
        let odd = r"^[a-zA-Z0-9_-]+$ ^[a-c-]*$ ^[-a]{2}$ ^[^a]+$ ^[a&&b]+$ ^[]a]+$ ^[a-b-c]+$ ^[z-a]+$
            ^[a]{2,1}$ ^a_[bc]{2}[a-c]*$ ^[ab]+c$ ^[ab]*[a-c]{2}$ ^a[ab]{1,2}[bc]c$ ^[ab]*a*$ ^[ab]+?$
            ^[ab]{1}{2}$ ^a?$ ^a|b$ ^(a|b)$ ^a.$ ^$ ^[a]?$ ^\w+$ (?i)k (?i)ä [[:alpha:]] ( a{1000}
            (|a)b?$ (a|b)* (a a) a(?=b) a[.\-]|\.$ \d a.b [^a-z]K|(?i)k (?i)[a-c]|K_ ^a|[bc]+$
            a[bc]?[cd]?d?$ (^|[^0-9])b \<b b\> ^(a|[ab])?(b|b)?c";
        all.extend(odd.split_whitespace().chain(["^[ -~]{0,3}$"]).map(str::to_owned));
        all.sort();
        all.dedup();
        all
    }

    fn is_same(pattern: &str, text: &str) -> bool {
        let full = Regex::new(pattern).is_ok_and(|full| full.is_match(text));
        Pattern::from(pattern.to_owned()).is_match(text) == full
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However an expression is compiled, it matches what the engine for all expressions matches.
        #[test]
        fn every_way_to_match_is_the_same(
            text in prop_oneof!["[a-zA-Z0-9_.@-]{0,12}", "(claude|gpt|gemini)-[a-z0-9.-]{0,9}", "\\PC{0,4}", "[a-c]{0,3}\n?", "\\s{0,3}"],
        ) {
            for pattern in patterns() {
                prop_assert!(is_same(&pattern, &text), "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn models_have_examples() {
        let without: Vec<String> = of_targets()
            .into_iter()
            // The expressions of ids and names have repetitions.
            .filter(|pattern| !pattern.contains("(?") && !pattern.contains(['+', '*', '{']))
            .filter(|pattern| Pattern::from(pattern.clone()).example().is_none())
            .collect();
        assert!(without.is_empty(), "{without:?}");
        let example = |pattern: &str| Pattern::from(pattern.to_owned()).example();
        assert_eq!(example("^gpt-[56](-20|$)").as_deref(), Some("gpt-5-20"));
        assert_eq!(example(r"claude-opus-4[-.]([1-9]|@)").as_deref(), Some("claude-opus-4-1"));
        assert_eq!(example("^a$b"), None);
    }

    /// An expression of a user's own target may be anything.
    #[test]
    fn no_expression_takes_long() {
        let (many, deep) = ("(a|a)".repeat(40), "(a)".repeat(100_000));
        let text = "a".repeat(10_000);
        for pattern in [format!("^{many}b"), format!("{many}b"), format!("a?{}b", "a?".repeat(40)), many] {
            assert!(Plain::of(&pattern).is_none(), "{pattern}");
            assert!(is_same(&pattern, &text), "{pattern}");
        }
        let deep = Plain::of(&deep).expect("one path leads through it");
        assert_eq!(deep.is_match(&text), Some(false));
    }

    #[test]
    fn few_expressions_of_targets_need_an_engine() {
        let mut slow = of_targets();
        slow.retain(|pattern| Plain::of(pattern).is_none());
        slow.sort();
        slow.dedup();
        let expected = [
            r"^ ?([A-Za-z0-9_()\[\]-]+ ?)*$",
            "^(?s:[^n].*|n|n[^u].*|nu|nu[^l].*|nul|nul[^l].*|null.+)$",
            r"^(?s:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[])*\(\?<?[=!]",
            "^(|([a-z0-9]+)|(arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+))$",
            r"^\^(?s:.*)\$$",
            r"^\^(?s:[^\\]|\\[^bBdDsSwW])*\\[bBdDsSwW](?s:.*)\$$",
            r"^s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?$",
        ];
        assert_eq!(slow, expected);
    }
}
