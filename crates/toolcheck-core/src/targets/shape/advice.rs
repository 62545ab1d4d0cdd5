//! What to do about a fault.

use std::borrow::Cow;

use toolcheck_json::{Document, Kind as JsonKind, Value};
use toolcheck_toml::Text;

use super::Shape;
use super::action::Action;
use super::check::Checker;
use super::compile::{CheckKind, Field, bit, plain};
use super::fault::{Detail, ShapeFault};
use super::samples::{first, is_worth_it};
use super::tables::{JsonType, Scalar, ShapeFaultKind};
use super::value::type_of;
use crate::text::shorten;
use crate::unsupported::{is_list_key, misnamed_list};

/// The most values that are listed.
const MOST_VALUES: usize = 12;

/// The most members of an object that are looked at for one that was meant to be another.
pub(super) const MOST_KEYS: usize = 64;

impl Shape {
    /// What to write in place of a value of a key, if the description of any object says it.
    pub fn instead_of_value(&self, key: &str, value: &str) -> Option<String> {
        let mut fields = self.fields_of(key);
        fields
            .find_map(|(_, field)| field.instead.get(value))
            .map(|instead| in_place_of_value(instead, value))
    }

    /// The parameter of a request that a key was meant to be, with dots between the keys that lead to it.
    pub(crate) fn meant_parameter(&self, key: &str) -> Option<&str> {
        let request = &self.objects[self.request];
        let written = request.instead.get(key).filter(|meant| !meant.contains(' '));
        let like = || {
            let fields = request.fields.iter().filter(|field| field.is_known);
            let mut known = fields.map(|field| &*field.key);
            known
                .clone()
                .find(|known| is_same(known, key))
                .or_else(|| known.find(|known| is_near(known, key)))
        };
        let about = self.facts().iter().filter(|fact| &*fact.object == "request" && fact.is_about(Some(key)));
        let told = || {
            about.filter_map(|fact| Action::of(fact.help.as_deref()?)).find_map(|told| match told {
                Action::Rename(meant) => meant,
                _ => None,
            })
        };
        written.map(Text::as_str).or_else(told).or_else(like)
    }

    /// The key of an object of this format that a key was meant to be: the same but for case and separators.
    pub fn key_like(&self, key: &str) -> Option<&str> {
        let mut keys = self.outlines().flat_map(|(_, outline)| &outline.keys);
        keys.find(|known| ***known != *key && is_same(known, key)).map(|known| &**known)
    }
}

impl<'f> ShapeFault<'f> {
    /// What to do, as far as the description of the format and the request tell it.
    pub fn advice(&self, document: &Document<'_>) -> Option<String> {
        match (&self.detail, self.kind) {
            (_, ShapeFaultKind::Missing | ShapeFaultKind::Names) if self.lacks_key() => {
                match self.renamed(document).or_else(|| self.misspelt(document)) {
                    Some(value) => Some(format!(
                        "rename `{}` to `{}`",
                        shorten(&value.key_text().unwrap_or_default()),
                        shorten(&self.key)
                    )),
                    None if self.kind == ShapeFaultKind::Names => None,
                    None => Some(format!("add `\"{}\": {}`", shorten(&self.key), self.sample())),
                }
            }
            (Detail::None, ShapeFaultKind::Unknown) => Some(self.in_place_of_key(document)),
            (Detail::Types { expected, got }, _) => {
                self.value.map(|value| self.of_type(document.value(value), expected, *got))
            }
            (Detail::Values { allowed, got }, _) => self.of_value(allowed, got),
            _ => None,
        }
    }

