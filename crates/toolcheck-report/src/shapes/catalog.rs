//! The objects of a shape by name, and what is asked of each.

use std::collections::VecDeque;

use toolcheck_core::shape::{Demand, FieldView, Known, ObjectView, Shape, ShapeFaultKind};
use toolcheck_core::text::shown;
use toolcheck_lint::rules;

/// The objects of a shape, those that are nearest to the request first.
#[derive(Debug)]
pub struct Catalog<'f> {
    /// Its objects.
    pub objects: Vec<Named<'f>>,
}

/// An object. If it is a variant of several others, it has the fields of each in turn.
#[derive(Debug)]
pub struct Named<'f> {
    /// Its name.
    pub name: &'f str,
    /// The object as a variant of each of others, or by itself.
    pub views: Vec<View<'f>>,
    /// How a request leads to it.
    pub ways: Vec<Parent<'f>>,
}

/// An object as a variant of another, or by itself.
#[derive(Debug)]
pub struct View<'f> {
    /// The object.
    pub object: ObjectView<'f>,
    /// The object that it is a variant of.
    pub parent: Option<&'f str>,
}

/// How a request leads to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent<'f> {
    /// It is the request, or a message of a list.
    Root,
    /// It is the value of a key.
    Value {
        /// The name of the object that has the key.
        object: &'f str,
        /// The key.
        key: &'f str,
    },
    /// It is an element of an array.
    Element {
        /// The name of the object that has the key.
        object: &'f str,
        /// The key.
        key: &'f str,
    },
    /// It is one of the values in an object.
    Entry {
        /// The name of the object that has the key.
        object: &'f str,
        /// The key.
        key: &'f str,
    },
    /// It is a variant: the value of a key says so, or that there is none.
    Variant {
        /// The name of the object that it is a variant of.
        object: &'f str,
        /// The key whose value tells variants apart.
        by: &'f str,
        /// The value; `None` if there is none.
        value: Option<&'f str>,
    },
}

impl<'f> Catalog<'f> {
    /// The objects of a shape.
    pub fn new(shape: &'f Shape) -> Self {
        let mut catalog = Self { objects: Vec::new() };
        // The nearest to the root first, so that the first way to an object is the shortest.
        let mut open = VecDeque::from([(Parent::Root, shape.request())]);
        while let Some((way, object)) = open.pop_front() {
            if catalog.add(way, object) {
                open.extend(below(object));
            }
        }
        catalog.add(Parent::Root, shape.message());
        catalog
    }

    /// Adds an object, and returns whether it is new.
    fn add(&mut self, way: Parent<'f>, object: ObjectView<'f>) -> bool {
        let name = object.name();
        let number = self.objects.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.objects.push(Named { name, views: Vec::new(), ways: Vec::new() });
            self.objects.len() - 1
        });
        let named = &mut self.objects[number];
        let is_known = named.ways.contains(&way) || way == Parent::Root && !named.ways.is_empty();
        if !is_known {
            named.ways.push(way);
        }
        let is_new = !named.views.iter().any(|view| view.object == object);
        if is_new {
            let parent = match way {
                Parent::Variant { object, .. } => Some(object),
                _ => None,
            };
            named.views.push(View { object, parent });
        }
        is_new
    }
}

fn below<'f>(object: ObjectView<'f>) -> Vec<(Parent<'f>, ObjectView<'f>)> {
    let (name, by) = (object.name(), object.by().unwrap_or_default());
    let variant = |value| Parent::Variant { object: name, by, value };
    let variants = object.variants().map(|(value, below)| (variant(Some(value)), below));
    let otherwise = object.otherwise().map(|below| (variant(None), below));
    let fields = object.fields().flat_map(|field| {
        let key = field.key();
        let value = field.object().map(|below| (Parent::Value { object: name, key }, below));
        let element = field.items().map(|below| (Parent::Element { object: name, key }, below));
        let entry = field.entries().map(|below| (Parent::Entry { object: name, key }, below));
        value.into_iter().chain(element).chain(entry)
    });
    variants.chain(otherwise).chain(fields).collect()
}

