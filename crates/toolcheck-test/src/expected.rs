//! Expected and actual findings, compared by ids and places, never by messages.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use toolcheck_core::suggest::{Suggestion, similar};
use toolcheck_core::text::bounded;
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::{Finding, rules};

use toolcheck_core::Error;

/// An expected finding.
///
/// As text it is the rule's id, optionally with the level before it and the place after it:
///
/// ```
/// use toolcheck_test::Expected;
///
/// let expected: Expected = "error unanswered-tool-call at /messages/1/content/0".parse()?;
/// assert_eq!(expected.rule, "unanswered-tool-call");
/// assert_eq!(expected.place.expect("it names one").pointer, "/messages/1/content/0");
/// // In the third record of JSON Lines, at either level; and anywhere.
/// "unanswered-tool-call at 2:/messages/1/content/0".parse::<Expected>()?;
/// "unanswered-tool-call".parse::<Expected>()?;
/// # Ok::<(), toolcheck_test::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The id of the rule.
    pub rule: String,
    /// The place; `None` for any place.
    pub place: Option<Place>,
    /// The level; `None` for either level.
    pub level: Option<Level>,
}

/// The place of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of its JSON Lines record, from 0.
    pub record: usize,
    /// Its JSON Pointer in the record.
    pub pointer: String,
}

/// An actual finding, with the properties that an expectation can name.
///
/// [`Expected`] can parse its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActualFinding {
    /// The id of the rule.
    pub rule: RuleId,
    /// Its level for the target.
    pub level: Level,
    /// Its place.
    pub place: Place,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The column in which it begins, from 1, in characters.
    pub column: u64,
}

/// The maximum number of characters of a pointer that are shown.
const POINTER_SHOWN: usize = 200;

impl From<&Finding> for ActualFinding {
    fn from(finding: &Finding) -> Self {
        Self {
            rule: finding.rule,
            level: finding.level,
            place: Place { record: finding.spot.record, pointer: finding.spot.pointer.clone() },
            line: finding.spot.start.line,
            column: finding.spot.start.column,
        }
    }
}

impl FromStr for Expected {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (named, place) = match text.split_once(" at ") {
            Some((named, place)) => (named, Some(place.parse()?)),
            None => (text, None),
        };
        let (level, rule) = match named.trim().split_once(' ') {
            Some((level, rule)) => {
                (Some(level.parse::<Level>().map_err(|error| Error::new(error.to_string()))?), rule.trim())
            }
            None => (None, named.trim()),
        };
        if rules::find(rule).is_none() {
            return Err(Error::new(format!("there is no rule `{rule}`{}", similar_rule(rule))));
        }
        Ok(Self { rule: rule.to_owned(), place, level })
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (record, pointer) = match text.split_once(':') {
            Some((record, pointer)) if !text.starts_with('/') => {
                let fault = |_| Error::new(format!("`{record}` is not a record number"));
                let number = record.parse().map_err(fault)?;
                (number, pointer)
            }
            _ => (0, text),
        };
        // The root has the empty pointer, which would be invisible.
        let pointer = if pointer == ROOT { "" } else { pointer };
        if !pointer.is_empty() && !pointer.starts_with('/') {
            let message = format!("`{pointer}` is not a JSON Pointer: it must begin with `/`, or be {ROOT}");
            return Err(Error::new(message));
        }
        Ok(Self { record, pointer: pointer.to_owned() })
    }
}

/// The text of the empty pointer.
const ROOT: &str = "\"\"";

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.record > 0 {
            write!(f, "{}:", self.record)?;
        }
        let pointer = if self.pointer.is_empty() { ROOT } else { &self.pointer };
        f.write_str(&bounded(pointer, POINTER_SHOWN))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(level) = self.level {
            write!(f, "{level} ")?;
        }
        f.write_str(&bounded(&self.rule, POINTER_SHOWN))?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " at {place}"))
    }
}

impl fmt::Display for ActualFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {}", self.level, self.rule, self.place)
    }
}

fn similar_rule(rule: &str) -> Suggestion<'static> {
    similar(rule, rules::ALL.iter().map(|rule| rule.id.as_str()))
}

/// A step of the alignment of expected and actual findings: each of them occurs once, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// An expected finding was found, possibly at another level.
    Pair(usize, usize),
    /// An expected finding was not found there.
    Missing(usize),
    /// A finding was not expected there.
    Unexpected(usize),
}

