//! Objects that look alike: a conversation consists of a few kinds of them, so most look like one that was found to be
//! right, and need no more than that comparison.

use foldhash::HashMap;
use toolcheck_json::{Kind as JsonKind, Value};

use super::Shape;
use super::check::{Chosen, MOST_DECISIONS};
use super::compile::{Check, Object, bit};
use super::tables::{JsonType, Kind};
use super::texts::Texts;

/// The most layouts that are kept for a model.
pub(super) const MOST_LAYOUTS: usize = 256;

/// The most keys of an object whose layout is kept, and how long each of them and the values that decide may be.
const MOST_KEYS: usize = 16;
const LONGEST: usize = 64;

/// What objects were that had no faults.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    all: Vec<Layout>,
    /// The last of those with the same sum.
    by_sum: HashMap<u64, usize>,
    /// The one that the last object looked like.
    last: usize,
    /// The tools and the messages that were right.
    tools: Texts,
    messages: Texts,
}

/// What an object was that had no faults: the keys in their order, and the kinds of their values.
#[derive(Debug)]
pub(super) struct Layout {
    /// The object that it was to be.
    number: usize,
    /// The variant of it that it was.
    pub(super) variant: usize,
    pub(super) tags: [Option<Tag>; MOST_DECISIONS],
    pub(super) members: Vec<Member>,
    /// The layout of the object that came next.
    next: usize,
    /// One before it with the same sum.
    same: Option<usize>,
}

/// A value that decided what an object was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    /// The number of the object that has variants.
    pub(super) object: usize,
    /// The number of the value; `None` if there was no value.
    pub(super) value: Option<u16>,
}

impl Tag {
    /// What stands for the variant in a path, and the number of its object.
    pub(super) fn of(self, shape: &Shape) -> Option<(&str, usize)> {
        let by = shape.objects[self.object].by.as_ref()?;
        let (tag, number) = match self.value {
            Some(value) => by.values.get(usize::from(value))?,
            None => by.otherwise.as_ref()?,
        };
        Some((tag, *number))
    }
}

/// A member of an object that was right.
#[derive(Debug)]
pub(super) struct Member {
    key: Box<[u8]>,
    kind: JsonKind,
    /// The value that decides what the object is.
    value: Option<Box<[u8]>>,
    /// The number of the field whose value must be looked at.
    pub(super) work: Option<u16>,
}

impl Layouts {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, number: usize) -> &Layout {
        &self.all[number]
    }

    /// The texts of what is repeated, if objects of a kind may be.
    pub(super) fn texts(&mut self, kind: Option<Kind>) -> Option<&mut Texts> {
        match kind {
            Some(Kind::Tool) => Some(&mut self.tools),
            Some(Kind::Message) => Some(&mut self.messages),
            _ => None,
        }
    }

    /// Keeps the layout of an object, which is `value`.
    pub(super) fn extend(&mut self, layout: Option<Layout>, value: Value<'_, '_>) {
        let Some(mut layout) = layout else { return };
        let number = self.all.len();
        layout.same = self.by_sum.insert(sum(value, layout.number), number);
        self.all.push(layout);
        if let Some(last) = self.all.get_mut(self.last) {
            last.next = number;
        }
        self.last = number;
    }

    /// An object without faults that this one, which is to be the object `number`, looks like.
    #[inline]
    pub(super) fn like(&mut self, value: Value<'_, '_>, number: usize) -> Option<usize> {
        // Kinds of objects follow one another as before.
        let expected = self.all.get(self.last)?.next;
        let is_expected = self.all.get(expected).is_some_and(|layout| layout.fits(value, number));
        let like = if is_expected { expected } else { self.find(value, number)? };
        self.all[self.last].next = like;
        self.last = like;
        Some(like)
    }

    fn find(&self, value: Value<'_, '_>, number: usize) -> Option<usize> {
        let mut next = self.by_sum.get(&sum(value, number)).copied();
        while let Some(at) = next {
            let layout = &self.all[at];
            if layout.fits(value, number) {
                return Some(at);
            }
            next = layout.same;
        }
        None
    }
}

