//! Objects that are written as another API has them.
//!
//! Whoever moves a conversation from one API to another forgets a tool or a block, which then has many faults and one
//! cause. An object that has faults is compared with the objects of the same kind in the other formats: if it has none
//! there, that is what it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::{HashMap, HashSet};
use toolcheck_json::{Document, NodeId, Value};
use toolcheck_toml::Text;

use super::check::{Above, Checker};
use super::compile::Object;
use super::fault::ShapeFault;
use super::tables::{Kind, SaidTable, ShapeFaultKind};
use super::{FILES, Shape, formats};
use crate::fix::{Change, Fix};
use crate::rule_id::RuleId;
use crate::targets;

/// An object that is written as another API has it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Foreign<'f> {
    /// The object.
    pub node: NodeId,
    /// Others with the same faults, if there are very many.
    pub alike: Vec<NodeId>,
    /// What it is.
    pub kind: Kind,
    /// The id of the format that it is written in.
    pub format: &'static str,
    /// The name of the API whose format it is.
    pub name: &'static str,
    /// How this API writes it: one line of JSON.
    pub example: Option<Cow<'f, str>>,
    /// The number of the fault that the API names first.
    pub fault: usize,
    /// What makes it one of this API's: another name for what it is, if nothing else differs.
    pub fix: Option<Fix>,
}

