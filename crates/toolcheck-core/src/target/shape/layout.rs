//! Objects that look alike: a conversation consists of a few kinds of them, so most look like one that was found to be
//! right, and need no more than that comparison.

use toolcheck_json::{Kind as JsonKind, Value};

use super::check::Chosen;
use super::compile::{Check, Object, bit};
use super::tables::JsonType;

/// The most layouts that a walk keeps.
pub(super) const MOST_LAYOUTS: usize = 32;

/// The most keys of an object whose layout is kept.
const MOST_KEYS: usize = 16;

/// What an object was that had no faults: the keys in their order, and the kinds of their values.
pub(super) struct Layout<'f, 's> {
    /// The object that it was to be.
    pub(super) number: usize,
    /// What it was, and why.
    pub(super) chosen: Chosen<'f>,
    pub(super) members: Vec<Member<'s>>,
    /// The layout of the object that came next.
    pub(super) next: usize,
}

/// A member of an object that was right.
#[derive(Clone, Copy)]
pub(super) struct Member<'s> {
    key: &'s [u8],
    kind: JsonKind,
    /// The value that decides what the object is.
    value: Option<&'s [u8]>,
    /// The number of the field whose value must be looked at.
    pub(super) work: Option<u16>,
}

impl<'f, 's> Layout<'f, 's> {
    /// The layout of an object without faults, which was to be the object `number` and is `object`. `None` if the same
    /// keys might be wrong in another one.
    pub(super) fn of(
        value: Value<'_, 's>,
        number: usize,
        chosen: Chosen<'f>,
        object: &Object,
        null_is_absent: bool,
    ) -> Option<Self> {
        let mut members: Vec<Member<'s>> = Vec::new();
        for member in value.members() {
            let key = member.plain_key()?;
            let is_again = members.iter().any(|other| other.key == key);
            if is_again || members.len() == MOST_KEYS || member.kind() == JsonKind::Invalid {
                return None;
            }
            let decides = chosen.decided.iter().any(|by| by.as_bytes() == key);
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
            members.push(Member { key, kind: member.kind(), value: decides.then(|| member.raw()), work });
        }
        Some(Self { number, chosen, members, next: 0 })
    }

    /// How many members of an object that looks the same come before one that must be looked at, where its layout is that
    /// of `object`.
    pub(super) fn before_work(&self, value: Value<'_, '_>, object: &Object) -> Option<usize> {
        let mut members = self.members.iter().zip(value.members());
        members.position(|(expected, member)| {
            expected.work.is_some_and(|known| !object.fields[usize::from(known)].asks_nothing_of(member))
        })
    }

    /// Whether an object looks the same.
    #[inline]
    pub(super) fn fits(&self, value: Value<'_, '_>) -> bool {
        let mut members = value.members();
        self.members.iter().all(|expected| {
            members.next().is_some_and(|member| {
                member.is_plain_member(expected.kind, expected.key)
                    && expected.value.is_none_or(|decides| member.is_written(decides))
            })
        }) && members.next().is_none()
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

    use crate::target;
    use crate::target::shape::check::Checker;

    /// Each body with a wrong object behind one like it must have the faults that it has when every object is looked at key
    /// by key.
    #[test]
    fn a_layout_hides_no_fault() {
        let mut found = 0;
        for target in target::all() {
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

    fn faults(target: &target::Target, body: &Json, keeps_layouts: bool) -> Vec<String> {
        let text = body.to_string();
        let document = Document::read(text.as_bytes());
        let shape = target.shape().expect("the target has a shape");
        let mut checker = Checker::new(shape, shape.plain_facts().clone(), Some(document.root()), true);
        if !keeps_layouts {
            checker.most_layouts = 0;
        }
        checker.request(document.root());
        checker
            .faults
            .iter()
            .map(|fault| format!("{:?} {:?} {:?}", fault.kind, fault.path, fault.detail))
            .collect()
    }
}
