//! Regular expressions of models, ids and names.
//!
//! A run asks few of them about few short texts, so what counts is how fast one is compiled. Most of those about ids
//! and names ask for characters of a class, which needs no engine, and most others are of the plain kind that a small engine takes.

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
    Sequence(Sequence),
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
            Quick::Sequence(sequence) => sequence.is_match(text.as_bytes()),
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
        if let Some(sequence) = Sequence::of(pattern) {
            return Self::Sequence(sequence);
        }
        regex_lite::Regex::new(pattern).map_or(Self::None, Self::Light)
    }
}

/// Characters one after another from the start to the end of a text, of which only one part may be of several lengths:
/// `^tool_[a-z0-9_]{1,64}[a-z]$`.
#[derive(Debug, Clone)]
struct Sequence {
    /// The characters of ASCII that there are at first, each of a set.
    first: Vec<u128>,
    /// The set of those that follow, and how many there are.
    middle: u128,
    least: usize,
    most: usize,
    /// The sets of those at the end.
    last: Vec<u128>,
}

/// The most characters of which each may be of a set of its own.
const MOST_SETS: usize = 64;

impl Sequence {
    /// The sequence that an expression asks for.
    fn of(pattern: &str) -> Option<Self> {
        let mut left = pattern.strip_prefix('^')?.strip_suffix('$')?;
        let mut sequence = Self { first: Vec::new(), middle: 0, least: 0, most: 0, last: Vec::new() };
        let mut is_behind = false;
        while !left.is_empty() {
            let (set, after) = set(left)?;
            let (least, most, after) = times(after)?;
            left = after;
            if least != most {
                // Where another such part begins would have to be found out.
                if std::mem::replace(&mut is_behind, true) {
                    return None;
                }
                (sequence.middle, sequence.least, sequence.most) = (set, least, most);
                continue;
            }
            let sets = if is_behind { &mut sequence.last } else { &mut sequence.first };
            if sets.len() + least > MOST_SETS {
                return None;
            }
            sets.extend(std::iter::repeat_n(set, least));
        }
        Some(sequence)
    }

    fn is_match(&self, text: &[u8]) -> bool {
        let Some((first, rest)) = text.split_at_checked(self.first.len()) else { return false };
        let middle = rest.len().checked_sub(self.last.len());
        let Some((middle, last)) = middle.map(|length| rest.split_at(length)) else { return false };
        let is_in = |byte: &u8, set: u128| byte.is_ascii() && set >> byte & 1 == 1;
        let are_in =
            |bytes: &[u8], sets: &[u128]| bytes.iter().zip(sets).all(|(byte, set)| is_in(byte, *set));
        (self.least..=self.most).contains(&middle.len())
            && are_in(first, &self.first)
            && are_in(last, &self.last)
            && middle.iter().all(|byte| is_in(byte, self.middle))
    }
}

/// A character or a class of them at the start of an expression, and what follows it.
fn set(pattern: &str) -> Option<(u128, &str)> {
    if let Some(class) = pattern.strip_prefix('[') {
        let (class, after) = class.split_once(']')?;
        return Some((class_of(class)?, after));
    }
    let (first, after) = pattern.split_at_checked(1)?;
    let byte = first.as_bytes()[0];
    (byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).then_some((1 << byte, after))
}

/// The characters of a class.
fn class_of(class: &str) -> Option<u128> {
    let is_plain = class.is_ascii() && !class.contains(['\\', '[', '^', '&', '~']) && !class.contains("--");
    let mut rest = Some(class.as_bytes()).filter(|class| is_plain && !class.is_empty())?;
    let mut set = 0;
    while let [first, after @ ..] = rest {
        let (last, after) = match after {
            [b'-', last, after @ ..] => (last, after),
            _ => (first, after),
        };
        // Backwards it is no range.
        if last < first {
            return None;
        }
        (*first..=*last).for_each(|byte| set |= 1_u128 << byte);
        rest = after;
    }
    Some(set)
}

/// How often something is repeated, at least and at most, and what follows.
fn times(pattern: &str) -> Option<(usize, usize, &str)> {
    let mut rest = pattern.chars();
    match rest.next() {
        Some('+') => Some((1, usize::MAX, rest.as_str())),
        Some('*') => Some((0, usize::MAX, rest.as_str())),
        Some('?') => Some((0, 1, rest.as_str())),
        Some('{') => {
            let (times, after) = rest.as_str().split_once('}')?;
            let (least, most) = times.split_once(',').unwrap_or((times, times));
            let (least, most) = (least.parse().ok()?, most.parse().ok()?);
            (least <= most).then_some((least, most, after))
        }
        _ => Some((1, 1, pattern)),
    }
    // Another repetition behind it makes it lazy or is an error.
    .filter(|(_, _, after)| !after.starts_with(['+', '*', '?', '{']))
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
                "^a_[bc]{2}[a-c]*$",
                "^[ab]+c$",
                "^[ab]*[a-c]{2}$",
                "^a[ab]{1,2}[bc]c$",
                "^[ab]*a*$",
                "^[ab]+?$",
                "^[ab]{1}{2}$",
                "^a?$",
                "^a|b$",
                "^(a|b)$",
                "^a.$",
                "^$",
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
        assert_eq!(slow, ["(", "^[a&&b]+$", "^[a]{2,1}$", "^[z-a]+$"]);
        assert!(matches!(Quick::of("^[a-zA-Z0-9_-]{1,64}$"), Quick::Sequence(_)));
        assert!(matches!(Quick::of("gemini-[34]"), Quick::Light(_)));
    }
}
