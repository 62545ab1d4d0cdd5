//! What a linter should say of a mutant.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toolcheck_core::shape::{Demand, Known, ObjectView, Scalar, ShapeFaultKind};
use toolcheck_core::targets::Pattern;
use toolcheck_core::{Level, RuleId};

use super::mutations::Mutant;

pub(crate) struct Expected {
    /// The levels of a finding; `None` is no finding.
    pub(crate) levels: BTreeSet<Option<Level>>,
    /// The rules that report it as the data say.
    pub(crate) rules: BTreeSet<&'static str>,
    /// The rules that report the same in more words.
    pub(crate) checked_by: BTreeSet<&'static str>,
}

impl Expected {
    pub(crate) fn of(mutant: &Mutant) -> Self {
        let demand = &mutant.demand;
        let plain = demand.key.trim_end_matches("[]").trim_end_matches("{}");
        let field = mutant.object.field(plain).filter(|_| !demand.key.is_empty());
        let mut levels = BTreeSet::new();
        for known in demand.known.iter().filter(|known| holds(known, &mutant.body, &mutant.at)) {
            levels.insert(known.level);
            // What holds for one type of the value only may not hold for this one.
            if known.got.is_none() {
                break;
            }
        }
        // Something else that the key must be may be looked at first.
        let same = field.map_or_else(|| mutant.object.demands(), |field| field.demands());
        let same = same.iter().filter(|other| other.fault == demand.fault && other.key == demand.key);
        let rule = |demand: &Demand<'static>| {
            demand.rule.map_or_else(|| usual_rule(mutant.object, demand), RuleId::as_str)
        };
        Self {
            levels,
            rules: same.map(rule).chain([rule(demand)]).collect(),
            checked_by: field.into_iter().flat_map(|field| field.checked_by()).map(RuleId::as_str).collect(),
        }
    }
}

/// The rule that reports a fault, if the shape names none.
fn usual_rule(object: ObjectView<'static>, demand: &Demand<'static>) -> &'static str {
    match demand.fault {
        ShapeFaultKind::Missing if object.name() == "request" => "missing-parameter",
        ShapeFaultKind::Missing => "missing-field",
        ShapeFaultKind::Unknown => "unknown-field",
        ShapeFaultKind::Type => "wrong-type",
        ShapeFaultKind::Value if object.by() == Some(&*demand.key) => "unknown-content-type",
        ShapeFaultKind::Conflict => "conflicting-parameters",
        _ => "invalid-value",
    }
}

pub(crate) fn holds(known: &Known<'_>, body: &Json, at: &str) -> bool {
    let model = body.get("model").or_else(|| body.get("modelId")).and_then(Json::as_str);
    let fits = |pattern: &str| model.is_some_and(|model| Pattern::from(pattern.to_owned()).is_match(model));
    let is_there = |value: &&Json| !value.is_null() && **value != Json::Bool(false);
    let beside = |key: &str| {
        let found = match key.starts_with('/') {
            true => at_pointer(body, &key.split('/').skip(1).collect::<Vec<_>>()),
            false => body.pointer(at).and_then(|object| object.get(key)),
        };
        found.filter(is_there)
    };
    known.model.is_none_or(fits)
        && !known.except_model.is_some_and(fits)
        && known.unless.is_none_or(|key| beside(key).is_none())
        && known.only_where.iter().all(|(key, values)| {
            beside(key)
                .is_some_and(|value| values.is_empty() || values.iter().any(|allowed| is(allowed, value)))
        })
}

fn is(allowed: &Scalar, value: &Json) -> bool {
    match value.as_str() {
        Some(text) => allowed.is_string && allowed.text == text,
        None => {
            !allowed.is_string && serde_json::from_str::<Json>(&allowed.text).is_ok_and(|own| own == *value)
        }
    }
}

/// The first value that these steps lead to; `*` leads to each element of an array.
fn at_pointer<'b>(value: &'b Json, steps: &[&str]) -> Option<&'b Json> {
    match steps {
        [] => Some(value).filter(|value| !value.is_null()),
        ["*", rest @ ..] => value.as_array()?.iter().find_map(|element| at_pointer(element, rest)),
        [key, rest @ ..] => at_pointer(value.get(key)?, rest),
    }
}