impl<'f> Parent<'f> {
    /// The object that it leads from.
    pub fn from(self) -> Option<&'f str> {
        match self {
            Self::Root => None,
            Self::Value { object, .. }
            | Self::Element { object, .. }
            | Self::Entry { object, .. }
            | Self::Variant { object, .. } => Some(object),
        }
    }

    /// The object at its end: ``an element of `tools` of request``.
    pub fn sentence(self) -> String {
        let from = shown(self.from().unwrap_or_default());
        match self {
            Self::Root => String::new(),
            Self::Value { key, .. } => format!("`{}` of {from}", shown(key)),
            Self::Element { key, .. } => format!("an element of `{}` of {from}", shown(key)),
            Self::Entry { key, .. } => format!("a value in `{}` of {from}", shown(key)),
            Self::Variant { by, value: Some(value), .. } => {
                format!("{from} with `{}` \"{}\"", shown(by), shown(value))
            }
            Self::Variant { by, value: None, .. } => format!("{from} without `{}`", shown(by)),
        }
    }

    /// The way in a few words, without the object that it leads from.
    pub fn words(self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Value { key, .. } => format!("`{}`", shown(key)),
            Self::Element { key, .. } => format!("each of `{}`", shown(key)),
            Self::Entry { key, .. } => format!("each value in `{}`", shown(key)),
            Self::Variant { by, value: Some(value), .. } => {
                format!("if `{}` is \"{}\"", shown(by), shown(value))
            }
            Self::Variant { by, value: None, .. } => format!("if `{}` is absent", shown(by)),
        }
    }
}

impl<'f> Named<'f> {
    /// The object as the first of those that it is a variant of have it.
    pub fn first(&self) -> ObjectView<'f> {
        self.views[0].object
    }

    /// Its fields, each once.
    pub fn fields(&self) -> Vec<FieldView<'f>> {
        let mut fields: Vec<FieldView<'f>> = Vec::new();
        for field in self.views.iter().flat_map(|view| view.object.fields()) {
            if !fields.iter().any(|known| known.key() == field.key()) {
                fields.push(field);
            }
        }
        fields
    }

    /// Whether keys that it does not have are reported.
    pub fn is_closed(&self) -> bool {
        self.views.iter().any(|view| {
            let demands = view.object.demands();
            let mut unknown = demands.iter().filter(|demand| demand.fault == ShapeFaultKind::Unknown);
            unknown.any(|demand| demand.known.iter().any(|known| known.level.is_some()))
        })
    }

    /// What is asked of it and its fields.
    pub(super) fn facts(&self) -> Vec<Fact<'f>> {
        let mut facts: Vec<Fact<'f>> = Vec::new();
        for view in &self.views {
            let of_fields = view.object.fields().flat_map(FieldView::demands);
            for demand in view.object.demands().into_iter().chain(of_fields) {
                for known in &demand.known {
                    let fact = Fact::new(view.object, &demand, known);
                    match facts.iter_mut().find(|other| other.is_same(&fact)) {
                        Some(other) => other.parents.push(view.parent),
                        None => facts.push(Fact { parents: vec![view.parent], ..fact }),
                    }
                }
            }
        }
        facts
    }
}

/// Something that is known of an object or a field.
pub(super) struct Fact<'f> {
    /// The key; empty for the object as a whole.
    pub(super) key: String,
    pub(super) fault: ShapeFaultKind,
    pub(super) asked: String,
    pub(super) is_documented: bool,
    pub(super) rule: &'f str,
    pub(super) known: Known<'f>,
    /// The objects that it holds for as one of their variants.
    pub(super) parents: Vec<Option<&'f str>>,
}

impl<'f> Fact<'f> {
    fn new(object: ObjectView<'f>, demand: &Demand<'f>, known: &Known<'f>) -> Self {
        let is_of_kind =
            demand.fault == ShapeFaultKind::Value && object.by().is_some_and(|by| by == demand.key);
        Self {
            key: demand.key.to_string(),
            fault: demand.fault,
            asked: if is_of_kind { "one of its kinds".to_owned() } else { shown(&demand.asked.to_string()) },
            is_documented: demand.is_documented,
            rule: rules::of_demand(object, demand).as_str(),
            known: known.clone(),
            parents: Vec::new(),
        }
    }

    /// Whether it says the same of the same key.
    fn is_same(&self, other: &Self) -> bool {
        (&self.key, self.is_documented, self.rule) == (&other.key, other.is_documented, other.rule)
            && self.is_alike(other)
    }

    /// Whether it says the same, of whatever key.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let (one, two) = (&self.known, &other.known);
        (self.fault, &self.asked) == (other.fault, &other.asked)
            && (one.verdict, one.evidence, one.level, one.doubt)
                == (two.verdict, two.evidence, two.level, two.doubt)
            && (one.status, one.text, one.help) == (two.status, two.text, two.help)
            && (one.sources, one.seen) == (two.sources, two.seen)
            && one.conditions() == two.conditions()
    }
}
