//! The shape of requests: which keys the objects of a wire format have, of which types and values, as data.
//!
//! One TOML file a format describes what its documents say (`shapes`); `[shape]` in a target's file says what this API
//! enforces of it, with evidence and texts. A target's shape is compiled once; a request is checked against it in one
//! walk.

mod action;
mod advice;
mod cache;
mod case;
mod check;
mod compile;
mod conditions;
mod describe;
mod error_text;
mod fault;
mod fix;
mod newer;
mod objects;
mod other_formats;
mod outline;
mod problem;
mod relevance;
mod rewrite;
mod samples;
mod similar_faults;
mod tables;
mod value;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use toolcheck_json::Value;
use toolcheck_toml::Text;

pub use self::action::Action;
pub use self::advice::is_near;
use self::cache::ValidObjectCache;
use self::compile::{Field, Object};
pub use self::describe::{
    Asked, Demand, FieldView, Known, ObjectView, PLACEHOLDERS, Verdict, is_placeholder, object_names,
    placeholders, with_usual_names,
};
pub use self::fault::{Answer, Condition, Detail, ShapeFault};
use self::objects::Objects;
pub use self::other_formats::{Foreign, formats_with_keys};
use self::outline::Outline;
pub use self::relevance::Rating;
use self::tables::{Fact, ShapeFile};
pub use self::tables::{
    FactTable, JsonType, Kind, Scalar, ShapeFaultKind, TargetShape, TextTable, UnverifiedLevel,
};
use crate::error::Error;
use crate::rule_id::RuleId;
use crate::tables::{SHAPES, Tables};
use crate::targets::{Evidence, Pattern};

static FILES: Tables<ShapeFile, { SHAPES.1.len() }> = Tables::new(SHAPES);

/// The formats whose shape is described.
pub fn formats() -> impl Iterator<Item = &'static str> + Clone {
    FILES.ids()
}

/// The keys that are looked at to tell whether an object is a request.
const KEYS_LOOKED_AT: usize = 64;

/// The most models whose facts are kept: the log of a gateway alternates between several.
const MODELS_REMEMBERED: usize = 16;

/// What an API enforces of the shape of requests.
#[derive(Debug)]
pub struct Shape {
    /// The format's id.
    format: &'static str,
    file: &'static ShapeFile,
    enforced: Arc<TargetShape>,
    /// The facts that hold where no model is known.
    plain_facts: OnceLock<ModelFacts>,
    /// Those that hold for the models that were asked for last.
    facts_of_models: Mutex<Vec<(String, ModelFacts)>>,
    objects: Objects,
    request: usize,
    message: usize,
    null_is_absent: bool,
}

/// Which facts of a shape hold for a model.
#[derive(Debug, Clone, Default)]
pub struct ModelFacts(Arc<OfModel>);

#[derive(Debug, Default)]
struct OfModel {
    enforced: Arc<TargetShape>,
    model: Option<String>,
    /// Whether each fact holds, once that was asked.
    holds: Box<[OnceLock<bool>]>,
    /// Objects without faults, from one request to the next: a walk takes them and gives them back. There are as many as
    /// walks at the same time.
    kept: Mutex<Vec<ValidObjectCache>>,
}

impl ModelFacts {
    fn holds(&self, fact: usize) -> bool {
        let of_model = &*self.0;
        let matches =
            |pattern: &Pattern| of_model.model.as_ref().is_some_and(|model| pattern.is_match(model));
        let holds = of_model.holds.get(fact);
        holds.is_some_and(|holds| *holds.get_or_init(|| of_model.enforced.facts[fact].fits(matches)))
    }

    /// The objects that an earlier walk has kept and no other has taken.
    fn take_kept(&self) -> ValidObjectCache {
        self.0.kept.lock().ok().and_then(|mut kept| kept.pop()).unwrap_or_default()
    }

    /// Keeps objects for the next walk.
    fn keep(&self, kept: ValidObjectCache) {
        if let Ok(mut all) = self.0.kept.lock() {
            all.push(kept);
        }
    }
}

impl Shape {
    /// The shape of a format as a target enforces it. `None` if the format is not described.
    pub(crate) fn of(format: &str, enforced: &Arc<TargetShape>) -> Option<Self> {
        let format = formats().find(|own| *own == format)?;
        let file = FILES.find(format)?;
        let objects = Objects::new(file, Arc::clone(enforced));
        let [request, message] = ["request", "message"].map(|name| objects.number(name, None).ok());
        Some(Self {
            format,
            file,
            enforced: Arc::clone(enforced),
            plain_facts: OnceLock::new(),
            facts_of_models: Mutex::default(),
            objects,
            request: request?,
            message: message?,
            null_is_absent: file.null_is_absent,
        })
    }