/// A number that objects have in common which look the same.
fn sum(value: Value<'_, '_>, number: usize) -> u64 {
    value.members().take(MOST_KEYS).fold(number as u64, |sum, member| {
        let key = member.plain_key().unwrap_or_default();
        let ends =
            key.first().zip(key.last()).map_or(0, |(first, last)| u64::from(*first) << 8 | u64::from(*last));
        let of_member = ends << 24 | (key.len() as u64) << 4 | member.kind() as u64;
        (sum.rotate_left(7) ^ of_member).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl Layout {
    /// The layout of an object without faults, which was to be the object `number` and is `object`. `None` if the same
    /// keys might be wrong in another one.
    pub(super) fn of(
        value: Value<'_, '_>,
        number: usize,
        chosen: Chosen<'_>,
        object: &Object,
        null_is_absent: bool,
    ) -> Option<Self> {
        let mut members: Vec<Member> = Vec::new();
        for member in value.members() {
            let key = member.plain_key()?;
            let is_again = members.iter().any(|other| *other.key == *key);
            if is_again
                || members.len() == MOST_KEYS
                || member.kind() == JsonKind::Invalid
                || key.len() > LONGEST
            {
                return None;
            }
            let decides = chosen.decided.iter().any(|by| by.as_bytes() == key);
            if decides && member.raw().len() > LONGEST {
                return None;
            }
            let counts_as_absent = null_is_absent && member.is_null();
            let work = match object.numbers.find(key).filter(|_| !counts_as_absent) {
                Some(known) if !is_free(member.kind(), object.free[usize::from(known)]) => {
                    let field = &object.fields[usize::from(known)];
                    // What else decides whether it is allowed may differ.
                    field.is_plain.then_some(())?;
                    // A scalar that decides is the same again.
                    (!decides || !field.checks.iter().all(Check::is_of_value)).then_some(known)
                }
                _ => None,
            };
            let value = decides.then(|| member.raw().into());
            members.push(Member { key: key.into(), kind: member.kind(), value, work });
        }
        let (variant, tags) = (chosen.number, chosen.tags);
        Some(Self { number, variant, tags, members, next: 0, same: None })
    }

    /// How many members of an object that looks the same come before one that must be looked at, where its layout is that
    /// of `object`.
    pub(super) fn before_work(&self, value: Value<'_, '_>, object: &Object) -> Option<usize> {
        let mut members = self.members.iter().zip(value.members());
        members.position(|(expected, member)| {
            expected.work.is_some_and(|known| !object.fields[usize::from(known)].asks_nothing_of(member))
        })
    }

    /// Whether an object that is to be the object `number` looks the same.
    #[inline]
    fn fits(&self, value: Value<'_, '_>, number: usize) -> bool {
        let mut members = value.members();
        self.number == number
            && self.members.iter().all(|expected| {
                members.next().is_some_and(|member| {
                    member.is_plain_member(expected.kind, &expected.key)
                        && expected.value.as_ref().is_none_or(|decides| member.is_written(decides))
                })
            })
            && members.next().is_none()
    }
}

/// Whether a value of a kind is right whatever it is, where these types are free.
fn is_free(kind: JsonKind, free: u8) -> bool {
    let types = match kind {
        JsonKind::Null => bit(JsonType::Null),
        JsonKind::Bool => bit(JsonType::Boolean),
        JsonKind::Number => bit(JsonType::Number) | bit(JsonType::Integer),
        JsonKind::String => bit(JsonType::String),
        JsonKind::Array => bit(JsonType::Array),
        JsonKind::Object => bit(JsonType::Object),
        JsonKind::Invalid => return false,
    };
    free & types == types
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use serde_json::{Value as Json, json};
    use toolcheck_json::Document;

    use crate::targets;
    use crate::targets::shape::check::Checker;

    /// Each body with a wrong object behind one like it must have the faults that it has when every object is looked at key
    /// by key.
    #[test]
    fn a_layout_hides_no_fault() {
        let mut found = 0;
        for target in targets::all() {
            let folder =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shapes").join(&*target.id);
            for path in bodies(&folder) {
                let text = std::fs::read_to_string(&path).expect("the fixture is read");
                let body: Json = serde_json::from_str(&text).expect("the fixture is JSON");
                let mut doubled = Vec::new();
                double(&body, &mut Vec::new(), &mut doubled);
                for body in doubled {
                    let [with, without] = [true, false].map(|keeps| faults(target, &body, keeps));
                    assert_eq!(with, without, "{}: {body}", path.display());
                    found += with.len();
                }
            }
        }
        assert!(found > 1000, "only {found} faults");
    }

    fn bodies(folder: &Path) -> Vec<PathBuf> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
        let is_body = |path: &PathBuf| {
            let name = path.to_string_lossy();
            name.ends_with(".json") && !name.ends_with(".expect.json")
        };
        files.filter(is_body).collect()
    }

    /// The body with each element of each array again, changed in all ways.
    fn double(body: &Json, way: &mut Vec<String>, doubled: &mut Vec<Json>) {
        let pointer: String = way.iter().map(|step| format!("/{step}")).collect();
        match body.pointer(&pointer) {
            Some(Json::Array(elements)) => {
                for element in elements {
                    for changed in changes(element) {
                        let mut whole = body.clone();
                        let list = whole.pointer_mut(&pointer).and_then(Json::as_array_mut);
                        list.expect("the list is there").extend([element.clone(), changed]);
                        doubled.push(whole);
                    }
                }
                for index in 0..elements.len() {
                    way.push(index.to_string());
                    double(body, way, doubled);
                    way.pop();
                }
            }
            Some(Json::Object(members)) => {
                for key in members.keys() {
                    way.push(key.replace('~', "~0").replace('/', "~1"));
                    double(body, way, doubled);
                    way.pop();
                }
            }
            _ => {}
        }
    }

    /// A value with one thing changed, at any depth.
    fn changes(value: &Json) -> Vec<Json> {
        let mut all = Vec::new();
        let Json::Object(members) = value else { return all };
        all.push(with(value, "zzz", json!(1)));
        for (key, member) in members {
            let mut less = value.clone();
            less.as_object_mut().expect("it is an object").remove(key);
            all.push(less);
            for other in [json!(7), json!(""), json!("zzz"), Json::Null, json!([]), json!({})] {
                all.push(with(value, key, other));
            }
            let inner = match member {
                Json::Array(elements) => elements.first().map_or(Vec::new(), changes),
                _ => changes(member),
            };
            for changed in inner {
                let changed = if member.is_array() { json!([changed]) } else { changed };
                all.push(with(value, key, changed));
            }
        }
        all
    }

    fn with(value: &Json, key: &str, member: Json) -> Json {
        let mut value = value.clone();
        value[key] = member;
        value
    }

    fn faults(target: &targets::Target, body: &Json, keeps_layouts: bool) -> Vec<String> {
        let text = body.to_string();
        let document = Document::read(text.as_bytes());
        let shape = target.shape().expect("the target has a shape");
        // Those of earlier bodies are kept too.
        let facts = if keeps_layouts { shape.plain_facts().clone() } else { shape.find_facts(None) };
        let mut checker = Checker::new(shape, facts, Some(document.root()), true);
        if !keeps_layouts {
            checker.most_layouts = 0;
        }
        checker.request(document.root());
        checker
            .end()
            .iter()
            .map(|fault| format!("{:?} {:?} {:?}", fault.kind, fault.path, fault.detail))
            .collect()
    }
}
