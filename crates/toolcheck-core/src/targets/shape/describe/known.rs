//! What is known of a demand.

use super::{Asked, ObjectView};
use crate::level::Level;
use crate::targets::Evidence;
use crate::targets::shape::compile::{bit, mask};
use crate::targets::shape::tables::Scalar;
use crate::targets::shape::{FactTable, JsonType, Shape, ShapeFaultKind, TextTable, UnverifiedLevel};
use toolcheck_toml::Text;

/// Whether a request that does not meet a demand is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is; the evidence says how that is known.
    Refused,
    /// The documents of the format ask for it, and nothing else is known.
    Documented,
    /// It is accepted.
    Accepted,
}

/// What is known of a demand.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Known<'f> {
    /// Whether a request that does not meet it is refused.
    pub verdict: Verdict,
    /// The name of the object that it was noted for, which may be one that the object adds to; empty if it is only
    /// documented.
    pub object: &'f str,
    /// How that is known.
    pub evidence: Evidence,
    /// The level of a finding; `None` if nothing is reported.
    pub level: Option<Level>,
    /// Why it may not hold: a clause.
    pub doubt: Option<&'f str>,
    /// What harm it does although the API accepts it: a clause.
    pub harm: Option<&'f str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The API's text, with placeholders.
    pub text: Option<&'f str>,
    /// What to do, if the data say it.
    pub help: Option<&'f str>,
    /// Where it is known from.
    pub sources: &'f [Text],
    /// The day it was last seen, or the days.
    pub seen: &'f str,
    /// The expression for the models that it holds for; all if there is none.
    pub model: Option<&'f str>,
    /// The expression for the models that it does not hold for.
    pub except_model: Option<&'f str>,
    /// What else the request has if it holds: keys, or JSON Pointers from the root, with their values. Without values it is
    /// enough that they are there.
    pub only_where: Vec<(&'f str, &'f [Scalar])>,
    /// What the request does not have if it holds: a key, or a JSON Pointer from the root.
    pub unless: Option<&'f str>,
    /// The type of the value, if it holds for that one only.
    pub got: Option<&'f str>,
    /// Whether it was taken from the target that this one extends.
    pub is_inherited: bool,
}

impl<'f> Known<'f> {
    /// Whether somebody has seen it refused by this very API.
    pub fn is_seen(&self) -> bool {
        self.verdict == Verdict::Refused
            && !self.is_inherited
            && matches!(self.evidence, Evidence::Recorded | Evidence::Reported)
    }

    /// What is known of a fault. `own` is the fact that asks for it, if the documents do not.
    pub(super) fn all(
        object: ObjectView<'f>,
        key: &str,
        fault: ShapeFaultKind,
        asked: &Asked<'f>,
        own: Option<&'f FactTable>,
    ) -> Vec<Self> {
        let (shape, names) = (object.shape, object.object());
        let key = (!key.is_empty()).then_some(key);
        let is_about = |fact: &&FactTable| {
            fact.fault == fault
                && names.is_named(&fact.object)
                && (fact.is_about(key) || fault == ShapeFaultKind::Unknown && fact.is_about(None))
        };
        // What is said of a value of a type that may be there never applies.
        let can_be = |fact: &&FactTable| {
            let got = fact.got.as_deref().and_then(|got| got.parse::<JsonType>().ok());
            match (asked, got) {
                (Asked::Types(types), Some(got)) => mask(types) & bit(got) == 0,
                _ => true,
            }
        };
        let nearest = |fact: &FactTable| names.names.iter().position(|name| **name == *fact.object);
        let mut accepted: Vec<_> =
            shape.enforced.accepted.iter().map(|fact| &***fact).filter(is_about).collect();
        let mut facts: Vec<_> = match own {
            Some(fact) => vec![fact],
            None => {
                let seen = shape.facts().iter().map(|fact| &***fact).filter(is_about).filter(can_be);
                seen.filter(|fact| !fact.asks_for_more()).collect()
            }
        };
        for facts in [&mut accepted, &mut facts] {
            toolcheck_json::sort_by_positions(facts, |fact| {
                let rank = 2 * usize::from(!fact.is_about(key)) + usize::from(fact.model.is_none());
                (rank, nearest(fact).map_or(0, |place| place + 1))
            });
        }
        let mut all: Vec<Self> = Vec::new();
        let is_settled = |all: &[Self]| all.iter().any(|known| !known.is_conditional());
        for (verdict, facts) in [(Verdict::Accepted, accepted), (Verdict::Refused, facts)] {
            for fact in facts {
                let known = Self::of(fact, verdict, shape, fault, asked);
                if !is_settled(&all) && !all.iter().any(|other| other.is_for_same(&known)) {
                    all.push(known);
                }
            }
        }
        if own.is_none() && !is_settled(&all) {
            all.push(Self::documented(shape, fault, asked));
        }
        all
    }

