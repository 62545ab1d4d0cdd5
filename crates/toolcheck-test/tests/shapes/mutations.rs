//! The mistakes that the shape describes, made in good bodies.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value as Json, json};
use toolcheck_core::shape::{
    Asked, Condition, Demand, FieldView, JsonType, ObjectView, Scalar, ShapeFaultKind,
};
use toolcheck_core::targets::Pattern;

use super::bodies::{Bodies, Found, escape};

/// A body with one mistake.
pub(crate) struct Mutant {
    pub(crate) body: Json,
    /// The pointer of the object.
    pub(crate) at: String,
    /// The pointer of what is wrong: of the value, or of the object that lacks a key.
    pub(crate) place: String,
    pub(crate) object: ObjectView<'static>,
    pub(crate) demand: Demand<'static>,
    /// What was done, for messages.
    pub(crate) what: String,
}

impl Mutant {
    /// What the same mutations of the same objects have in common.
    pub(crate) fn kind(&self) -> String {
        let bases: Vec<&str> = self.object.bases().collect();
        let (key, fault) = (&self.demand.key, self.demand.fault.name());
        format!("{} {bases:?} {key} {fault} {}", self.object.name(), self.what)
    }
}

/// What bodies have, to be put elsewhere.
#[derive(Default)]
pub(crate) struct Samples {
    /// Values for keys, by the names of the object and the key.
    pub(crate) values: BTreeMap<(String, String), Json>,
    pub(crate) objects: BTreeMap<String, Json>,
}

impl Samples {
    pub(crate) fn of(bodies: &Bodies) -> Self {
        let mut samples = Self::default();
        for (_, body) in &bodies.all {
            for found in bodies.objects(body) {
                let (name, object) = (found.object.name(), body.pointer(&found.pointer).unwrap());
                samples.objects.entry(name.to_owned()).or_insert_with(|| object.clone());
                for field in found.object.fields() {
                    if let Some((_, value)) = bodies.member(object, field.key()) {
                        let key = (name.to_owned(), field.key().to_owned());
                        samples.values.entry(key).or_insert_with(|| value.clone());
                    }
                }
            }
        }
        samples
    }

    fn value(&self, object: ObjectView<'_>, key: &str) -> Option<&Json> {
        self.values.get(&(object.name().to_owned(), key.to_owned()))
    }
}

pub(crate) struct Mutator<'b> {
    bodies: &'b Bodies,
    samples: &'b Samples,
    body: &'b Json,
    found: &'b Found,
    others: &'b [Found],
    mutants: Vec<Mutant>,
}

pub(crate) const UNKNOWN: &str = "zz_invented";

const INVENTED: &str = "zz-invented";

/// The longest string and list that are made.
const LONGEST: usize = 4096;

pub(crate) fn mutations<'b>(
    bodies: &'b Bodies,
    samples: &'b Samples,
    body: &'b Json,
    found: &'b Found,
    others: &'b [Found],
) -> Vec<Mutant> {
    let mut mutator = Mutator { bodies, samples, body, found, others, mutants: Vec::new() };
    for demand in found.object.demands() {
        mutator.whole(&demand);
    }
    for field in found.object.fields() {
        for demand in field.demands() {
            // What decides the object is a matter of the object before it.
            let base = found.bases.iter().find(|base| base.by() == Some(&*demand.key));
            match (&demand.asked, base) {
                (Asked::OneOf { .. }, Some(base)) if !base.is_open() => {}
                (Asked::NoneOf(kinds), Some(base)) => mutator.kinds(*base, &demand, kinds),
                _ => mutator.field(field, &demand),
            }
        }
    }
    for base in &found.bases {
        let Some(field) = base.by().and_then(|by| base.field(by)) else { continue };
        for demand in field.demands() {
            if demand.fault == ShapeFaultKind::Value && matches!(demand.asked, Asked::OneOf { .. }) {
                mutator.decider(*base, field, &demand);
            }
        }
    }
    mutator.mutants
}

