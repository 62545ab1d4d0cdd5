//! What an object is, which keys it has and which objects it leads to: whoever looks for an object needs no more, and most of a
//! table is not read for it.

use std::collections::BTreeMap;

use foldhash::HashMap;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use toolcheck_toml::{Deferred, Item, Table};

use super::compile::Object;
use super::objects::{Objects, extended, undescribed};
use super::tables::{FieldEntry, Kind, ObjectTable};

/// What the tables of an object say of it, before it is compiled.
#[derive(Debug)]
pub(super) struct Outline {
    /// Its name, and the names of the objects that it adds to or is a variant of.
    pub(super) names: Vec<Box<str>>,
    pub(super) kind: Option<Kind>,
    /// The keys that it is described with.
    pub(super) keys: Vec<Box<str>>,
    /// The numbers of the objects that its fields lead to.
    of_fields: Vec<usize>,
    /// The objects that it may be, by the value that says so.
    pub(super) variants: Vec<(Box<str>, usize)>,
    otherwise: Option<usize>,
}

impl Outline {
    /// The objects that its fields lead to, and those that it may be.
    pub(super) fn below(&self) -> impl DoubleEndedIterator<Item = usize> {
        let variants = self.variants.iter().map(|(_, number)| *number);
        self.of_fields.iter().copied().chain(variants).chain(self.otherwise)
    }

    /// Whether it says what an object does.
    pub(super) fn is_of(&self, object: &Object) -> bool {
        let known = object.fields.iter().filter(|field| field.is_known).map(|field| &*field.key);
        let fields = object.fields.iter().flat_map(|field| [field.object, field.items, field.entries]);
        let by = object.by.iter().flat_map(|by| by.values.iter().chain(&by.otherwise));
        let below = fields.flatten().chain(by.map(|(_, number)| *number));
        known.eq(self.keys.iter().map(|key| &**key))
            && below.eq(self.below())
            && object
                .by
                .iter()
                .flat_map(|by| &by.values)
                .map(|(value, variant)| (&**value, variant))
                .eq(self.variants.iter().map(|(value, variant)| (&**value, variant)))
            && (object.kind, &object.names) == (self.kind, &self.names)
    }

    /// Whether it is the object of this name, adds to it or is a variant of it.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|known| **known == *name)
    }
}

/// The part of an [`ObjectTable`] that tells which objects belong together.
#[derive(Debug, Clone, Default)]
pub(super) struct Links<'t> {
    extends: Option<&'t str>,
    by: Option<&'t str>,
    kind: Option<Kind>,
    variants: BTreeMap<&'t str, &'t str>,
    otherwise: Option<&'t str>,
    /// The keys of its fields, each with the objects that it leads to; without any where it is removed.
    fields: Vec<(&'t str, Option<LeadsTo<'t>>)>,
}

/// The links of objects by themselves, each with the names of its object: those of a base are asked for with each variant.
pub(super) type KnownLinks<'t> = HashMap<Box<str>, (Links<'t>, Vec<Box<str>>)>;

/// The names of the objects that a value is, that its elements are and that its members are.
type LeadsTo<'t> = [Option<&'t str>; 3];

impl<'t> Links<'t> {
    const KEYS: [&'static str; 6] = ["extends", "by", "kind", "otherwise", "variants", "fields"];

    fn of(table: &'t Deferred<ObjectTable>) -> Self {
        table.packed().map_or_else(|| Self::of_read(table), Self::of_packed)
    }

    fn of_packed(table: Table<'t>) -> Self {
        let mut links = Self::default();
        for (key, value) in table.members_under(Self::KEYS) {
            match (key, value) {
                ("extends", Item::Text(name)) => links.extends = Some(name),
                ("by", Item::Text(key)) => links.by = Some(key),
                ("kind", Item::Text(kind)) => {
                    let kind: Result<_, Error> = Kind::deserialize(kind.into_deserializer());
                    links.kind = kind.ok();
                }
                ("otherwise", Item::Text(name)) => links.otherwise = Some(name),
                ("variants", Item::Table(variants)) => {
                    links.variants =
                        variants.members().filter_map(|(value, name)| Some((value, text(name)?))).collect();
                }
                ("fields", Item::Table(fields)) => {
                    links.fields = fields.members().map(|(key, field)| (key, leads_to(field))).collect();
                }
                _ => {}
            }
        }
        links
    }

    fn of_read(table: &'t ObjectTable) -> Self {
        let leads_to = |entry: &'t FieldEntry| {
            let field = entry.described()?;
            Some([&field.object, &field.items, &field.entries].map(Option::as_deref))
        };
        Self {
            extends: table.extends.as_deref(),
            by: table.by.as_deref(),
            kind: table.kind,
            variants: table.variants.iter().map(|(value, name)| (&**value, &**name)).collect(),
            otherwise: table.otherwise.as_deref(),
            fields: table.fields.0.iter().map(|(key, entry)| (&**key, leads_to(entry))).collect(),
        }
    }