/// Aligns the expected with the actual findings, in one pass. Findings in another order are both missing and unexpected.
pub(crate) fn align(expected: &[Expected], found: &[ActualFinding]) -> Vec<Step> {
    // The numbers of remaining entries on each side. An expectation without a place matches any finding of its rule.
    let mut awaited = HashMap::<(&str, Option<&Place>), usize>::new();
    let mut coming = HashMap::<(&str, Option<&Place>), usize>::new();
    for expected in expected {
        *awaited.entry((&expected.rule, expected.place.as_ref())).or_default() += 1;
    }
    for found in found {
        *coming.entry((found.rule.as_str(), None)).or_default() += 1;
        *coming.entry((found.rule.as_str(), Some(&found.place))).or_default() += 1;
    }
    let (mut steps, mut next, mut at) = (Vec::new(), 0, 0);
    while next < expected.len() || at < found.len() {
        let (one, other) = (expected.get(next), found.get(at));
        let is_pair = one.zip(other).is_some_and(|(one, other)| {
            other.rule.as_str() == one.rule && one.place.as_ref().is_none_or(|place| *place == other.place)
        });
        let is_coming =
            |one: &Expected| coming.get(&(&*one.rule, one.place.as_ref())).is_some_and(|count| *count > 0);
        let is_awaited = |other: &ActualFinding| {
            [None, Some(&other.place)]
                .iter()
                .any(|place| awaited.get(&(other.rule.as_str(), *place)).is_some_and(|count| *count > 0))
        };
        // An expectation that a later finding matches is kept, unless another expectation matches the current finding.
        let is_missing = one.is_some_and(|one| !is_coming(one) || other.is_none_or(&is_awaited));
        let step = match is_pair {
            true => Step::Pair(next, at),
            false if is_missing => Step::Missing(next),
            false => Step::Unexpected(at),
        };
        steps.push(step);
        if let Some(one) = one.filter(|_| !matches!(step, Step::Unexpected(_))) {
            awaited.entry((&one.rule, one.place.as_ref())).and_modify(|count| *count -= 1);
            next += 1;
        }
        if let Some(other) = other.filter(|_| !matches!(step, Step::Missing(_))) {
            for place in [None, Some(&other.place)] {
                coming.entry((other.rule.as_str(), place)).and_modify(|count| *count -= 1);
            }
            at += 1;
        }
    }
    steps
}

/// The difference between the expected and the actual findings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// The missing and unexpected findings, in the order of the text.
    pub changes: Vec<Change>,
    /// The number of findings that are as expected.
    pub as_expected: usize,
}

/// A missing or unexpected finding. A finding at another level is one of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was expected, but not found.
    Missing(Expected),
    /// It was found, but not expected.
    Unexpected(ActualFinding),
}

impl Difference {
    /// Compares the expected with the actual findings.
    pub fn of(expected: &[Expected], found: &[ActualFinding]) -> Self {
        let mut difference = Self::default();
        let missing = |at: usize| Change::Missing(expected[at].clone());
        let unexpected = |at: usize| Change::Unexpected(found[at].clone());
        for step in align(expected, found) {
            match step {
                Step::Pair(one, other) if has_level(&expected[one], &found[other]) => {
                    difference.as_expected += 1;
                }
                Step::Pair(one, other) => difference.changes.extend([missing(one), unexpected(other)]),
                Step::Missing(one) => difference.changes.push(missing(one)),
                Step::Unexpected(other) => difference.changes.push(unexpected(other)),
            }
        }
        difference
    }

    /// Whether everything is as expected.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The difference as lines: `-` for a missing finding, `+` for an unexpected one with its place in the file `path`.
    /// Further differences are only counted.
    pub fn lines(&self, path: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            self.changes.iter().take(CHANGES_SHOWN).map(|change| change.line(path)).collect();
        if self.changes.len() > CHANGES_SHOWN {
            lines.push(format!("and {} more differences", self.changes.len() - CHANGES_SHOWN));
        }
        lines
    }
}

/// The maximum number of differences that are listed.
const CHANGES_SHOWN: usize = 40;

pub(crate) fn has_level(expected: &Expected, found: &ActualFinding) -> bool {
    expected.level.is_none_or(|level| level == found.level)
}

impl Change {
    /// The change as a line: `-` for a missing finding, or `+` for an unexpected one with its place in the file `path`.
    pub fn line(&self, path: &str) -> String {
        match self {
            Self::Missing(expected) if rules::find(&expected.rule).is_none() => {
                format!("- {expected} (there is no such rule{})", similar_rule(&expected.rule))
            }
            Self::Missing(expected) => format!("- {expected}"),
            Self::Unexpected(found) => format!("+ {found}  {path}:{}:{}", found.line, found.column),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