impl Mutator<'_> {
    fn value(&self) -> &Json {
        self.body.pointer(&self.found.pointer).unwrap()
    }

    /// Changes the object, and says what is wrong then.
    fn add(
        &mut self,
        demand: &Demand<'static>,
        step: Option<&str>,
        what: impl Into<String>,
        change: impl FnOnce(&mut Map<String, Json>),
    ) {
        let mut body = self.body.clone();
        change(body.pointer_mut(&self.found.pointer).unwrap().as_object_mut().unwrap());
        let at = self.found.pointer.clone();
        let place = step.map_or_else(|| at.clone(), |step| format!("{at}/{step}"));
        self.mutants.push(Mutant {
            body,
            at,
            place,
            object: self.found.object,
            demand: demand.clone(),
            what: what.into(),
        });
    }

    /// Mutations of the object as a whole.
    fn whole(&mut self, demand: &Demand<'static>) {
        let there = |of: &[&'static str]| -> Vec<String> {
            let value = self.value();
            of.iter().filter_map(|key| self.bodies.member(value, key)).map(|(key, _)| key.clone()).collect()
        };
        match &demand.asked {
            Asked::OnlyKnownKeys => self.add(demand, Some(UNKNOWN), "an unknown key", |object| {
                object.insert(UNKNOWN.to_owned(), json!("x"));
            }),
            Asked::AtMostOne(of) => {
                let there = there(of);
                let second = of.iter().find_map(|key| {
                    let sample = self.samples.value(self.found.object, key);
                    sample
                        .filter(|_| !there.iter().any(|known| known == key))
                        .map(|sample| (*key, sample.clone()))
                });
                if let Some((key, sample)) = second {
                    self.add(demand, None, format!("`{key}` too"), |object| {
                        object.insert(key.to_owned(), sample);
                    });
                }
            }
            Asked::AtLeastOne(of) => {
                let there = there(of);
                self.add(demand, None, "none of its keys", |object| {
                    object.retain(|key, _| !there.contains(key));
                });
            }
            _ => unreachable!("of an object as a whole: {:?}", demand.asked),
        }
    }

    /// Another value of the key that decides which object it is.
    fn decider(&mut self, base: ObjectView<'static>, field: FieldView<'static>, demand: &Demand<'static>) {
        if self.value().get(field.key()).is_some() {
            let first = self.mutants.len();
            self.add(demand, Some(&escape(field.key())), "an unknown kind", |object| {
                object.insert(field.key().to_owned(), json!(INVENTED));
            });
            self.mutants[first].object = base;
        }
    }

    /// A whole object of a kind that is refused, in place of a text.
    fn kinds(&mut self, base: ObjectView<'static>, demand: &Demand<'static>, kinds: &[Scalar]) {
        if !self.found.object.name().ends_with("text") {
            return;
        }
        for kind in kinds {
            let object = base.variants().find(|(value, _)| kind.text == *value).map(|(_, object)| object);
            let sample = object.and_then(|object| self.samples.objects.get(object.name()));
            let Some(Json::Object(mut sample)) = sample.cloned() else { continue };
            sample.insert(demand.key.to_string(), scalar(kind));
            self.add(demand, Some(&escape(&demand.key)), format!("{kind} in its place"), |object| {
                *object = sample;
            });
        }
    }

    fn field(&mut self, field: FieldView<'static>, demand: &Demand<'static>) {
        let member = self.bodies.member(self.value(), field.key());
        if let Asked::Absent = demand.asked {
            if member.is_none() {
                self.refused_key(field, demand);
            }
            return;
        }
        let Some((key, value)) = member.map(|(key, value)| (key.clone(), value.clone())) else { return };
        let step = escape(&key);
        match &demand.asked {
            Asked::Present { unless } => {
                if !unless.iter().any(|other| self.bodies.member(self.value(), other).is_some()) {
                    self.add(demand, None, "no key", |object| {
                        object.remove(&key);
                    });
                }
            }
            Asked::Types(types) => self.types(field, demand, &key, &value, types),
            Asked::ListsAll(_) | Asked::Lists(_) => {
                let is_all = matches!(demand.asked, Asked::ListsAll(_));
                let Some(list) = value.as_array().filter(|list| !(is_all && list.is_empty())) else { return };
                let mut list = list.clone();
                if is_all {
                    list.pop();
                } else {
                    list.push(json!(INVENTED));
                }
                self.add(demand, Some(&step), "other names", |object| {
                    object.insert(key.clone(), Json::Array(list));
                });
            }
            Asked::Other { condition, keys, .. } => self.condition(demand, &key, *condition, keys),
            Asked::Unique => self.twice(demand, &key),
            asked => {
                for (what, wrong) in values(field, asked, &value) {
                    self.add(demand, Some(&step), what, |object| {
                        object.insert(key.clone(), wrong);
                    });
                }
            }
        }
    }

    fn refused_key(&mut self, field: FieldView<'static>, demand: &Demand<'static>) {
        let sample = self.samples.value(self.found.object, field.key()).cloned();
        let value =
            sample.unwrap_or_else(|| of_type(field.types().first().copied().unwrap_or(JsonType::String)));
        self.add(demand, Some(&escape(field.key())), "a key that is refused", |object| {
            object.insert(field.key().to_owned(), value);
        });
    }

    fn types(
        &mut self,
        field: FieldView<'static>,
        demand: &Demand<'static>,
        key: &str,
        value: &Json,
        types: &[JsonType],
    ) {
        let is_allowed = |json_type: &JsonType| {
            types.contains(json_type)
                || types.contains(&JsonType::Any)
                || *json_type == JsonType::Integer && types.contains(&JsonType::Number)
                || *json_type == JsonType::Null && self.bodies.null_is_absent && *demand.key == *field.key()
        };
        let of_parts = demand.key.strip_suffix("[]").or_else(|| demand.key.strip_suffix("{}"));
        let mut also = Vec::new();
        if of_parts.is_some() {
            also.extend(field.item_types());
            if demand.key.ends_with("[]") && field.items().is_some() || demand.key.ends_with("{}") {
                also.push(JsonType::Object);
            }
        }
        let wrong =
            ALL_TYPES.iter().copied().filter(|json_type| !is_allowed(json_type) && !also.contains(json_type));
        for wrong in wrong.collect::<Vec<_>>() {
            let what = wrong.with_article().to_owned();
            let (step, changed) = match (value, of_parts) {
                // Arguments are JSON in either form.
                (Json::Object(_), None) if wrong == JsonType::String => (escape(key), json!("{}")),
                (_, None) => (escape(key), of_type(wrong)),
                (Json::Array(list), Some(_)) if !list.is_empty() => {
                    let mut list = list.clone();
                    list[0] = of_type(wrong);
                    (format!("{}/0", escape(key)), Json::Array(list))
                }
                (Json::Object(members), Some(_)) if !members.is_empty() && demand.key.ends_with("{}") => {
                    let mut members = members.clone();
                    let first = members.keys().next().unwrap().clone();
                    let step = format!("{}/{}", escape(key), escape(&first));
                    members.insert(first, of_type(wrong));
                    (step, Json::Object(members))
                }
                _ => continue,
            };
            self.add(demand, Some(&step), what, |object| {
                object.insert(key.to_owned(), changed);
            });
        }
    }

    /// What another key asks.
    fn condition(
        &mut self,
        demand: &Demand<'static>,
        key: &str,
        condition: Condition,
        keys: &[&'static str],
    ) {
        let step = escape(key);
        match condition {
            Condition::Needs if !keys[0].starts_with('/') || keys[0].matches('/').count() == 1 => {
                let other = keys[0].trim_start_matches('/');
                let at = if keys[0].starts_with('/') { "" } else { &self.found.pointer };
                let mut body = self.body.clone();
                let object = body.pointer_mut(at).unwrap().as_object_mut().unwrap();
                if object.remove(other).is_some() {
                    let first = self.mutants.len();
                    self.add(demand, Some(&step), format!("without `{other}`"), |_| {});
                    self.mutants[first].body = body;
                }
            }
            Condition::Excludes => {
                for other in keys.iter().filter(|other| !other.starts_with('/')) {
                    let Some(sample) = self.samples.value(self.found.object, other).cloned() else {
                        continue;
                    };
                    self.add(demand, Some(&step), format!("beside `{other}`"), |object| {
                        object.insert((*other).to_owned(), sample);
                    });
                }
            }
            // What these ask for is part of other objects, or a number: the facts about them have cases of their own.
            _ => {}
        }
    }

    /// The value of another object of this name.
    fn twice(&mut self, demand: &Demand<'static>, key: &str) {
        let same = |other: &&Found| other.object == self.found.object && other.pointer < self.found.pointer;
        let Some(first) = self.others.iter().find(same) else { return };
        let Some(value) = self.body.pointer(&first.pointer).and_then(|first| first.get(key)).cloned() else {
            return;
        };
        self.add(demand, Some(&escape(key)), "the value of another", |object| {
            object.insert(key.to_owned(), value);
        });
    }
}