impl Shape {
    /// The objects among the faulty ones that are written as another API has them, in the order of the file.
    pub fn foreign<'f>(&'f self, faults: &[ShapeFault<'f>], document: &Document<'_>) -> Vec<Foreign<'f>> {
        let mut of_objects: HashMap<NodeId, Vec<usize>> = HashMap::default();
        for (number, fault) in faults.iter().enumerate() {
            if matches!(fault.above.last(), Some((_, Some(_)))) {
                of_objects.entry(fault.parent).or_default().push(number);
            }
        }
        let mut foreign: Vec<Foreign<'f>> = Vec::new();
        for (number, fault) in faults.iter().enumerate() {
            let Some((node, Some(kind))) = fault.above.last().copied() else { continue };
            let of_object = of_objects.remove(&node).filter(|numbers| numbers.len() <= MOST_FAULTS);
            let Some(of_object) = of_object else { continue };
            let direct: Vec<_> = of_object.iter().map(|number| &faults[*number]).collect();
            let value = document.value(node);
            if fault.object.former.as_ref().is_some_and(|key| value.get(key).is_some()) {
                continue;
            }
            let Some(marks) = self.marks(value, kind, &direct) else { continue };
            if self.unwrapped(&faults[number], document).is_some() {
                continue;
            }
            let keys = value.members().filter_map(Value::key_text);
            let mut knowing = keys.fold(u32::MAX, |known, key| known & knowing(&key));
            if marks.unknown.is_empty() && marks.others.is_empty() {
                // Nothing but its type may then be another API's.
                knowing &= marks.r#type.as_deref().map_or(0, self::knowing);
            }
            let others = formats()
                .enumerate()
                .filter(|(number, format)| *format != self.format && knowing & (1 << number) != 0);
            let fits = |format, is_lenient| {
                let shape = shape_of(format)?;
                Some((format, shape, shape.fits(value, kind, &marks, is_lenient)?))
            };
            let found = others.clone().find_map(|(_, format)| fits(format, false));
            // What an API asks of a schema says nothing about whose tool it is: one that comes first would have refused it.
            let found = found.map(|found| {
                let nearer = others.take_while(|(_, format)| *format != found.0);
                nearer.map(|(_, format)| format).find_map(|format| fits(format, true)).unwrap_or(found)
            });
            if let Some((format, shape, variant)) = found {
                let example = self.in_own_way(kind, value, shape, variant);
                let own = || direct.first().and_then(|fault| fault.object_example());
                let example = example.map(Cow::Borrowed).or_else(|| own().filter(|_| kind != Kind::Content));
                let alike = fault.alike.clone();
                let form = direct.first().and_then(|fault| fault.object_example());
                let own = || Some(Fix::safe([self.written(value, kind, form)?]));
                // What a tool holds may have several forms.
                let is_tool = |above: &&(NodeId, Option<Kind>)| above.1 == Some(Kind::Tool);
                let is_alone = alike.is_empty() && fault.above.iter().filter(is_tool).count() < 2;
                let fix = self.called_otherwise(&direct, value).or_else(own).filter(|_| is_alone);
                foreign.push(Foreign {
                    node,
                    fix,
                    alike,
                    kind,
                    format,
                    name: shape.name(),
                    example,
                    fault: number,
                });
            }
        }
        // What is in another is a part of it.
        let nodes: HashSet<NodeId> = foreign.iter().map(|foreign| foreign.node).collect();
        foreign.retain(|foreign| {
            let above = &faults[foreign.fault].above;
            !above.iter().any(|(node, _)| *node != foreign.node && nodes.contains(node))
        });
        foreign
    }

    /// The key that holds what the object with a fault is itself, so that it only lacks what goes around it.
    pub fn unwrapped<'a>(&self, fault: &ShapeFault<'a>, document: &Document<'_>) -> Option<&'a str> {
        let value = document.value(fault.parent);
        let knows = |object: &Object| {
            let mut keys = value.members().filter_map(Value::key_text);
            keys.all(|key| object.field(&key).is_some_and(|field| field.is_known))
        };
        let is_schema = value.is("type", "object");
        let is_meant = |inner: usize| {
            if self.objects[inner].rule == Some(RuleId::InvalidToolSchema) {
                return is_schema;
            }
            let mut checker = Checker::new(self, self.plain_facts().clone(), None, true);
            let inner = checker.alone(value, inner);
            let has_required = |inner: &Object| {
                let mut required = inner.required.iter().map(|field| &inner.fields[usize::from(*field)]);
                required.any(|field| value.get(&field.key).is_some())
            };
            // What it lacks itself does not make it another API's.
            inner.is_some_and(|inner| has_required(inner) && knows(inner))
                && !checker
                    .faults
                    .iter()
                    .any(|fault| fault.kind != ShapeFaultKind::Missing && fault.is_refused(self, None))
        };
        let around = fault.object.fields.iter().find(|field| field.object.is_some_and(is_meant))?;
        Some(&around.key)
    }

    /// What gives an object the type that is meant by its own, if it has no fault then.
    fn called_otherwise(&self, faults: &[&ShapeFault<'_>], value: Value<'_, '_>) -> Option<Fix> {
        let [fault] = faults else { return None };
        let by = fault.object.by.as_ref().filter(|by| *by.key == *fault.key && fault.alike.is_empty())?;
        let meant = &**fault.field?.instead.get(&*value.get_str(&by.key)?)?;
        let (_, variant) = by.values.iter().find(|(name, _)| **name == *meant)?;
        let mut checker = Checker::new(self, self.plain_facts().clone(), None, true);
        checker.above.push(Above { value, kind: None, is_element: true, before: None });
        checker.members_alone(value, *variant);
        let is_other = |fault: &ShapeFault<'_>| fault.key != *by.key && fault.is_refused(self, None);
        if checker.faults.iter().any(is_other) {
            return None;
        }
        let kind = value.get(&by.key)?;
        Some(Fix::safe([Change::Write(kind.id(), format!("\"{meant}\""))]))
    }

    /// What may show that an object is written as another API has it; `None` if nothing does.
    fn marks<'s>(&self, value: Value<'_, 's>, kind: Kind, faults: &[&ShapeFault<'_>]) -> Option<Marks<'s>> {
        let mut marks = Marks::default();
        for fault in faults {
            match fault.kind {
                // Of this API too, but not for this model.
                ShapeFaultKind::Unknown if fault.is_of_known_key() => {}
                ShapeFaultKind::Unknown => marks.unknown.push(fault.key.to_string()),
                // A role alone says little, but not with keys that go with it elsewhere.
                ShapeFaultKind::Value if fault.is_of_type() && kind == Kind::Message => {
                    marks.others = self.foreign_keys(value, fault.object);
                }
                // A block that this API knows elsewhere is only in the wrong place.
                ShapeFaultKind::Value if fault.is_of_type() => {
                    let by = value.get(&fault.key)?.as_str()?;
                    let is_own = |object: &Object| {
                        object
                            .by
                            .as_ref()
                            .is_some_and(|own| *own.key == *fault.key && own.variants.contains(&by))
                    };
                    let is_foreign = !self.objects_of(kind).any(|(_, object)| is_own(object));
                    marks.r#type = is_foreign.then_some(by);
                }
                ShapeFaultKind::Missing | ShapeFaultKind::None => marks.lacks_key = true,
                _ => {}
            }
        }
        if marks.lacks_key {
            marks.others = self.foreign_keys(value, faults.first()?.object);
        }
        let has_any = marks.r#type.is_some()
            || marks.lacks_key
            || !marks.unknown.is_empty()
            || !marks.others.is_empty();
        has_any.then_some(marks)
    }

    /// The keys of a value that neither an object nor any of its variants has.
    fn foreign_keys<'s>(&self, value: Value<'_, 's>, base: &Object) -> Vec<Cow<'s, str>> {
        let of_base: Vec<&Object> = self.objects_named(&base.name).collect();
        let is_own = |key: &str| of_base.iter().any(|object| object.numbers.contains(key));
        value.members().filter_map(Value::key_text).filter(|key| !is_own(key)).collect()
    }

    /// The variant of an object of this kind that a value is, if it has no fault and explains what it has elsewhere.
    /// It may have faults in the schema of a tool if the look at it `is_lenient`.
    fn fits(&self, value: Value<'_, '_>, kind: Kind, marks: &Marks<'_>, is_lenient: bool) -> Option<&Object> {
        self.objects_of(kind).find_map(|(number, _)| {
            let mut checker = Checker::new(self, self.plain_facts().clone(), None, true);
            let variant = checker.variant_alone(value, number)?;
            let object = &self.objects[variant];
            let is_known = |key: &str| object.field(key).is_some_and(|field| field.is_known);
            let is_required = |key: &str| object.field(key).is_some_and(|field| !field.required.is_empty());
            let holds_objects = |key: &str| {
                let field = object.field(key).filter(|field| field.is_known);
                field.is_some_and(|field| field.items.or(field.object).is_some())
                    && value.get(key).is_some_and(|value| value.children().next().is_some())
            };
            // The keys of a message are much the same everywhere.
            let is_nothing_own = || {
                kind != Kind::Message
                    && !marks.others.is_empty()
                    && marks.others.len() == value.members().count()
            };
            let explains = marks.r#type.as_deref().is_some_and(|kind| {
                // An object that may be of any type says nothing of one that it does not name.
                let by = self.objects[number].by.as_ref();
                by.is_some_and(|by| is_known(&by.key) && by.variants.contains(kind))
                    || self.is_called(number, kind)
            }) || is_nothing_own()
                || marks.others.iter().any(|key| is_required(key))
                || marks.unknown.iter().any(|key| is_required(key))
                || marks.unknown.iter().filter(|key| is_known(key)).count() > 1
                || kind == Kind::Message && marks.unknown.iter().any(|key| holds_objects(key));
            // An open object fits anything.
            let knows_all = || value.members().filter_map(Value::key_text).all(|key| is_known(&key));
            if !explains || !knows_all() {
                return None;
            }
            checker.members_alone(value, variant);
            let is_let_pass =
                |fault: &ShapeFault<'_>| is_lenient && fault.rule() == Some(RuleId::InvalidToolSchema);
            let is_refused = |fault: &ShapeFault<'_>| !is_let_pass(fault) && fault.is_refused(self, None);
            (!checker.faults.iter().any(is_refused)).then_some(object)
        })
    }

    /// Whether an object is the one that has this type.
    fn is_called(&self, number: usize, kind: &str) -> bool {
        let mut variants = self.outlines().flat_map(|(_, outline)| &outline.variants);
        variants.any(|(value, variant)| **value == *kind && *variant == number)
    }

    /// How an object of a kind is written: one line of JSON.
    pub fn example(&self, kind: Kind) -> Option<&str> {
        self.objects_of(kind).find_map(|(_, object)| object.example.as_deref())
    }

    /// How the result of a call is written: one line of JSON.
    pub fn result_example(&self) -> Option<&str> {
        self.example_of("result")
    }

    /// How this API writes a message with what every API can say, if that is a block in it.
    pub(super) fn message_of(&self, said: &str) -> Option<&'static str> {
        says_of(self.format)?.get(said)?.message.as_deref()
    }

    /// How this API writes what every API can say, such as `text`: one line of JSON.
    pub(super) fn example_of(&self, said: &str) -> Option<&'static str> {
        says_of(self.format)?.get(said).map(|said| &*said.example)
    }

    /// How this API writes what another writes as this value, if that is not an object like the one that is there.
    fn in_own_way(&self, kind: Kind, value: Value<'_, '_>, other: &Self, variant: &Object) -> Option<&str> {
        let said = || {
            let (own, other) = (says_of(self.format)?, says_of(other.format)?);
            let (said, _) =
                other.iter().find(|(_, said)| said.names.iter().any(|name| shows(value, name)))?;
            own.get(said)
        };
        match (kind, variant.kind.filter(|nearer| *nearer != kind)) {
            (Kind::Message | Kind::Content, nearer) => match said() {
                Some(said) => {
                    Some(said.message.as_deref().filter(|_| kind == Kind::Message).unwrap_or(&said.example))
                }
                None => nearer.and_then(|nearer| self.example(nearer)),
            },
            (_, Some(nearer)) => self.example(nearer),
            (_, None) => None,
        }
    }
}