    /// What this table says, and for the rest what `base` says: as [`ObjectTable::over`].
    fn over(self, mut base: Self) -> Self {
        for (key, leads_to) in self.fields {
            let known = base.fields.iter_mut().find(|(known, _)| *known == key);
            match (known, leads_to) {
                (Some((_, Some(below))), Some([object, items, entries])) => {
                    *below = [object.or(below[0]), items.or(below[1]), entries.or(below[2])];
                }
                (Some((_, below)), own) => *below = own,
                (None, own) => base.fields.push((key, own)),
            }
        }
        base.variants.extend(self.variants);
        base.variants.retain(|_, name| !name.is_empty());
        Self {
            extends: self.extends.or(base.extends),
            by: self.by.or(base.by),
            kind: self.kind.or(base.kind),
            otherwise: self.otherwise.or(base.otherwise),
            ..base
        }
    }
}

fn text(item: Item<'_>) -> Option<&str> {
    if let Item::Text(text) = item { Some(text) } else { None }
}

fn leads_to(field: Item<'_>) -> Option<LeadsTo<'_>> {
    match field {
        // It is removed.
        Item::Other => None,
        Item::Text(_) => Some([None; 3]),
        Item::Table(field) => Some(field.texts(["object", "items", "entries"])),
    }
}

impl Objects {
    /// What an object is and leads to, by itself or as a variant of `base`.
    pub(super) fn outline<'o>(
        &'o self,
        name: &str,
        base: Option<&str>,
        known: &mut KnownLinks<'o>,
    ) -> Result<Outline, String> {
        let (mut links, mut names) = self.links(name)?;
        if let Some(base) = base {
            let (above, of_base) = match known.get(base) {
                Some(links) => links.clone(),
                None => known.entry(base.into()).or_insert(self.links(base)?).clone(),
            };
            if links.by == above.by {
                // It has been chosen by this field.
                (links.by, links.otherwise) = (None, None);
                links.variants.clear();
            }
            let (by, kind) = (links.by, links.kind);
            links = links.over(Links { variants: BTreeMap::new(), otherwise: None, ..above });
            (links.by, links.kind) = (by, kind);
            names.extend(of_base);
        }
        let of_fields = links.fields.iter().filter_map(|(_, leads_to)| *leads_to).flatten().flatten();
        let of_fields = of_fields.map(|object| self.number(object, None)).collect::<Result<_, _>>()?;
        let variants = links.variants.iter().filter(|_| links.by.is_some());
        let variants =
            variants.map(|(value, variant)| Ok((Box::from(*value), self.number(variant, Some(name))?)));
        let otherwise = links.otherwise.filter(|_| links.by.is_some());
        Ok(Outline {
            kind: links.kind,
            keys: links
                .fields
                .iter()
                .filter(|(_, leads_to)| leads_to.is_some())
                .map(|(key, _)| Box::from(*key))
                .collect(),
            of_fields,
            variants: variants.collect::<Result<_, String>>()?,
            otherwise: otherwise.map(|variant| self.number(variant, Some(name))).transpose()?,
            names,
        })
    }

    /// An object with what it adds to, and their names.
    fn links(&self, name: &str) -> Result<(Links<'_>, Vec<Box<str>>), String> {
        let find = |name: &str| {
            self.tables(name).map(Links::of).reduce(Links::over).ok_or_else(|| undescribed(name))
        };
        extended(name, find, |links| links.extends, Links::over)
    }
}