    /// What the description says to do about another key of the object, if a key is missing.
    pub fn instead(&self, document: &Document<'_>) -> Option<&'f str> {
        let is_known = |key: &str| self.object.field(key).is_some_and(|field| field.is_known);
        let mut members = document.value(self.parent).members().take(MOST_KEYS).filter_map(Value::key_text);
        let instead = members.find_map(|key| {
            self.object.instead.get(&*key).filter(|instead| instead.contains(' ') && !is_known(&key))
        });
        // Where the key is there under another name, a new one is not what to write.
        instead
            .filter(|_| self.kind == ShapeFaultKind::Missing && self.renamed(document).is_none())
            .map(Text::as_str)
    }

    /// Whether what to do is known of this very value or key, rather than of all of its type.
    pub fn is_well_known(&self, document: &Document<'_>) -> bool {
        let field = self.field;
        let says = |what: &str| field.is_some_and(|field| field.instead.contains_key(what));
        match (&self.detail, self.kind) {
            (_, ShapeFaultKind::Missing) => {
                self.renamed(document).is_some() || self.instead(document).is_some()
            }
            (Detail::Types { expected, got }, _) => {
                let of_text = || self.value.and_then(|value| of_text(document.value(value), expected));
                says(got.name()) || of_text().is_some()
            }
            (Detail::Values { got, .. }, _) => says(got) || says("*") && !got.is_empty(),
            _ => false,
        }
    }

    /// The member that was meant to be the missing key.
    pub fn renamed<'d, 's>(&self, document: &'d Document<'s>) -> Option<Value<'d, 's>> {
        let field = self.field.filter(|_| self.lacks_key())?;
        let parent = document.value(self.parent);
        let misnamed = if is_list_key(&field.key) { misnamed_list(parent) } else { None };
        let mut members = parent.members().take(MOST_KEYS);
        members.find(|member| {
            let key = member.key_text().unwrap_or_default();
            let is_misnamed = || misnamed.is_some_and(|list| list.id() == member.id());
            let is_meant = || {
                is_misnamed() || self.object.instead.get(&*key).is_some_and(|instead| **instead == *field.key)
            };
            let is_free = self.object.field(&key).is_none_or(|field| !field.is_known);
            let is_kind = || {
                let kind = self.kind_elsewhere(document).filter(|(_, by)| **by == *field.key);
                kind.is_some_and(|(kind, _)| kind.id() == member.id())
            };
            let is_named = is_same(&key, &field.key) || is_meant() || is_kind();
            is_free && is_named && field.mask & bit(type_of(*member)) != 0
        })
    }

    /// The member whose key is nearly the missing one.
    pub fn misspelt<'d, 's>(&self, document: &'d Document<'s>) -> Option<Value<'d, 's>> {
        let mut members = document.value(self.parent).members().take(MOST_KEYS);
        members.find(|member| {
            let key = member.key_text().unwrap_or_default();
            let is_known = || self.object.field(&key).is_some_and(|field| field.is_known);
            self.lacks_key() && is_near(&key, &self.key) && !is_known() && self.takes(*member)
        })
    }

    /// The member that says what the object is under a key that none of its variants has, and the key that it should have.
    pub(super) fn kind_elsewhere<'d, 's>(
        &self,
        document: &'d Document<'s>,
    ) -> Option<(Value<'d, 's>, &'f str)> {
        let by = self.by()?;
        let parent = document.value(self.parent);
        let is_kind = |member: &Value<'_, '_>| {
            let key = member.key_text().unwrap_or_default();
            let is_own = |number: &usize| self.shape.objects[*number].field(&key).is_some();
            member.as_str().is_some_and(|text| by.variants.contains(&text))
                && !by.values.iter().any(|(_, number)| is_own(number))
        };
        let mut members = parent.members().take(MOST_KEYS).filter(|_| parent.get(&by.key).is_none());
        Some((members.find(is_kind)?, &by.key))
    }

    fn in_place_of_key(&self, document: &Document<'_>) -> String {
        if let Some(instead) = self.object.instead.get(&*self.key) {
            return self.in_place_of(instead, document);
        }
        if self.is_of_known_key() {
            return format!("remove `{}`", shorten(&self.key));
        }
        match (self.meant(document), self.elsewhere()) {
            (Some(known), _) => format!("did you mean `{known}`?"),
            (None, _) if self.says_nothing(document) => "remove it: it has no content".to_owned(),
            (None, Some("request")) => "move it to the request, which has this key".to_owned(),
            (None, Some(other)) => format!("move it to `{other}`, which has this key"),
            (None, None) => "remove it: send only keys that the API documents".to_owned(),
        }
    }

    /// The known keys of which the key may be a misspelling. An object with very many keys has others than those that
    /// somebody has mistyped.
    pub(super) fn near_keys(&self, document: &Document<'_>) -> impl Iterator<Item = &str> {
        let has_few = document.value(self.parent).members().nth(MOST_TYPED).is_none();
        self.known_keys().filter(move |known| has_few && is_near(known, &self.key))
    }

    /// What to do about a key for which the description says what is meant.
    fn in_place_of(&self, instead: &str, document: &Document<'_>) -> String {
        match instead {
            words if words.contains(' ') => words.to_owned(),
            meant if self.is_taken(meant, document) => {
                let there = self.taken(meant, document).filter(|_| !meant.contains('.'));
                let there = there.and_then(Value::key_text).unwrap_or_else(|| meant.into());
                format!("remove it: `{there}` is there too")
            }
            way if way.contains('.') => {
                let written = if self.is_movable(way, document) { "" } else { ", written as it is there" };
                format!("move it to `{way}`{written}")
            }
            other if self.is_movable(other, document) => {
                format!("rename `{}` to `{other}`", shorten(&self.key))
            }
            other if self.says_nothing(document) => format!("remove it: the key is `{other}`"),
            other => match self.object.field(other).map(|field| types(&field.types)) {
                Some(types) if !types.is_empty() => {
                    format!("rename `{}` to `{other}`, which is {types}", shorten(&self.key))
                }
                _ => format!("rename `{}` to `{other}`", shorten(&self.key)),
            },
        }
    }

    /// What to do about a value that is not allowed.
    fn of_value(&self, allowed: &[&str], got: &str) -> Option<String> {
        // A variant may have what its base suggests, and another not.
        let is_taken = |instead: &&Text| {
            instead.contains(' ') || allowed.is_empty() || allowed.contains(&instead.as_str())
        };
        if let Some(instead) = self.field.and_then(|field| field.instead.get(got)).filter(is_taken) {
            return Some(in_place_of_value(instead, got));
        }
        if let Some(known) = allowed.iter().find(|known| is_near(known, got)) {
            return Some(format!("did you mean `{known}`?"));
        }
        let prefer = self.field.map_or(&[][..], |field| &field.prefer);
        let is_allowed = |value: &&Scalar| allowed.contains(&&*value.text);
        let preferred: Vec<&str> = prefer.iter().filter(is_allowed).map(|value| &*value.text).collect();
        let listed = if preferred.is_empty() { allowed } else { &preferred };
        let values: Vec<String> = listed.iter().take(MOST_VALUES).map(|value| format!("`{value}`")).collect();
        let values = match values.as_slice() {
            [] => None,
            _ if listed.len() > MOST_VALUES => Some(format!("use one of {}, …", values.join(", "))),
            values => Some(format!("use {}", super::describe::listed(values, "or"))),
        };
        let other = self.field.and_then(|field| field.instead.get("*")).filter(|_| !got.is_empty());
        match (values, other.map(|other| other.replace("{value}", got))) {
            (Some(values), Some(other)) => Some(format!("{values}; {other}")),
            (values, other) => values.or(other),
        }
    }

    /// What to do about a value of the wrong type.
    pub(super) fn of_type(&self, value: Value<'_, '_>, expected: &[JsonType], got: JsonType) -> String {
        let takes = |json_type| expected.contains(&json_type);
        let of_list = |object: usize| {
            let mut checker = Checker::new(self.shape, self.shape.plain_facts().clone(), None, true);
            checker.alone(value, object).is_some() && checker.faults.is_empty()
        };
        let is_part = self.key != plain(&self.key);
        let field = self.field;
        let items = field.and_then(|field| field.items).filter(|_| !is_part && takes(JsonType::Array));
        if got == JsonType::Object && items.is_some_and(of_list) {
            return "put it into a list: `[{…}]`".to_owned();
        }
        if let Some(instead) = field.and_then(|field| field.instead.get(got.name())).filter(|_| !is_part) {
            return instead.as_str().to_owned();
        }
        // In quotes, it would have to be one of the values.
        let has_values =
            |field: &Field| field.checks.iter().any(|check| matches!(check.what, CheckKind::Values { .. }));
        let is_text = value.is_string() || !field.is_some_and(has_values);
        if let Some(known) = of_text(value, expected).filter(|_| is_text) {
            return known;
        }
        let is_text_list = |field: &Field| {
            takes(JsonType::Array) && field.items.is_none() && field.item_types.contains(&JsonType::String)
        };
        if got == JsonType::String && field.is_some_and(is_text_list) {
            return "put it into a list: `[\"…\"]`".to_owned();
        }
        if takes(JsonType::String) && self.is_base64() {
            return "write the data as Base64 in a string".to_owned();
        }
        if got == JsonType::Null && !is_part && field.is_some_and(|field| field.required.is_empty()) {
            return match self.written(expected, is_part) {
                Some(written) => format!("remove it, or write {written}"),
                None => format!("remove it, or write {}", types(expected)),
            };
        }
        let block = if is_part && got == JsonType::String { self.block_of(value) } else { None };
        match block.or_else(|| self.written(expected, is_part)) {
            Some(written) if is_part && self.key.ends_with("[]") => format!("write each as {written}"),
            Some(written) => format!("write it as {written}"),
            None => format!("write {}", types(expected)),
        }
    }

    fn is_base64(&self) -> bool {
        self.field
            .is_some_and(|field| field.checks.iter().any(|check| matches!(check.what, CheckKind::Base64)))
    }

    /// How the value is written that is expected, if there is more to say of it than its type.
    fn written(&self, expected: &[JsonType], is_part: bool) -> Option<Cow<'f, str>> {
        let field = self.field?;
        let objects = &self.shape.objects;
        let of = |number: usize| self.shape.sample(&objects[number]);
        let written = if is_part {
            of(field.items.or(field.entries).filter(|_| expected.contains(&JsonType::Object))?)
        } else if let Some(example) = field.example.as_deref() {
            Cow::Borrowed(example)
        } else if let Some(inner) = field.object.filter(|_| expected.contains(&JsonType::Object)) {
            of(inner)
        } else if let Some(items) = field.items.filter(|_| expected.contains(&JsonType::Array)) {
            let item = of(items);
            let written = format!("[{}]", first(&item));
            let is_short = is_worth_it(&written) && is_worth_it(&item);
            return is_short.then(|| match expected.contains(&JsonType::String) {
                true => Cow::Owned(format!("a string, or as {written}")),
                false => Cow::Owned(written),
            });
        } else {
            self.shape.sample_of(field)
        };
        is_worth_it(&written).then_some(written)
    }
}