const ALL_TYPES: [JsonType; 7] = [
    JsonType::Null,
    JsonType::Boolean,
    JsonType::Integer,
    JsonType::Number,
    JsonType::String,
    JsonType::Array,
    JsonType::Object,
];

fn of_type(json_type: JsonType) -> Json {
    match json_type {
        JsonType::Null => Json::Null,
        JsonType::Boolean => json!(true),
        JsonType::Integer => json!(7),
        JsonType::Number => json!(7.5),
        JsonType::Array => json!([]),
        JsonType::Object => json!({}),
        _ => json!(INVENTED),
    }
}

fn scalar(allowed: &Scalar) -> Json {
    serde_json::from_str(&allowed.to_string()).unwrap()
}

/// Values that a check refuses, each with what it is.
fn values(field: FieldView<'static>, asked: &Asked<'static>, value: &Json) -> Vec<(String, Json)> {
    // Of a list, one element is changed.
    let instead = |wrong: Json| match value {
        Json::Array(list) if !list.is_empty() => {
            let mut list = list.clone();
            list[0] = wrong;
            Json::Array(list)
        }
        _ => wrong,
    };
    let text = value.as_str();
    match asked {
        Asked::OneOf { values, .. } => {
            let takes_strings = values.iter().any(|value| value.is_string);
            let wrong = match values.first().map(scalar) {
                Some(Json::Bool(only)) => json!(!only),
                Some(Json::Number(_)) if !takes_strings => json!(987_654),
                _ => json!(INVENTED),
            };
            let is_scalar =
                matches!(value, Json::String(_) | Json::Bool(_) | Json::Number(_) | Json::Array(_));
            let mut all = Vec::new();
            if is_scalar || field.types().contains(&JsonType::String) {
                all.push(("an invented value".to_owned(), instead(wrong)));
            }
            all
        }
        Asked::NoneOf(values) => {
            values.iter().map(|value| (format!("the value {value}"), instead(scalar(value)))).collect()
        }
        Asked::NotStarting(starts) => starts
            .iter()
            .map(|start| (format!("a text that starts with {start}"), instead(json!(format!("{start}AAAA")))))
            .collect(),
        Asked::Pattern(pattern) if value.is_string() || field.types().contains(&JsonType::String) => {
            let pattern = Pattern::from((*pattern).to_owned());
            let wrong = ["not: valid!", "é", " ", ""].iter().find(|wrong| !pattern.is_match(wrong));
            wrong.map(|wrong| ("a text that does not match".to_owned(), json!(wrong))).into_iter().collect()
        }
        Asked::NotMatching(pattern) => {
            let pattern = Pattern::from((*pattern).to_owned());
            let wrong = ["^(?!a)b$", "not: valid!"].iter().find(|wrong| pattern.is_match(wrong));
            wrong.map(|wrong| ("a text that matches".to_owned(), json!(wrong))).into_iter().collect()
        }
        Asked::KeyPattern(pattern) => {
            let pattern = Pattern::from((*pattern).to_owned());
            let long = "k".repeat(65);
            let wrong = if pattern.is_match("not: valid!") { &long } else { "not: valid!" };
            assert!(!pattern.is_match(wrong));
            let Some(members) = value.as_object() else { return Vec::new() };
            let mut members = members.clone();
            members.insert(wrong.to_owned(), json!({"type": "string"}));
            vec![("a key that does not match".to_owned(), Json::Object(members))]
        }
        Asked::Length { min, max } => {
            let mut all = Vec::new();
            if text.is_some() && min.is_some() {
                all.push(("a text that is too short".to_owned(), json!("")));
            }
            if let (Some(text), Some(max)) = (text, max.filter(|max| *max < LONGEST)) {
                let first = text.chars().next().unwrap_or('x');
                let long: String = std::iter::repeat_n(first, max + 1).collect();
                all.push(("a text that is too long".to_owned(), json!(long)));
            }
            all
        }
        Asked::Items { min, max } => {
            let Some(list) = value.as_array() else { return Vec::new() };
            let mut all = Vec::new();
            if min.is_some() {
                all.push(("a list that is too short".to_owned(), json!([])));
            }
            if let (Some(first), Some(max)) = (list.first(), max.filter(|max| *max < LONGEST)) {
                let list = (0..=max).map(|number| renamed(first, number)).collect();
                all.push(("a list that is too long".to_owned(), Json::Array(list)));
            }
            all
        }
        Asked::Range { min, max } => {
            let number = |value: f64| match value.fract() == 0.0 {
                true => Json::Number(Number::from(value as i64)),
                false => Json::Number(Number::from_f64(value).unwrap()),
            };
            let low = min.map(|min| ("a number that is too low".to_owned(), number(min - 1.0)));
            let high = max.map(|max| ("a number that is too high".to_owned(), number(max + 1.0)));
            low.into_iter().chain(high).filter(|_| value.is_number()).collect()
        }
        Asked::Base64 => vec![("a data URL".to_owned(), instead(json!("data:image/png;base64,AAAA")))],
        _ => Vec::new(),
    }
}

/// The same under another name.
fn renamed(value: &Json, number: usize) -> Json {
    match value {
        Json::Object(members) => {
            let renamed = members.iter().map(|(key, value)| match value.as_str() {
                Some(name) if key == "name" => (key.clone(), json!(format!("{name}_{number}"))),
                _ => (key.clone(), renamed(value, number)),
            });
            Json::Object(renamed.collect())
        }
        _ => value.clone(),
    }
}