    /// Checks that its tables fit together.
    ///
    /// # Errors
    ///
    /// If they do not; the message says which.
    pub(crate) fn check_tables(&self) -> Result<(), Error> {
        self.objects.compile_all([self.request, self.message]).map_err(Error::new)?;
        // Objects are looked for by what their fields and variants say before they are compiled.
        debug_assert!(self.outlines().all(|(number, outline)| outline.is_of(&self.objects[number])));
        for fact in self.facts().iter().chain(&self.enforced.accepted) {
            if !self.outlines().any(|(_, outline)| outline.is_named(&fact.object)) {
                let message = format!("a fact is about `{}`, which is not described", fact.object);
                return Err(Error::new(message));
            }
        }
        Ok(())
    }

    /// The numbers of all its objects, in the order in which the tables refer to them.
    fn numbers(&self) -> &[usize] {
        let numbers = self.objects.all([self.request, self.message]);
        numbers.unwrap_or_else(|error| panic!("the shape of {}: {error}", self.format))
    }

    /// All its objects with their numbers: whoever looks for some of them asks their [outlines](Self::outlines).
    fn numbered(&self) -> impl Iterator<Item = (usize, &Object)> + Clone {
        self.numbers().iter().map(|number| (*number, &self.objects[*number]))
    }

    fn all_objects(&self) -> impl Iterator<Item = &Object> + Clone {
        self.numbered().map(|(_, object)| object)
    }

    /// What its objects are and lead to, each with its number.
    fn outlines(&self) -> impl Iterator<Item = (usize, &Outline)> {
        self.numbers().iter().filter_map(|number| Some((*number, self.objects.outline_of(*number).ok()?)))
    }

    /// The objects of which this is true.
    fn objects_where(&self, is_meant: impl Fn(&Outline) -> bool) -> impl Iterator<Item = (usize, &Object)> {
        let numbers = self.outlines().filter(move |(_, outline)| is_meant(outline)).map(|(number, _)| number);
        numbers.map(|number| (number, &self.objects[number]))
    }

    /// The objects of a kind, but for the variants of others.
    fn objects_of(&self, kind: Kind) -> impl Iterator<Item = (usize, &Object)> {
        self.objects_where(move |outline| outline.kind == Some(kind))
    }

    /// The objects that are of this name, add to it or are variants of it.
    fn objects_named(&self, name: &str) -> impl Iterator<Item = &Object> {
        self.objects_where(|outline| outline.is_named(name)).map(|(_, object)| object)
    }