/// What to do about a text or a number that only is quoted wrongly.
fn of_text(value: Value<'_, '_>, expected: &[JsonType]) -> Option<String> {
    let takes = |json_type| expected.contains(&json_type);
    match value.kind() {
        JsonKind::String => {
            let text = value.as_str()?;
            let text = text.trim();
            let is_number = || text.len() <= LONGEST_NUMBER && text.parse::<f64>().is_ok_and(f64::is_finite);
            match text.as_bytes().first()? {
                b'{' if takes(JsonType::Object) => {
                    Some("write the object itself, not as JSON in a string".to_owned())
                }
                b'[' if takes(JsonType::Array) => {
                    Some("write the array itself, not as JSON in a string".to_owned())
                }
                _ if matches!(text, "true" | "false") && takes(JsonType::Boolean) => {
                    Some(format!("write `{text}` without quotes"))
                }
                _ if takes(JsonType::Number) && is_number() => {
                    Some("write the number without quotes".to_owned())
                }
                _ if takes(JsonType::Integer) && text.parse::<i64>().is_ok() => {
                    Some("write the number without quotes".to_owned())
                }
                _ => None,
            }
        }
        JsonKind::Number | JsonKind::Bool if takes(JsonType::String) => {
            Some(format!("write it in quotes: `\"{}\"`", shorten(&String::from_utf8_lossy(value.raw()))))
        }
        _ => None,
    }
}