fn says_of(format: &str) -> Option<&'static BTreeMap<Text, SaidTable>> {
    FILES.find(format).map(|file| &file.says)
}

/// Whether a name is a key of a message or a block, or says what it is.
fn shows(value: Value<'_, '_>, name: &str) -> bool {
    let says = |key| value.get(key).is_some_and(|own| own.as_str().is_some_and(|own| own == name));
    says("type") || says("role") || value.get(name).is_some_and(|own| !own.is_null())
}

/// What may show that an object is written as another API has it.
#[derive(Debug, Default)]
struct Marks<'s> {
    /// Its type, if no object of this kind is of it.
    r#type: Option<Cow<'s, str>>,
    lacks_key: bool,
    /// The keys that are not known.
    unknown: Vec<String>,
    /// The keys that are not known or need not be, where one is missing.
    others: Vec<Cow<'s, str>>,
}

/// The most faults of an object that another API may explain.
const MOST_FAULTS: usize = 20;

/// The ids of the formats whose requests may have all keys of a body: their files name them.
pub fn formats_with_keys(body: Value<'_, '_>) -> Vec<&'static str> {
    let keys = body.members().filter_map(Value::key_text);
    let known = keys.fold(u32::MAX, |known, key| if known == 0 { 0 } else { known & knowing(&key) });
    formats().enumerate().filter(|(number, _)| known & (1 << number) != 0).map(|(_, format)| format).collect()
}

