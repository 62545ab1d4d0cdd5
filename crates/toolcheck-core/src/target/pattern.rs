//! Regular expressions of models, ids and names.
//!
//! A run asks few of them about few short texts, so what counts is how fast one is compiled. Most ask for characters of a
//! class and nothing else, which needs no engine, and most others are of the plain kind that a small engine takes.

use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

/// A regular expression, compiled when it is first asked: most models are never named.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    text: String,
    quick: OnceLock<Quick>,
    full: OnceLock<Option<Regex>>,
}

/// What is compiled quickly.
#[derive(Debug, Clone)]
enum Quick {
    Class(Class),
    /// The same for a text of ASCII.
    Light(regex_lite::Regex),
    None,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self { text, quick: OnceLock::new(), full: OnceLock::new() }
    }
}

impl Pattern {
    /// The expression.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something in a text matches. [`Target::parse`](super::Target::parse) has checked that the expression is one.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        match self.quick.get_or_init(|| Quick::of(&self.text)) {
            Quick::Class(class) => class.is_match(text.as_bytes()),
            Quick::Light(light) if text.is_ascii() => light.is_match(text),
            Quick::Light(_) | Quick::None => {
                let full = self.full.get_or_init(|| Regex::new(&self.text).ok());
                full.as_ref().is_some_and(|full| full.is_match(text))
            }
        }
    }
}

impl Quick {
    fn of(pattern: &str) -> Self {
        if let Some(class) = Class::of(pattern) {
            return Self::Class(class);
        }
        regex_lite::Regex::new(pattern).map_or(Self::None, Self::Light)
    }
}

/// Characters of a class from the start to the end of a text.
#[derive(Debug, Clone)]
struct Class {
    /// The characters of ASCII that it has.
    has: u128,
    least: usize,
    most: usize,
}

impl Class {
    /// The class that an expression such as `^[a-z_]{1,64}$` asks for.
    fn of(pattern: &str) -> Option<Self> {
        let (class, times) = pattern.strip_prefix("^[")?.strip_suffix('$')?.split_once(']')?;
        let (least, most) = match times {
            "+" => (1, usize::MAX),
            "*" => (0, usize::MAX),
            _ => {
                let times = times.strip_prefix('{')?.strip_suffix('}')?;
                let (least, most) = times.split_once(',').unwrap_or((times, times));
                (least.parse().ok()?, most.parse().ok()?)
            }
        };
        if class.is_empty()
            || !class.is_ascii()
            || class.contains(['\\', '[', '^', '&', '~'])
            || class.contains("--")
        {
            return None;
        }
        let mut has = 0;
        let mut rest = class.as_bytes();
        while let [first, after @ ..] = rest {
            let last = match after {
                [b'-', last, after @ ..] => {
                    rest = after;
                    *last
                }
                _ => {
                    rest = after;
                    *first
                }
            };
            // Backwards it is no range.
            if last < *first {
                return None;
            }
            (*first..=last).for_each(|byte| has |= 1_u128 << byte);
        }
        Some(Self { has, least, most })
    }

    fn is_match(&self, text: &[u8]) -> bool {
        let is_own = |byte: &u8| byte.is_ascii() && self.has >> byte & 1 == 1;
        (self.least..=self.most).contains(&text.len()) && text.iter().all(is_own)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::{Pattern, Quick};
    use crate::target;

    /// The expressions of all targets.
    fn patterns() -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for target in target::all() {
            let ids = &target.ids;
            let own = [&ids.pattern, &ids.server_pattern, &ids.item_pattern, &target.names.pattern];
            let models = target.refusals.iter().flat_map(|refusal| [&refusal.model, &refusal.except_model]);
            let models = models.chain(target.tolerances.iter().map(|tolerance| &tolerance.model));
            all.extend(own.into_iter().chain(models).flatten().map(|pattern| pattern.as_str().to_owned()));
        }
        all.extend(
            [
                "^[a-zA-Z0-9_-]+$",
                "^[a-c-]*$",
                "^[-a]{2}$",
                "^[^a]+$",
                "^[a&&b]+$",
                "^[]a]+$",
                "^[a-b-c]+$",
                "^[z-a]+$",
                "^[a]{2,1}$",
                "^[a]?$",
                "^[ -~]{0,3}$",
                r"^\w+$",
                "(?i)k",
                "(?i)ä",
                "[[:alpha:]]",
                "(",
                "a{1000}",
            ]
            .map(str::to_owned),
        );
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
            text in prop_oneof!["[a-zA-Z0-9_.@-]{0,12}", "(claude|gpt|gemini)-[a-z0-9.-]{0,9}", "\\PC{0,4}", "[a-c]{0,3}\n?"],
        ) {
            for pattern in patterns() {
                prop_assert!(is_same(&pattern, &text), "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn the_expressions_of_targets_are_compiled_quickly() {
        let slow = |pattern: &String| matches!(Quick::of(pattern), Quick::None);
        let slow: Vec<String> = patterns().into_iter().filter(slow).collect();
        assert_eq!(slow, ["(", "^[a&&b]+$", "^[z-a]+$"]);
        assert!(matches!(Quick::of("^[a-zA-Z0-9_-]{1,64}$"), Quick::Class(_)));
        assert!(matches!(Quick::of("gemini-[34]"), Quick::Light(_)));
    }
}