/// The longest text that may be a number.
const LONGEST_NUMBER: usize = 40;

/// The types that there may be, in words. `null` is worth a word only where nothing else is allowed.
fn types(expected: &[JsonType]) -> String {
    let is_wanted = |wanted: &&JsonType| **wanted != JsonType::Null || expected.len() == 1;
    let words: Vec<&str> = expected.iter().filter(is_wanted).map(|wanted| wanted.with_article()).collect();
    super::describe::listed(&words, "or")
}

fn in_place_of_value(instead: &str, value: &str) -> String {
    if instead.contains(' ') { instead.replace("{value}", value) } else { format!("use `{instead}`") }
}

/// Whether two keys are the same but for case and separators.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// The letters and digits of a key in lower case.
fn folded(key: &str) -> impl Iterator<Item = char> {
    let letters = key.chars().take(LONGEST_NAME + 1).filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase)
}

/// The most keys that somebody types for one object.
const MOST_TYPED: usize = 128;

/// The most edits between a name and what it was probably meant to be.
const MOST_EDITS: usize = 2;

/// The longest names that are compared.
const LONGEST_NAME: usize = 40;

/// Whether one name was probably meant to be the other.
pub fn is_near(one: &str, other: &str) -> bool {
    let is_plural = |one: &str, other: &str| one.strip_suffix('s') == Some(other);
    edits(one, other) <= MOST_EDITS || is_plural(one, other) || is_plural(other, one)
}

/// How many letters have to be added, removed or changed to make one name of the other, whatever their case and
/// separators. A short name is never near.
fn edits(one: &str, other: &str) -> usize {
    let letters = |name: &str| {
        let letters = name.chars().filter(|character| character.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(LONGEST_NAME + 1).collect::<Vec<_>>()
    };
    // An edit brings at most one letter, and takes one away: most names are told apart by their sets of letters.
    let set = |name: &str| {
        let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
        letters.fold(0_u64, |set, letter| set | 1 << (letter.to_ascii_lowercase() % 64))
    };
    if one.is_ascii() && other.is_ascii() && (set(one) ^ set(other)).count_ones() as usize > MOST_EDITS * 2 {
        return usize::MAX;
    }
    let (one, other) = (letters(one), letters(other));
    let (shortest, longest) = (one.len().min(other.len()), one.len().max(other.len()));
    if shortest <= MOST_EDITS * 2 && one != other || longest > LONGEST_NAME || longest - shortest > MOST_EDITS
    {
        return usize::MAX;
    }
    strsim::generic_levenshtein(&one, &other)
}