    /// The fields of a key, in all objects that have it.
    fn fields_of<'s>(&'s self, key: &str) -> impl Iterator<Item = (&'s Object, &'s Field)> {
        let is_in_snake_case = self.objects.is_in_snake_case();
        let is_key = move |known: &str| known == key || is_in_snake_case && case::snake_case(known) == key;
        let has = move |outline: &Outline| outline.keys.iter().any(|known| is_key(known));
        let known = |object: &'s Object| object.field(key).filter(|field| field.is_known);
        self.objects_where(has).filter_map(move |(_, object)| Some((object, known(object)?)))
    }

    /// Whether any message may have a key.
    pub fn has_in_messages(&self, key: &str) -> bool {
        let mut messages = self.objects_of(Kind::Message);
        messages.any(|(_, object)| object.field(key).is_some_and(|field| field.is_known))
    }

    /// The object that another one is a variant of.
    fn base(&self, object: &Object) -> Option<&Object> {
        self.object(object.base.as_deref()?)
    }

    /// The object of a name.
    fn object(&self, name: &str) -> Option<&Object> {
        let is_it = |number: &&usize| self.objects.names(**number).is_some_and(|(known, _)| known == name);
        self.numbers().iter().find(is_it).map(|number| &self.objects[*number])
    }

    fn facts(&self) -> &[Fact] {
        &self.enforced.facts
    }

    fn fact(&self, number: usize) -> &FactTable {
        &self.facts()[number]
    }

    /// The name of the API in prose.
    fn name(&self) -> &'static str {
        let file = self.file.name.as_deref();
        let name = file.or_else(|| crate::targets::find(self.format).map(|target| &*target.name));
        name.map_or(self.format, |name| name.trim_end_matches(" API"))
    }

    /// The only object that has a key, unless it is a part of a schema.
    fn only_object_with(&self, key: &str) -> Option<&Object> {
        let objects = self.fields_of(key).map(|(object, _)| object);
        let mut objects = objects.filter(|object| object.rule.is_none());
        let first = objects.next()?;
        objects.all(|other| other.name == first.name).then_some(first)
    }

    /// The rules that check a key which is not known where it is, in the only object that has it.
    pub fn checked_elsewhere_by<'f>(&'f self, fault: &ShapeFault<'f>) -> impl Iterator<Item = RuleId> {
        let object = fault.elsewhere().and_then(|name| self.object(name));
        let field = object.and_then(|object| object.field(&fault.key));
        field.into_iter().flat_map(|field| field.checked_by.iter().copied())
    }

    /// The rule that the description names for what a fact is about.
    fn rule_of(&self, fact: &FactTable) -> Option<RuleId> {
        let mut objects = self.objects_named(&fact.object);
        let of_value =
            !matches!(fact.fault, ShapeFaultKind::Missing | ShapeFaultKind::Unknown | ShapeFaultKind::Type);
        objects.find_map(|object| {
            let field = fact.field.as_deref().filter(|_| of_value).and_then(|key| object.field(key));
            field.and_then(|field| field.rule).or(object.rule)
        })
    }

    /// Which of its facts hold for a model.
    pub fn facts_for(&self, model: Option<&str>) -> ModelFacts {
        let Some(model) = model else { return self.plain_facts().clone() };
        let mut known = self.facts_of_models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, facts)) = known.iter().find(|(own, _)| own == model) {
            return facts.clone();
        }
        let facts = self.find_facts(Some(model));
        if known.len() == MODELS_REMEMBERED {
            known.remove(0);
        }
        known.push((model.to_owned(), facts.clone()));
        facts
    }

    /// The facts that hold where no model is known.
    fn plain_facts(&self) -> &ModelFacts {
        self.plain_facts.get_or_init(|| self.find_facts(None))
    }

    fn find_facts(&self, model: Option<&str>) -> ModelFacts {
        ModelFacts(Arc::new(OfModel {
            enforced: Arc::clone(&self.enforced),
            model: model.map(str::to_owned),
            holds: self.facts().iter().map(|_| OnceLock::new()).collect(),
            kept: Mutex::default(),
        }))
    }

    /// Whether a body has a key that only a whole request has.
    fn shows_whole(&self, body: Value<'_, '_>) -> bool {
        self.file.whole_if.iter().any(|key| body.get(key).is_some())
    }

    /// What is wrong with a body. If it may be only what somebody has kept of a request, no key of the request itself is
    /// missing or unknown; `is_sent` says that it is about to be sent.
    pub fn check_request<'f>(
        &'f self,
        facts: &ModelFacts,
        body: Value<'_, '_>,
        is_sent: bool,
    ) -> Vec<ShapeFault<'f>> {
        let is_whole = is_sent && (self.file.whole_if.is_empty() || self.shows_whole(body));
        let mut checker = check::Checker::new(self, facts.clone(), Some(body), is_whole);
        checker.request(body);
        checker.end()
    }

    /// What is wrong with a body as the API got it: it is all of the request, but for the model, if its path `names_model`.
    pub fn check_body<'f>(
        &'f self,
        facts: &ModelFacts,
        body: Value<'_, '_>,
        names_model: bool,
    ) -> Vec<ShapeFault<'f>> {
        let is_there = |key: &Text| body.get(key).is_some_and(|value| !value.is_null());
        let is_given = |key: &Text| names_model && key == "model" || is_there(key);
        let lacks = self.file.sent_with.iter().filter(|(key, or)| !is_given(key) && !or.iter().any(is_there));
        let mut checker = check::Checker::new(self, facts.clone(), Some(body), true);
        checker.request(body);
        lacks.for_each(|(key, _)| checker.lacks(body, key));
        checker.end()
    }

    /// Whether an object without a list of messages is a request of this format all the same, by its other keys. If it
    /// `is_of_another` format too, somebody must have seen the API refuse it.
    pub fn knows_request(&self, body: Value<'_, '_>, is_of_another: bool) -> bool {
        let request = &self.objects[self.request];
        let is_known = |key: &str| request.field(key).is_some_and(|field| field.is_known);
        let keys = body.members().take(KEYS_LOOKED_AT).filter_map(Value::key_text);
        let (known, other): (Vec<_>, Vec<_>) = keys.partition(|key| is_known(key));
        if known.len() < 2 || known.len() < other.len() {
            return false;
        }
        // The list of messages is what is wrong, or another API's list is there in place of it.
        let is_list =
            |fault: &ShapeFault<'_>| fault.field.is_some_and(|field| field.items == Some(self.message));
        let is_seen = |fault: &ShapeFault<'_>| {
            let fact = fault.evidence(self, None);
            fact.is_some_and(|fact| fact.doubt.is_none() && fact.evidence > Evidence::Inferred)
        };
        let faults = self.check_request(self.plain_facts(), body, true);
        faults.iter().filter(|fault| fault.is_of_request()).any(|fault| match fault.kind {
            ShapeFaultKind::Unknown if is_of_another => {
                is_seen(fault) && body.get(&fault.key).is_some_and(Value::is_array)
            }
            ShapeFaultKind::Unknown => true,
            _ => !is_of_another && is_list(fault),
        })
    }

    /// Whether a body has no key that the request may not have, and none of the required ones is missing.
    pub fn fits_keys(&self, body: Value<'_, '_>) -> bool {
        let request = &self.objects[self.request];
        let is_there = |field: &u16| body.get(&request.fields[*field as usize].key).is_some();
        let is_whole = self.shows_whole(body);
        let lacks = |field: &u16| {
            let required = &request.fields[*field as usize].required;
            is_whole
                && !is_there(field)
                && required
                    .iter()
                    .any(|required| required.fact.is_none() && !required.unless.iter().any(is_there))
        };
        !(request.is_closed && !self.has_known_keys(body) || request.required.iter().any(lacks))
    }

    /// Whether a body has only known keys, among them that of the list of messages and another.
    pub fn knows_keys(&self, body: Value<'_, '_>) -> bool {
        let has_list = |field: &Field| {
            field.items == Some(self.message) && body.get(&field.key).is_some_and(|list| list.is_array())
        };
        body.members().nth(1).is_some()
            && self.may_know_keys(body)
            && self.objects[self.request].fields.iter().any(has_list)
            && self.has_known_keys(body)
    }

    /// Whether the tables name all keys of a body: what they do not name needs no object to be compiled.
    fn may_know_keys(&self, body: Value<'_, '_>) -> bool {
        let Ok(request) = self.objects.outline_of(self.request) else { return true };
        let is_named = |key: &str| request.keys.iter().any(|known| **known == *key);
        self.objects.is_in_snake_case()
            || body.members().filter_map(Value::key_text).all(|key| is_named(&key))
    }

    fn has_known_keys(&self, body: Value<'_, '_>) -> bool {
        let request = &self.objects[self.request];
        let facts = self.plain_facts();
        let is_allowed =
            |field: &Field| field.is_known && !field.absent.iter().any(|fact| facts.holds(*fact));
        body.members().filter_map(Value::key_text).all(|key| request.field(&key).is_some_and(is_allowed))
    }

    /// How many faults a body has, whatever its model.
    pub fn count_refused(&self, body: Value<'_, '_>) -> usize {
        let faults = self.check_request(self.plain_facts(), body, true);
        faults.iter().filter(|fault| fault.is_refused(self, None)).map(|fault| 1 + fault.alike.len()).sum()
    }

    /// What is wrong with the schemas of tools that are in no request, each with its tool.
    pub fn check_schemas<'f, 'd, 's: 'd>(
        &'f self,
        facts: &ModelFacts,
        tools: impl Iterator<Item = (Value<'d, 's>, Value<'d, 's>)>,
    ) -> Vec<ShapeFault<'f>> {
        let Some(table) = &self.file.tool_schema else { return Vec::new() };
        let Ok(number) = self.objects.number(&table.object, None) else { return Vec::new() };
        let mut checker = check::Checker::new(self, facts.clone(), None, false);
        for (index, (tool, schema)) in tools.enumerate() {
            checker.schema_of_tool((index, tool), schema, (table, number));
        }
        checker.end()
    }

    /// What is wrong with a list of messages by itself.
    pub fn check_messages<'f>(&'f self, facts: &ModelFacts, list: Value<'_, '_>) -> Vec<ShapeFault<'f>> {
        let mut checker = check::Checker::new(self, facts.clone(), None, false);
        checker.messages(list);
        checker.end()
    }
}
