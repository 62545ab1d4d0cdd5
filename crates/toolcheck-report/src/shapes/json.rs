//! What is known of a shape, as JSON.

use serde_json::{Map, Value, json};
use toolcheck_core::shape::{
    Asked, Condition, Demand, FieldView, JsonType, Known, ObjectView, Scalar, Shape, UnverifiedLevel, Verdict,
};
use toolcheck_core::targets::{Pattern, Refusal, Target, Tolerance};
use toolcheck_lint::rules;

use super::catalog::{Catalog, Named};

/// The shape of a target as JSON: all objects, or one of them.
pub fn report(target: &Target, shape: &Shape, catalog: &Catalog<'_>, only: Option<&Named<'_>>) -> Value {
    let named = catalog.objects.iter().filter(|object| only.is_none_or(|only| only.name == object.name));
    let objects: Vec<Value> = named.flat_map(variants_of).collect();
    let unseen = match shape.unseen() {
        UnverifiedLevel::Error => "error",
        UnverifiedLevel::Warning => "warning",
        _ => "nothing",
    };
    json!({
        "version": 1, "target": target.id, "format": shape.format(),
        "sources": shape.sources(), "seen": shape.seen(), "unseen": unseen, "objects": objects,
    })
}

/// An object as each of those that it is a variant of has it; once if that is the same.
fn variants_of(named: &Named<'_>) -> Vec<Value> {
    let mut objects: Vec<Value> = Vec::new();
    let mut parents: Vec<Vec<&str>> = Vec::new();
    for view in &named.views {
        let described = object(view.object);
        let number = objects.iter().position(|known| *known == described).unwrap_or_else(|| {
            objects.push(described);
            parents.push(Vec::new());
            objects.len() - 1
        });
        parents[number].extend(view.parent);
    }
    for (object, parents) in objects.iter_mut().zip(parents) {
        object["variant_of"] = parents.into();
    }
    objects
}

fn object(object: ObjectView<'_>) -> Value {
    let variants: Map<String, Value> =
        object.variants().map(|(value, object)| (value.to_owned(), object.name().into())).collect();
    json!({
        "name": object.name(),
        "variant_of": [],
        "kind": object.kind().map(|kind| kind.name()),
        "closed": object.is_closed(),
        "by": object.by(),
        "variants": variants,
        "otherwise": object.otherwise().map(ObjectView::name),
        "open": object.is_open(),
        "example": object.example(),
        "note": object.note(),
        "demands": object.demands().iter().map(|asked| demand(object, asked)).collect::<Vec<_>>(),
        "fields": object.fields().map(|of| field(object, of)).collect::<Vec<_>>(),
    })
}

fn field(object: ObjectView<'_>, field: FieldView<'_>) -> Value {
    json!({
        "key": field.key(),
        "known": field.is_known(),
        "types": names(field.types()),
        "object": field.object().map(ObjectView::name),
        "items": field.items().map(ObjectView::name),
        "item_types": names(field.item_types()),
        "entries": field.entries().map(ObjectView::name),
        "note": field.note(),
        "checked_by": field.checked_by().collect::<Vec<_>>(),
        "demands": field.demands().iter().map(|asked| demand(object, asked)).collect::<Vec<_>>(),
    })
}

fn names(types: &[JsonType]) -> Vec<&'static str> {
    types.iter().map(|json_type| json_type.name()).collect()
}

fn demand<'f>(object: ObjectView<'f>, demand: &Demand<'f>) -> Value {
    json!({
        "key": demand.key,
        "fault": demand.fault.name(),
        "asked": demand.asked.to_string(),
        "limits": limits(&demand.asked),
        "rule": rules::of_demand(object, demand),
        "documented": demand.is_documented,
        "known": demand.known.iter().map(known).collect::<Vec<_>>(),
    })
}