/// The formats that may know a key or a type, one bit each by their numbers: it is somewhere in their files. Compiling a shape costs
/// much more than looking, and the same keys come again and again.
pub(super) fn knowing(key: &str) -> u32 {
    static KEYS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let mut known = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(formats) = known.get(key) {
        return *formats;
    }
    let is_in = |(number, format): (usize, &'static str)| u32::from(names(&files(format), key)) << number;
    let found = formats().enumerate().map(is_in).fold(0, |all, one| all | one);
    if known.len() < MOST_KEYS && key.len() <= LONGEST_KEY {
        known.insert(key.to_owned(), found);
    }
    found
}

/// The most keys that are remembered, and the longest.
const MOST_KEYS: usize = 1_024;
const LONGEST_KEY: usize = 64;

/// The files of a format's shape, as they are packed.
fn files(format: &'static str) -> Vec<&'static str> {
    FILES.packed(format).into_iter().chain(targets::packed(format)).collect()
}

/// Whether a key is in one of these files, also in the case that formats write with and without underscores.
fn names(files: &[&str], key: &str) -> bool {
    let is_in =
        |key: &str| files.iter().any(|file| memchr::memmem::find(file.as_bytes(), key.as_bytes()).is_some());
    is_in(key) || key.contains('_') && is_in(&camel_case(key))
}

/// A key of snake case in mixed case.
fn camel_case(key: &str) -> String {
    // An underscore at the beginning stays.
    let (start, rest) = key.split_at(key.len() - key.trim_start_matches('_').len());
    let mut words = rest.split('_');
    let mut camel = start.to_owned() + words.next().unwrap_or_default();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// The shape of a format as its own provider enforces it, or as it is described if no provider has it.
fn shape_of(format: &'static str) -> Option<&'static Shape> {
    static OTHERS: OnceLock<Vec<Shape>> = OnceLock::new();
    if let Some(target) = targets::find(format) {
        return target.shape();
    }
    let others = OTHERS.get_or_init(|| {
        let unknown = formats().filter(|format| targets::find(format).is_none());
        unknown.filter_map(|format| Shape::of(format, &Arc::default())).collect()
    });
    others.iter().find(|shape| shape.format == format)
}
