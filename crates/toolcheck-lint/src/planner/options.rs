//! What a fix may do.

use std::fmt;
use std::str::FromStr;

use toolcheck_core::Error;
use toolcheck_core::missing_result::{self, PLACEHOLDER};
use toolcheck_core::{Level, RuleId};

use crate::category::Category;
use crate::finding::{Finding, LeftOut, Spot};
use crate::options::setters;
use crate::rules;

/// What happens to a call without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unanswered {
    /// It gets a result that says so.
    #[default]
    Answer,
    /// It is removed, which loses it.
    Drop,
    /// Nothing.
    Leave,
}

/// What happens to a result without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orphans {
    /// It becomes text of the user, unless there is a call that it clearly belongs to.
    #[default]
    Text,
    /// It is removed, which loses it.
    Drop,
    /// Nothing.
    Leave,
}

/// What happens to two different results of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// The content of the second is put after that of the first.
    #[default]
    Both,
    /// The first stays.
    First,
    /// The last stays, in the place of the first.
    Last,
}

/// A place whose findings are fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixPlace {
    /// The line on which a finding begins, from 1.
    Line(usize),
    /// The line and the column at which a finding begins, from 1.
    Position(usize, usize),
    /// The JSON Pointer of a finding's value, or of one that it is in, in its record.
    Pointer(String),
    /// The byte of the text at which a finding begins.
    Byte(usize),
}

impl FixPlace {
    /// Whether a finding is there.
    pub fn has(&self, spot: &Spot) -> bool {
        match self {
            Self::Line(line) => spot.start.line == *line as u64,
            Self::Position(line, column) => {
                spot.start.line == *line as u64 && spot.start.column == *column as u64
            }
            Self::Pointer(pointer) => {
                let rest = spot.pointer.strip_prefix(&**pointer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            Self::Byte(byte) => spot.bytes.start == *byte,
        }
    }
}

impl fmt::Display for FixPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Position(line, column) => write!(f, "{line}:{column}"),
            Self::Pointer(pointer) => f.write_str(pointer),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

impl FromStr for FixPlace {
    type Err = Error;

    /// Reads `LINE`, `LINE:COLUMN` or a JSON Pointer.
    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let place = match text.split_once(':') {
            // The empty pointer is that of the whole document.
            _ if text.is_empty() || text.starts_with('/') => Some(Self::Pointer(text.to_owned())),
            Some((line, column)) => {
                number(line).zip(number(column)).map(|(line, column)| Self::Position(line, column))
            }
            None => number(text).map(Self::Line),
        };
        let wrong = || Error::new(format!("`{text}` is not a LINE, a LINE:COLUMN or a JSON Pointer"));
        place.ok_or_else(wrong)
    }
}

/// What a fix may do, and how.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct FixOptions {
    only: Vec<RuleId>,
    places: Vec<FixPlace>,
    /// What is left because its fix makes nothing better.
    left_out: Vec<LeftOut>,
    pub(crate) unsafe_fixes: bool,
    pub(crate) accepted: bool,
    pub(crate) unanswered: Unanswered,
    pub(crate) orphans: Orphans,
    pub(crate) duplicates: Duplicates,
    placeholder: Option<String>,
}

impl FixOptions {
    /// Only what loses and guesses nothing.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Whether to do also what loses or guesses something.
        unsafe_fixes: bool,
        /// Whether to fix also what the target is known to accept, or not known to refuse: every change may cost a cache.
        accepted: bool,
        /// What happens to calls without a result.
        unanswered: Unanswered,
        /// What happens to results without a call.
        orphans: Orphans,
        /// What happens to two different results of one call.
        duplicates: Duplicates,
    }

    /// The only rules whose findings are fixed; none for all.
    pub fn only(mut self, rules: impl IntoIterator<Item = RuleId>) -> Self {
        self.only = rules.into_iter().collect();
        self
    }

    /// The only places whose findings are fixed; none for all.
    pub fn places(mut self, places: impl IntoIterator<Item = FixPlace>) -> Self {
        self.places = places.into_iter().collect();
        self
    }

    /// What a result says that stands for one which is missing.
    pub fn placeholder(mut self, placeholder: impl Into<String>) -> Self {
        self.placeholder = Some(placeholder.into());
        self
    }

    /// Whether a finding is to be fixed: the target refuses it, the model does not read it, or the user asks for more.
    pub(crate) fn wants(&self, finding: &Finding) -> bool {
        self.takes(finding) && self.asks_for(finding.rule, &finding.spot) && !self.leaves_out(finding)
    }

    pub(crate) fn leaves_out(&self, finding: &Finding) -> bool {
        self.left_out.iter().any(|(rule, head)| *rule == finding.rule && **head == *finding.head.bytes())
    }

    /// Whether a finding is bad enough to be fixed, or about a chat template.
    pub(crate) fn takes(&self, finding: &Finding) -> bool {
        self.accepted || finding.level == Level::Error || is_of_template(finding)
    }

    /// Whether a finding of this rule at this place is of one of the rules and places that the user asks for.
    pub fn asks_for(&self, rule: RuleId, place: &Spot) -> bool {
        (self.only.is_empty() || self.only.contains(&rule))
            && (self.places.is_empty() || self.places.iter().any(|own| own.has(place)))
    }

    /// What is not fixed and not told of, wherever it is then.
    pub fn without<'f>(self, findings: impl Iterator<Item = &'f Finding>) -> Self {
        self.leaving_out(findings.map(Finding::left_out).collect())
    }

    /// The same without some findings more.
    pub(crate) fn leaving_out(&self, mut left_out: Vec<LeftOut>) -> Self {
        left_out.extend_from_slice(&self.left_out);
        Self { left_out, ..self.clone() }
    }

    /// The only rules whose findings are fixed; none for all.
    pub fn only_rules(&self) -> &[RuleId] {
        &self.only
    }

    /// The only places whose findings are fixed; none for all.
    pub fn only_places(&self) -> &[FixPlace] {
        &self.places
    }

    /// What stands for a missing result.
    pub(crate) fn said_instead(&self) -> &str {
        self.placeholder.as_deref().unwrap_or(PLACEHOLDER)
    }

    /// Whether a text stands for a missing result.
    pub(crate) fn is_placeholder(&self, text: &str) -> bool {
        text == self.said_instead() || missing_result::is_said_by(text)
    }
}

/// Whether a finding is about a chat template, which is there only if the user has named one.
pub(crate) fn is_of_template(finding: &Finding) -> bool {
    rules::get(finding.rule).category == Category::Templates
}