    fn of(
        fact: &'f FactTable,
        verdict: Verdict,
        shape: &'f Shape,
        fault: ShapeFaultKind,
        asked: &Asked<'f>,
    ) -> Self {
        let is_refused = verdict == Verdict::Refused;
        let is_answered = is_refused && fact.harm.is_none();
        let template = template(shape, fault, asked, fact.got.as_deref()).filter(|_| is_answered);
        Self {
            verdict,
            object: &fact.object,
            evidence: fact.evidence,
            level: is_refused.then(|| match fact.harm {
                Some(_) => Level::Warning,
                None => fact.grounds().level(),
            }),
            doubt: fact.doubt.as_deref(),
            harm: fact.harm.as_deref(),
            status: fact
                .status
                .or_else(|| template?.status)
                .or(shape.enforced.status.filter(|_| is_answered)),
            text: match fact.text.as_deref() {
                Some(own) => Some(own).filter(|own| !own.is_empty()),
                None => template.map(|template| &*template.text),
            },
            help: fact.help.as_deref(),
            sources: &fact.sources,
            seen: &fact.seen,
            model: fact.model.as_ref().map(|model| model.as_str()),
            except_model: fact.except_model.as_ref().map(|model| model.as_str()),
            only_where: fact.only_where.iter().map(|(key, values)| (&**key, &**values)).collect(),
            unless: fact.unless.as_deref(),
            got: fact.got.as_deref(),
            is_inherited: fact.is_inherited,
        }
    }

    fn documented(shape: &'f Shape, fault: ShapeFaultKind, asked: &Asked<'f>) -> Self {
        let template = template(shape, fault, asked, None);
        Self {
            verdict: Verdict::Documented,
            object: "",
            evidence: Evidence::Specified,
            level: match shape.unseen() {
                UnverifiedLevel::Error => Some(Level::Error),
                UnverifiedLevel::Warning => Some(Level::Warning),
                UnverifiedLevel::Nothing => None,
            },
            doubt: None,
            harm: None,
            status: template.and_then(|template| template.status).or(shape.enforced.status),
            text: template.map(|template| &*template.text),
            help: None,
            sources: &shape.file.sources,
            seen: &shape.file.seen,
            model: None,
            except_model: None,
            only_where: Vec::new(),
            unless: None,
            got: None,
            is_inherited: false,
        }
    }

    /// Whether it holds only for some models or requests.
    pub fn is_conditional(&self) -> bool {
        self.model.is_some()
            || self.except_model.is_some()
            || !self.only_where.is_empty()
            || self.unless.is_some()
            || self.got.is_some()
    }

    fn is_for_same(&self, other: &Self) -> bool {
        (self.model, self.except_model, &self.only_where, self.unless, self.got)
            == (other.model, other.except_model, &other.only_where, other.unless, other.got)
    }
}

/// The API's text for a fault, as far as it can be told without a request.
fn template<'f>(
    shape: &'f Shape,
    fault: ShapeFaultKind,
    asked: &Asked<'_>,
    got: Option<&str>,
) -> Option<&'f TextTable> {
    let expected = match asked {
        Asked::Types(types) => types.last().map(|last| last.name()),
        _ => None,
    };
    let fits = |text: &&TextTable| {
        text.fault == fault
            && text.r#type.as_deref().is_none_or(|wanted| expected == Some(wanted))
            && text.got.as_deref().is_none_or(|wanted| got == Some(wanted))
            && asked.has_limits_of(&text.text)
    };
    // `max_by_key` takes the last of equals: reversed, the first of the file.
    let of_fault = shape.enforced.texts.iter().rev().filter(fits);
    of_fault.max_by_key(|text| u8::from(text.r#type.is_some()) + u8::from(text.got.is_some()))
}
