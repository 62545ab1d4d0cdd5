//! What a target refuses and accepts, with the evidence.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use toolcheck_toml::Text;

use super::Pattern;
use super::shape::Answer;
use crate::level::Level;
use crate::rule_id::RuleId;

/// How well a refusal is known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvidenceSummary {
    /// How it is known.
    pub evidence: Evidence,
    /// Why it may not hold.
    pub doubt: Option<Text>,
    /// Where it was seen or is said: the first address that is known, or the first source.
    pub source: Option<Text>,
}

impl EvidenceSummary {
    /// How bad a refusal that is known so well makes a finding.
    pub fn level(&self) -> Level {
        if self.caution().is_some() { Level::Warning } else { Level::Error }
    }

    /// Why it is not enough for an error: a clause. `None` where it is enough.
    pub fn caution(&self) -> Option<&str> {
        let inferred =
            (self.evidence == Evidence::Inferred).then_some("this is inferred and has not been reported");
        self.doubt.as_deref().or(inferred)
    }
}

/// The source to name where there is room for one: the first address, or the first of all.
pub(crate) fn first_source(sources: &[Text]) -> Option<Text> {
    sources.iter().find(|source| source.starts_with("https://")).or(sources.first()).cloned()
}

/// How a fact is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Evidence {
    /// Concluded from something else. Never enough for an error.
    #[default]
    Inferred,
    /// Somebody quoted it in public.
    Reported,
    /// The vendor's documentation or schema says so, or the server's source does.
    Specified,
    /// The exchange with the API was recorded, or the vendor's validator was run.
    Recorded,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Inferred => "inferred",
            Self::Reported => "reported",
            Self::Specified => "specified",
            Self::Recorded => "recorded",
        })
    }
}

/// Something that a target refuses.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Refusal {
    /// The rule that finds it.
    pub rule: RuleId,
    /// Which of the rule's cases; every case where it is absent.
    pub case: Option<Text>,
    /// The models that it holds for; all where it is absent.
    pub model: Option<Pattern>,
    /// The models that it does not hold for.
    pub except_model: Option<Pattern>,
    /// The HTTP status; none where something refuses that does not speak HTTP, such as a client's library.
    pub status: Option<u16>,
    /// The text, with `{name}` where it names something of the transcript.
    pub text: Option<Text>,
    /// What else the error has, besides what every error of the target has: a code, a parameter.
    #[serde(default)]
    pub error: BTreeMap<String, Json>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<Text>,
    /// The day it was last seen, or the days.
    pub seen: Text,
    /// Why it may not hold: sources disagree, or the rule was softened. Such a refusal is a warning, and this is the
    /// clause that says why: it follows on "only a warning:".
    pub doubt: Option<Text>,
    /// What to do about it, if that is more than the rule says: a clause.
    pub help: Option<Text>,
    /// Whether the text is no longer printed, or belongs to another condition too: it serves to recognise a pasted
    /// error, and says nothing of a transcript.
    #[serde(default)]
    pub legacy: bool,
    /// Whether the chat template of a model refuses it, so that it is no guess where the template is known.
    #[serde(default)]
    pub of_template: bool,
    /// Whether the entry was taken from the target that this one extends.
    #[serde(skip)]
    pub is_inherited: bool,
    /// The target that refuses it, where a union gathers several.
    #[serde(skip)]
    pub target: Arc<str>,
    /// The family of the wire format that this target speaks.
    #[serde(skip)]
    pub family: Option<&'static str>,
}

impl Refusal {
    /// What is inferred of a rule, without any source.
    pub(super) fn of(rule: RuleId) -> Self {
        Self {
            rule,
            case: None,
            model: None,
            except_model: None,
            status: None,
            text: None,
            error: BTreeMap::new(),
            evidence: Evidence::Inferred,
            sources: Vec::new(),
            seen: Text::default(),
            doubt: None,
            help: None,
            legacy: false,
            of_template: false,
            is_inherited: false,
            target: Arc::default(),
            family: None,
        }
    }

    /// How bad the refusal makes a finding.
    pub fn level(&self) -> Level {
        self.grounds().level()
    }

    /// How well it is known.
    pub fn grounds(&self) -> EvidenceSummary {
        EvidenceSummary {
            evidence: self.evidence,
            doubt: self.doubt.clone(),
            source: first_source(&self.sources),
        }
    }

    /// What the API answers, with these values in place of the placeholders.
    pub fn answer(&self, values: &[(&'static str, String)]) -> Answer {
        Answer { status: self.status, text: self.fill(values), grounds: self.grounds(), harm: None }
    }

    /// The text with the transcript's names and numbers in it. A number that is not known becomes an `N`; where a name is
    /// not known there is no text.
    pub fn fill(&self, values: &[(&'static str, String)]) -> Option<String> {
        let mut rest = self.text.as_deref()?;
        let mut filled = String::with_capacity(rest.len());
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            filled.push_str(before);
            match values.iter().rev().find(|(known, _)| *known == name) {
                Some((_, value)) => filled.push_str(value),
                None if name == FREE || name == LINE => leave_out(&mut filled, after),
                // The provider's own numbers may be unknown; without a name there is no sentence.
                None if NUMBERS.contains(&name) => filled.push('N'),
                None => return None,
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }
}

/// Leaves out words that are not known, so that what is around them still reads as a sentence.
pub(crate) fn leave_out(filled: &mut String, after: &str) {
    if after.is_empty() {
        // What introduces them goes too.
        filled.truncate(filled.trim_end_matches([' ', ':', ',']).len());
    } else if filled.ends_with('.') {
        // A step of a path.
        filled.push('?');
    } else if !filled.ends_with(char::is_alphanumeric) {
        filled.push_str("[...]");
    }
}

/// The numbers that a target's text may name: of a message and of a part in it, from 0 and from 1, and of the message
/// before it.
const NUMBERS: [&str; 5] = ["index", "part", "member", "part-member", "before"];

/// The number of the line in a file. A rule sees one record and not its file, so a finding leaves it out.
const LINE: &str = "line";

/// What stands for words that the provider makes up as it goes, such as another program's message.
pub const FREE: &str = "rest";

/// Something that a target accepts.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Tolerance {
    /// The rule that would find it.
    pub rule: RuleId,
    /// Which of the rule's cases; every case where it is absent.
    pub case: Option<Text>,
    /// The models that it holds for; all where it is absent.
    pub model: Option<Pattern>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<Text>,
    /// The day it was last seen, or the days.
    pub seen: Text,
    /// What harm it does all the same. Only a tolerance with harm gives a warning; the others are silent.
    pub harm: Option<Text>,
    /// Whether the chat template of a model decides that, so that it is no guess where the template is known.
    #[serde(default)]
    pub of_template: bool,
}

/// What a target says of one case of one rule.
#[derive(Debug, Clone, Copy)]
pub enum Verdict<'t> {
    /// It refuses it.
    Refused(&'t Refusal),
    /// It accepts it.
    Tolerated(&'t Tolerance),
    /// Nothing is known.
    Unknown,
}

impl Verdict<'_> {
    /// Whether the chat template of the model decides it.
    pub fn is_of_template(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.of_template,
            Self::Tolerated(tolerance) => tolerance.of_template,
            Self::Unknown => false,
        }
    }

    /// Whether the target refuses it.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// Whether the target refuses it, or accepts it with harm.
    pub fn is_harmful(&self) -> bool {
        match self {
            Self::Refused(_) => true,
            Self::Tolerated(tolerance) => tolerance.harm.is_some(),
            Self::Unknown => false,
        }
    }
}