fn limits(asked: &Asked<'_>) -> Value {
    match asked {
        Asked::Present { unless } => json!({"unless": unless}),
        Asked::AtMostOne(keys) | Asked::AtLeastOne(keys) => json!({"keys": keys}),
        Asked::Types(types) => json!({"types": names(types)}),
        Asked::OneOf { values, any_case } => json!({"values": scalars(values), "any_case": any_case}),
        Asked::NoneOf(values) => json!({"refused_values": scalars(values)}),
        Asked::NotStarting(starts) => json!({"refused_starts": starts}),
        Asked::Pattern(pattern) => json!({"pattern": pattern}),
        Asked::NotMatching(pattern) => json!({"refused_pattern": pattern}),
        Asked::KeyPattern(pattern) => json!({"key_pattern": pattern}),
        Asked::Length { min, max } | Asked::Items { min, max } => json!({"min": min, "max": max}),
        Asked::Range { min, max } => json!({"min": min, "max": max}),
        Asked::Among(pointer) => json!({"among": pointer}),
        Asked::Lists(key) => json!({"lists": key}),
        Asked::ListsAll(key) => json!({"lists_all": key}),
        Asked::Other { condition, keys, values } => {
            let condition = match condition {
                Condition::Needs => "needs",
                Condition::Excludes => "excludes",
                Condition::OnlyIf => "only_if",
                Condition::NotIf => "not_if",
                Condition::NotAfter => "not_after",
                _ => "less_than",
            };
            json!({"condition": condition, "keys": keys, "values": scalars(values)})
        }
        _ => json!({}),
    }
}

fn scalars(values: &[Scalar]) -> Vec<Value> {
    let scalar = |value: &Scalar| match value.is_string {
        true => value.text.as_str().into(),
        false => serde_json::from_str(&value.text).unwrap_or_else(|_| value.text.as_str().into()),
    };
    values.iter().map(scalar).collect()
}

/// A refusal as JSON, with the target or the rule that it belongs to.
pub fn refusal_json(refusal: &Refusal, key: &str, owner: &str) -> Value {
    json!({
        key: owner, "case": refusal.case, "model": refusal.model.as_ref().map(Pattern::as_str),
        "except_model": refusal.except_model.as_ref().map(Pattern::as_str), "status": refusal.status, "text": refusal.text,
        "level": refusal.level().as_str(), "evidence": refusal.evidence.to_string(),
        "sources": refusal.sources, "seen": refusal.seen, "doubt": refusal.doubt,
    })
}

/// A tolerance as JSON, with the target or the rule that it belongs to.
pub fn tolerance_json(tolerance: &Tolerance, key: &str, owner: &str) -> Value {
    json!({
        key: owner, "case": tolerance.case, "model": tolerance.model.as_ref().map(Pattern::as_str), "harm": tolerance.harm,
        "evidence": tolerance.evidence.to_string(), "sources": tolerance.sources, "seen": tolerance.seen,
    })
}

pub(super) fn known(known: &Known<'_>) -> Value {
    let verdict = match known.verdict {
        Verdict::Accepted => "accepted",
        Verdict::Documented => "documented",
        _ => "refused",
    };
    // The documents are named once, at the top.
    let sources = (known.verdict != Verdict::Documented).then_some(known.sources);
    let only_where: Map<String, Value> =
        known.only_where.iter().map(|(key, values)| ((*key).to_owned(), scalars(values).into())).collect();
    let mut entry = json!({
        "verdict": verdict,
        "level": known.level.map(|level| level.as_str()),
        "evidence": known.evidence.to_string(),
        "doubt": known.doubt,
        "harm": known.harm,
        "status": known.status,
        "text": known.text,
        "help": known.help,
        "sources": sources,
        "seen": sources.map(|_| known.seen),
        "model": known.model,
        "except_model": known.except_model,
        "where": only_where,
        "unless": known.unless,
        "got": known.got,
        "inherited": known.is_inherited,
    });
    // There are thousands, and most have little to say.
    if let Some(entry) = entry.as_object_mut() {
        entry.retain(|_, value| !value.is_null() && *value != json!({}) && *value != json!(false));
    }
    entry
}
