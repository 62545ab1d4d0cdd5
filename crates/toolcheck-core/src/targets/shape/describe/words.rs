//! What is asked, and when, in words.

use std::fmt::{self, Display};

use super::{Asked, Known};
use crate::targets::shape::{Condition, JsonType, Scalar, ShapeFaultKind};

impl Display for Asked<'_> {
    /// Writes what must hold, to stand behind the key: ``needs `tools` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present { unless } if unless.is_empty() => f.write_str("required"),
            Self::Present { unless } => write!(f, "required unless there is {}", keys(unless)),
            Self::Absent | Self::OnlyKnownKeys => f.write_str("not allowed"),
            Self::AtMostOne(of) => write!(f, "only one of {}", keys(of)),
            Self::AtLeastOne(of) => write!(f, "one of {}", keys(of)),
            Self::Types(types) => {
                let types: Vec<&str> =
                    types.iter().map(|json_type: &JsonType| json_type.with_article()).collect();
                f.write_str(&listed(&types, "or"))
            }
            Self::OneOf { values, any_case: false } => f.write_str(&listed(values, "or")),
            Self::OneOf { values, any_case: true } => write!(f, "{}, in any case", listed(values, "or")),
            Self::NoneOf(values) => write!(f, "not {}", listed(values, "or")),
            Self::NotStarting(starts) => write!(f, "does not start with {}", keys(starts)),
            Self::Pattern(pattern) => write!(f, "matches `{pattern}`"),
            Self::NotMatching(pattern) => write!(f, "does not match `{pattern}`"),
            Self::KeyPattern(pattern) => write!(f, "its keys match `{pattern}`"),
            Self::Length { min, max } => limits(f, *min, *max, " characters"),
            Self::Items { min, max } => limits(f, *min, *max, " elements"),
            Self::Range { min, max } => limits(f, *min, *max, ""),
            Self::Base64 => f.write_str("Base64, without a `data:` prefix"),
            Self::Unique => f.write_str("different in each"),
            Self::Among(pointer) => write!(f, "one of `{}`", place(pointer)),
            Self::Lists(key) => write!(f, "lists only keys of `{key}`"),
            Self::ListsAll(key) => write!(f, "lists every key of `{key}`"),
            Self::Other { condition, keys: others, values } => {
                let places: Vec<String> = others.iter().map(|key| place(key)).collect();
                let others = keys(&places);
                match condition {
                    Condition::Needs => write!(f, "needs {others}"),
                    Condition::Excludes => write!(f, "not together with {others}"),
                    Condition::OnlyIf => write!(f, "only if {others} is {}", listed(values, "or")),
                    Condition::NotIf => write!(f, "not if {others} is {}", listed(values, "or")),
                    Condition::LessThan => write!(f, "less than {others}"),
                    Condition::NotAfter => write!(f, "not after an element with {others}"),
                }
            }
        }
    }
}

impl ShapeFaultKind {
    /// What is wrong, in words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Missing => "a missing key",
            Self::Unknown => "an unknown key",
            Self::Type => "another type",
            Self::Value => "another value",
            Self::Pattern => "a text that does not match",
            Self::Length => "a text that is too long or too short",
            Self::Items => "too many or too few elements",
            Self::Range => "a number out of range",
            Self::Base64 => "a text that is not Base64",
            Self::Unique => "a value that is there twice",
            Self::Names => "names that do not fit",
            Self::Union => "several kinds at once",
            Self::None => "none of its kinds",
            Self::Conflict => "a key that something else forbids",
        }
    }
}

impl Known<'_> {
    /// When it holds, as clauses to stand behind a sentence; empty if it holds always.
    pub fn conditions(&self) -> String {
        let mut clauses = Vec::new();
        if let Some(model) = self.model {
            clauses.push(format!("for models `{model}`"));
        }
        if let Some(model) = self.except_model {
            clauses.push(format!("except for models `{model}`"));
        }
        for (key, values) in &self.only_where {
            clauses.push(match values {
                [] => format!("if there is `{}`", place(key)),
                values => format!("if `{}` is {}", place(key), listed(values, "or")),
            });
        }
        if let Some(key) = self.unless {
            clauses.push(format!("unless there is `{}`", place(key)));
        }
        let got = self.got.and_then(|got| got.parse::<JsonType>().ok());
        if let Some(got) = got {
            clauses.push(format!("if it is {}", got.with_article()));
        }
        clauses.join(", ")
    }
}

/// A key, or where a JSON Pointer from the root leads.
fn place(key: &str) -> String {
    match key.strip_prefix('/') {
        Some(pointer) => pointer.replace("/*", "[]").replace('/', "."),
        None => key.to_owned(),
    }
}

fn keys<S: Display>(keys: &[S]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    listed(&quoted, "or")
}

/// Several of something, with a word before the last.
pub(in crate::targets::shape) fn listed<S: Display>(items: &[S], word: &str) -> String {
    match items {
        [] => "nothing".to_owned(),
        [only] => only.to_string(),
        [others @ .., last] => {
            let others: Vec<String> = others.iter().map(ToString::to_string).collect();
            format!("{} {word} {last}", others.join(", "))
        }
    }
}

fn limits<N: Display + PartialEq>(
    f: &mut fmt::Formatter<'_>,
    min: Option<N>,
    max: Option<N>,
    unit: &str,
) -> fmt::Result {
    let is_one = |limit: &N| limit.to_string() == "1";
    let unit_of = |limit: &N| if is_one(limit) { unit.trim_end_matches('s') } else { unit };
    match (&min, &max) {
        (Some(min), Some(max)) if min == max => write!(f, "exactly {min}{}", unit_of(min)),
        (Some(min), Some(max)) => write!(f, "{min} to {max}{unit}"),
        (Some(min), None) => write!(f, "at least {min}{}", unit_of(min)),
        (None, Some(max)) => write!(f, "at most {max}{}", unit_of(max)),
        (None, None) => Ok(()),
    }
}

impl Display for Scalar {
    /// Writes it as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_string { write!(f, "\"{}\"", self.text) } else { f.write_str(&self.text) }
    }
}
