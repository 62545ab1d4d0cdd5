//! What fixes a fault, as far as the description of the format and the request leave only one way.

use std::borrow::Cow;

use toolcheck_json::{Document, Kind as JsonKind, NodeId, Value};
use toolcheck_toml::Text;

use super::Shape;
use super::action::Action;
use super::advice::{MOST_KEYS, is_near, is_same};
use super::check::Checker;
use super::compile::{Check, CheckKind, Field, bit, plain};
use super::fault::{Condition, Detail, ShapeFault};
use super::rewrite::{is_id, is_said_in};
use super::tables::{JsonType, Kind, ShapeFaultKind};
use super::value::{raw_text, respelled, text_of, type_of};
use crate::fix::{Change, Fix};
use crate::rule_id::RuleId;
use crate::text::{Counted, shorten};
use crate::unsupported::is_list_key;

impl Shape {
    /// The value of a key that is meant by another, if the description of any object says it in one word.
    pub fn meant_value(&self, key: &str, value: &str) -> Option<&str> {
        let mut fields = self.fields_of(key);
        fields.find_map(|(_, field)| field.instead.get(value)).map(Text::as_str).filter(|word| is_word(word))
    }
}

/// Whether an advice is one word to write, rather than what to do.
fn is_word(advice: &str) -> bool {
    !advice.is_empty() && !advice.contains([' ', '.'])
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'f> ShapeFault<'f> {
    /// What fixes it where it is. `None` if there is no way, or if there are several.
    pub fn fix(&self, document: &Document<'_>, model: Option<&str>) -> Option<Fix> {
        if !self.alike.is_empty() {
            return None;
        }
        match (&self.detail, self.kind) {
            (_, ShapeFaultKind::Missing) => self.completed(document),
            (_, ShapeFaultKind::Names) if self.lacks_key() => self.respelt(document),
            (Detail::None, ShapeFaultKind::Unknown) => self.without_key(document, model),
            (Detail::Types { expected, got }, _) => {
                let of_type = self.of_its_type(document.value(self.value?), expected, *got);
                of_type.or_else(|| self.by_keys(document, |_| true))
            }
            (Detail::Values { allowed, got }, _) => self
                .of_allowed(document.value(self.value?), allowed, got)
                .or_else(|| self.by_keys(document, |tag| allowed.contains(&tag))),
            (Detail::Other { key, .. }, _) => self.without_conflict(document, key),
            _ => None,
        }
    }

    /// The object with what it is under the key for that.
    pub fn kind_renamed(&self, document: &Document<'_>) -> Option<Fix> {
        let (member, key) = self.kind_elsewhere(document)?;
        Some(Fix::safe([Change::Rename(member.id(), key.to_owned())]))
    }

    /// The object with the key that it lacks, where that is there under a name that is nearly the same.
    fn respelt(&self, document: &Document<'_>) -> Option<Fix> {
        let rename = |member: Value<'_, '_>| [Change::Rename(member.id(), self.key.to_string())];
        if let Some(member) = self.renamed(document) {
            return Some(Fix::safe(rename(member)));
        }
        let near = self.misspelt(document)?;
        Some(Fix::guess(format!("assumes that `{}` was meant", self.key), rename(near)))
    }

    /// The object with the key that it lacks.
    fn completed(&self, document: &Document<'_>) -> Option<Fix> {
        if let Some(member) = self.renamed(document) {
            return Some(Fix::safe([Change::Rename(member.id(), self.key.to_string())]));
        }
        if let Some(renamed) = self.kind_renamed(document) {
            return Some(renamed);
        }
        // What goes around it says nothing.
        let is_part = matches!(self.object_kind(), Some(Kind::Message | Kind::Content));
        let mut members = document.value(self.parent).members();
        if let (Some(only), None) = (members.next().filter(|_| is_part), members.next())
            && self.object.field(&only.key_text().unwrap_or_default()).is_none()
            && only.get_any(&[&self.key, "type"]).is_some()
        {
            return Some(Fix::safe([Change::Lift(self.parent, only.id())]));
        }
        let add = |json: String| [Change::Add(self.parent, self.key.to_string(), json)];
        if let Some(likely) = self.likely {
            // A switch is no name of what an object is.
            let is_name = likely.parse::<bool>().is_err();
            let is_only = is_name && self.variant_of_keys(document, |_| true) == Some(likely);
            return is_only.then(|| Fix::safe(add(quoted(likely))));
        }
        let is_known = |member: Value<'_, '_>| {
            let key = member.key_text().unwrap_or_default();
            self.object.field(&key).is_some_and(|field| field.is_known)
        };
        // An object with other keys may be meant to be another.
        let is_all_known = || document.value(self.parent).members().take(MOST_KEYS).all(is_known);
        if let Some(json) = self.only_value().filter(|_| self.is_of_constant() && is_all_known()) {
            return Some(Fix::safe(add(json)));
        }
        let is_checked = |field: &Field| field.checked_by.contains(&RuleId::WrongArgumentsType);
        let guess = || format!("assumes that `{}` was meant", self.key);
        if let Some(near) = self.misspelt(document) {
            return Some(Fix::guess(guess(), [Change::Rename(near.id(), self.key.to_string())]));
        }
        // What it is, a key says that it has.
        let by = self.shape.base(self.object).and_then(|base| base.by.as_ref());
        let is_named = by.is_some_and(|by| document.value(self.parent).get(&by.key).is_some());
        if !is_named && &*self.key != "name" && !self.object.fields.iter().any(is_checked) {
            return None;
        }
        // An object that may have any key has one too many, and lacks one.
        let is_other = |member: &Value<'_, '_>| !is_known(*member) && !member.is_null();
        let mut others = document.value(self.parent).members().take(MOST_KEYS).filter(is_other);
        if let (Some(other), None) = (others.next(), others.next())
            && !is_id(&self.key)
        {
            let rename = [Change::Rename(other.id(), self.key.to_string())];
            // An object that should be text, or the other way round, is fixed then.
            let is_of_call = self.field.is_some_and(is_checked) && (other.is_object() || other.is_string());
            return (self.takes(other) || is_of_call).then(|| Fix::guess(guess(), rename));
        }
        // What a call passes to its tool is the only thing in it that is not described.
        let nothing = match &*self.sample() {
            "{\u{2026}}" => "{}",
            "\"{\u{2026}}\"" => "\"{}\"",
            _ => return None,
        };
        let is_passed = self.field.is_some_and(is_checked);
        is_passed.then(|| Fix::guess("assumes that the call has no arguments", add(nothing.to_owned())))
    }

    /// The only variant of those that may be here whose keys the object has.
    fn variant_of_keys(&self, document: &Document<'_>, may_be: impl Fn(&str) -> bool) -> Option<&'f str> {
        let by = self.by()?;
        let value = document.value(self.parent);
        let mut fitting = by.values.iter().filter(|&(tag, number)| {
            let variant = &self.shape.objects[*number];
            let mut required = variant.required.iter().map(|field| &variant.fields[usize::from(*field)]);
            may_be(tag)
                && required.all(|field| *field.key == *by.key || value.get(&field.key).is_some())
                && value
                    .members()
                    .take(MOST_KEYS)
                    .filter_map(Value::key_text)
                    .all(|key| *key == *by.key || variant.field(&key).is_some_and(|field| field.is_known))
        });
        let (only, _) = fitting.next()?;
        fitting.next().is_none().then_some(&**only)
    }

    /// What the object is by its other keys, if what it says that it is cannot be.
    fn by_keys(&self, document: &Document<'_>, may_be: impl Fn(&str) -> bool) -> Option<Fix> {
        let tag = self.variant_of_keys(document, may_be).filter(|_| self.is_of_type())?;
        let guess = format!("assumes that it is of the type that its other keys are of, `{tag}`");
        Some(Fix::guess(guess, [Change::Write(self.node(), quoted(tag))]))
    }

    /// The object without a key that it may not have, or with the one that was meant: what the help says.
    fn without_key(&self, document: &Document<'_>, model: Option<&str>) -> Option<Fix> {
        let node = self.node();
        let value = document.value(node);
        let rename = |key: &str| [Change::Rename(node, key.to_owned())];
        let meant = self.object.instead.get(&*self.key).map(Text::as_str);
        let is_twice = meant.is_some_and(|meant| self.is_taken(meant, document));
        match meant {
            Some(key) if is_word(key) && !is_twice && self.fits(key, value) => {
                return Some(Fix::safe(rename(key)));
            }
            Some(key) if is_word(key) && !is_twice && self.fits_in_list(key, value) => {
                return Some(Fix::safe([Change::Rename(node, key.to_owned()), Change::Wrap(node)]));
            }
            Some(way) if !is_twice => {
                if let Some(way) = self.way(way, value, document) {
                    return Some(Fix::safe([Change::Move(node, way)]));
                }
                if let Some(first) = self.first_of_list(way, value, document) {
                    return Some(Fix::safe([first, Change::Remove(node)]));
                }
            }
            _ => {}
        }
        let help = meant.or_else(|| self.help(self.shape, model));
        if !self.is_of_known_key() && help.is_none() {
            let is_free = |key: &str| document.value(self.parent).get(key).is_none() && self.fits(key, value);
            if let Some(same) = self.known_keys().find(|known| is_same(known, &self.key) && is_free(known)) {
                return Some(Fix::safe(rename(same)));
            }
            if let Some(near) = self.near_keys(document).find(|known| is_free(known)) {
                let guess = format!("assumes that `{}` was meant to be `{near}`", shorten(&self.key));
                return Some(Fix::guess(guess, rename(near)));
            }
        }
        if !self.may_lack(node, document) {
            // A block that only says something.
            let example = Document::read(self.shape.example_of("text")?.as_bytes());
            let only = example.root().members().next().filter(|_| example.root().members().count() == 1)?;
            let key = only.key_text()?;
            let guess = || format!("assumes that `{}` was meant to be `{key}`", shorten(&self.key));
            let is_said = is_said_in(&self.key) && self.fits(&key, value);
            return is_said.then(|| Fix::guess(guess(), rename(&key)));
        }
        if self.says_nothing(document) {
            return Some(Fix::safe([Change::Remove(node)]));
        }
        let is_same = |meant: &str| self.taken(meant, document).is_some_and(|one| one.raw() == value.raw());
        if is_twice && meant.is_some_and(is_same) {
            return Some(Fix::safe([Change::Remove(node)]));
        }
        // Where it belongs elsewhere, or means something else, a removal would lose what is only in the wrong place.
        let is_left_out = self.is_of_request() && help.and_then(Action::of) == Some(Action::LeaveOut(None));
        let is_removed = is_left_out || help.is_none_or(|help| help.starts_with("remove it"));
        // What is said is not a key too many.
        let is_said = value.elements().any(|block| block.has("text"));
        let is_all = self.is_of_request() && is_list_key(&self.key) || is_said;
        let is_nowhere = is_left_out || self.elsewhere().is_none();
        ((is_twice || is_removed) && !is_all && is_nowhere).then(|| self.removed(value))
    }

    /// Whether the value says nothing: it is `null` or empty.
    pub(super) fn says_nothing(&self, document: &Document<'_>) -> bool {
        let value = document.value(self.node());
        value.is_null()
            || value.as_json_str().is_some_and(|text| text.is_empty())
            || matches!(value.kind(), JsonKind::Object | JsonKind::Array) && value.children().next().is_none()
    }

    /// Whether the object has a key that takes a list of such values.
    fn fits_in_list(&self, key: &str, value: Value<'_, '_>) -> bool {
        let is_text = value.is_string();
        self.object.field(key).filter(|field| field.is_known).is_some_and(|field| match field.items {
            None => is_text && field.item_types.contains(&JsonType::String),
            Some(items) => value.is_object() && self.is_clean(value, items),
        })
    }

    /// Whether the object has a key that takes such a value.
    fn fits(&self, key: &str, value: Value<'_, '_>) -> bool {
        let field = self.object.field(key);
        field.is_some_and(|field| field.is_known && field.mask & bit(type_of(value)) != 0)
    }

    /// What is there in the place that is meant by a key, or excludes what would be.
    pub(super) fn taken<'d, 's>(&self, meant: &str, document: &'d Document<'s>) -> Option<Value<'d, 's>> {
        let parent = document.value(self.parent);
        let is_there = || meant.split('.').try_fold(parent, |value, key| value.get(key));
        let excluded = || {
            let field = self.object.field(meant)?;
            field.checks.iter().find_map(|check| match &check.what {
                CheckKind::Excludes(keys) => keys.iter().find_map(|key| parent.get(key)),
                _ => None,
            })
        };
        is_there().or_else(excluded)
    }

    /// Whether the place that is meant by a key is taken, so that it cannot be moved there.
    pub(super) fn is_taken(&self, meant: &str, document: &Document<'_>) -> bool {
        !meant.contains(' ') && self.taken(meant, document).is_some()
    }

    /// Whether a value can be moved to the place that is meant as it is.
    pub(super) fn is_movable(&self, meant: &str, document: &Document<'_>) -> bool {
        let value = document.value(self.node());
        if meant.contains('.') { self.way(meant, value, document).is_some() } else { self.fits(meant, value) }
    }

    /// The keys that lead to where a member belongs, if nothing is there and it fits there.
    fn way(&self, way: &str, value: Value<'_, '_>, document: &Document<'_>) -> Option<Vec<String>> {
        let keys: Vec<&str> = way.split('.').collect();
        let [around, key] = keys[..] else { return None };
        let outer = self.object.field(around).filter(|field| field.is_known)?;
        let is_free = match document.value(self.parent).get(around) {
            Some(around) => around.is_object() && around.get(key).is_none(),
            None => true,
        };
        let fits = match outer.object {
            Some(object) => {
                let field = self.shape.objects[object].field(key).filter(|field| field.is_known)?;
                let is_of_type = field.mask & bit(type_of(value)) != 0;
                let is_clean = || field.object.is_none_or(|object| self.is_clean(value, object));
                is_of_type && (!value.is_object() || is_clean())
            }
            // What is in it is not described, and may be anything.
            None => outer.mask & bit(JsonType::Object) != 0,
        };
        (is_free && fits).then(|| vec![around.to_owned(), key.to_owned()])
    }

    /// The text of a member as the first element of a list beside it, where the help says so.
    fn first_of_list(&self, told: &str, value: Value<'_, '_>, document: &Document<'_>) -> Option<Change> {
        let (list, example) = told.strip_prefix("write it as the first of `")?.split_once("`: ")?;
        let first = document.value(self.parent).get(list)?.elements().next()?;
        let text = raw_text(value).filter(|_| first.is_object())?;
        Some(Change::Before(first.id(), example.replacen(PLACE, &format!("\"{text}\""), 1)))
    }

    /// Whether the object is still something without a member.
    fn may_lack(&self, member: NodeId, document: &Document<'_>) -> bool {
        let mut others = document.value(self.parent).members().filter(|other| other.id() != member);
        match self.object.exactly_one.as_deref().or(self.object.at_least_one.as_deref()) {
            None => others.next().is_some(),
            // One of the keys that say what it is has to stay.
            Some(of) => {
                let keys = || of.iter().map(|field| &self.object.fields[usize::from(*field)].key);
                !self.is_of_known_key() && others.any(|other| keys().any(|key| other.has_key(key)))
            }
        }
    }

    /// The value in a type that the key takes.
    fn of_its_type(&self, value: Value<'_, '_>, expected: &[JsonType], got: JsonType) -> Option<Fix> {
        let takes = |json_type| expected.contains(&json_type);
        let field = self.field?;
        let is_part = self.key != plain(&self.key);
        let node = value.id();
        // No number says what something is.
        let is_kind = &*self.key == "type";
        let is_kind =
            is_kind && (matches!(value.kind(), JsonKind::Number | JsonKind::Bool) || value.says_nothing());
        if let Some(json) = respelled(value, expected).filter(|_| !is_kind) {
            return self.takes_json(field, &json).then(|| Fix::safe([Change::Write(node, json)]));
        }
        // A list of blocks without any is a text without any.
        if got == JsonType::Array && takes(JsonType::String) && value.says_nothing() && !is_kind {
            return Some(Fix::safe([Change::Write(node, quoted(""))]));
        }
        if is_part {
            return self.of_element(value, got);
        }
        if let [only] = value.elements().take(2).collect::<Vec<_>>()[..]
            && !takes(JsonType::Array)
            && field.mask & bit(type_of(only)) != 0
        {
            return Some(Fix::safe([Change::Lift(node, only.id())]));
        }
        if let Some(meant) = value.as_u64().filter(|meant| takes(JsonType::Boolean) && matches!(meant, 0 | 1))
        {
            let meant = meant == 1;
            let guess = format!("assumes that the number means `{meant}`");
            return Some(Fix::guess(guess, [Change::Write(node, meant.to_string())]));
        }
        let is_of_text = takes(JsonType::String) && !takes(JsonType::Object);
        if let Some(text) = text_of(value).filter(|_| is_of_text) {
            return Some(Fix::safe([Change::Write(node, format!("\"{text}\""))]));
        }
        if got == JsonType::Array && takes(JsonType::String) && !takes(JsonType::Array) {
            return self.of_texts(value);
        }
        // What is inside it may have the same mistake.
        let of_list = |object: usize| {
            let mut checker = Checker::new(self.shape, self.shape.plain_facts().clone(), None, true);
            let is_same = |fault: &ShapeFault<'_>| matches!(&fault.detail, Detail::Types { got, .. } if *got == JsonType::Object);
            checker.alone(value, object).is_some() && checker.faults.iter().all(is_same)
        };
        let is_text_list =
            |field: &Field| field.items.is_none() && field.item_types.contains(&JsonType::String);
        let is_element = match got {
            JsonType::Object => field.items.is_some_and(of_list),
            JsonType::String => is_text_list(field),
            _ => false,
        };
        if is_element && takes(JsonType::Array) {
            return Some(Fix::safe([Change::Wrap(node)]));
        }
        let advice = self.of_type(value, expected, got);
        // Of what is nothing, only the shape knows what it says.
        let is_named = got == JsonType::Null && field.instead.contains_key(got.name());
        let as_told = |told: &str| if is_named { Some(told.to_owned()) } else { as_told(value, told) };
        if let Some(json) = advice.strip_prefix("write it as ").and_then(as_told)
            && self.takes_json(field, &json)
        {
            return Some(Fix::safe([Change::Write(node, json)]));
        }
        (got == JsonType::Null && field.required.is_empty()).then(|| Fix::safe([Change::Remove(node)]))
    }

    /// An element of a list of objects that is a text, or the list that was meant.
    fn of_element(&self, value: Value<'_, '_>, got: JsonType) -> Option<Fix> {
        let list = value.document().value(self.parent).get(self.key.strip_suffix("[]")?)?;
        let is_message = || {
            let items = self.field.and_then(|field| field.items);
            items.is_some_and(|items| self.shape.objects[items].kind == Some(Kind::Message))
        };
        if got == JsonType::Null {
            let nulls = list.elements().filter(|element| element.is_null());
            return Some(Fix::safe(nulls.map(|null| Change::Remove(null.id()))));
        }
        if got == JsonType::String && is_message() {
            let example = self.of_type(value, &[JsonType::Object], got);
            let said = example.strip_prefix("write each as ")?;
            let guess = "assumes that the user said the text that stands between the messages";
            let write = |text: Value<'_, '_>| {
                let json = said.replacen(PLACE, std::str::from_utf8(text.raw()).ok()?, 1);
                let is_whole = Document::read(json.as_bytes()).faults().is_empty();
                is_whole.then(|| Change::Write(text.id(), json))
            };
            let texts = list.elements().filter(|element| element.is_string());
            return Some(Fix::guess(guess, texts.map(write).collect::<Option<Vec<_>>>()?));
        }
        if got == JsonType::String {
            // One fault stands for all elements of a list.
            let texts = list.elements().filter(|element| element.is_string());
            let write = |text: Value<'_, '_>| match text.as_json_str()?.is_blank() {
                true => Some(Change::Remove(text.id())),
                false => Some(Change::Write(text.id(), as_told(text, &self.block_of(text)?)?)),
            };
            return Some(Fix::safe(texts.map(write).collect::<Option<Vec<_>>>()?));
        }
        let is_block = |block: Value<'_, '_>| block.is_object() || block.is_array() || block.is_string();
        let is_of_blocks =
            |element: Value<'_, '_>| element.elements().next().is_some() && element.elements().all(is_block);
        let mut lists = list.elements().filter(|element| element.is_array());
        (got == JsonType::Array && lists.all(is_of_blocks)).then(|| Fix::safe([Change::Flatten(list.id())]))
    }

    /// How a text is written as an element of the list: the first way to write one that takes it.
    pub(super) fn block_of(&self, text: Value<'_, '_>) -> Option<Cow<'f, str>> {
        let items = self.field?.items?;
        let object = &self.shape.objects[items];
        // Nobody knows whose message a text alone is.
        if object.kind == Some(Kind::Message) {
            return None;
        }
        let own = self.shape.sample(object);
        let said = self.shape.example_of("text").map(Cow::Borrowed);
        [Some(own), said].into_iter().flatten().find(|example| {
            as_told(text, example).is_some_and(|json| {
                let document = Document::read(json.as_bytes());
                let mut checker = Checker::new(self.shape, self.shape.plain_facts().clone(), None, true);
                let is_known = checker.alone(document.root(), items).is_some();
                is_known && !checker.faults.iter().any(|fault| fault.is_refused(self.shape, None))
            })
        })
    }

    /// A list of texts as one string, if there is nothing else in it.
    fn of_texts(&self, list: Value<'_, '_>) -> Option<Fix> {
        let text = |element| text_of(element).or_else(|| raw_text(element));
        let texts = list.elements().map(text).collect::<Option<Vec<_>>>()?;
        let write = [Change::Write(list.id(), format!("\"{}\"", texts.join("\\n\\n")))];
        Some(match texts.len() {
            1 => Fix::safe(write),
            _ => Fix::guess("the texts become one, with a blank line between them", write),
        })
    }

    /// Whether a value has no fault as one of the objects.
    fn is_clean(&self, value: Value<'_, '_>, object: usize) -> bool {
        let mut checker = Checker::new(self.shape, self.shape.plain_facts().clone(), None, true);
        checker.alone(value, object).is_some() && checker.faults.is_empty()
    }

    /// Whether a value that is written in another way has no fault of its own.
    fn takes_json(&self, field: &Field, json: &str) -> bool {
        let document = Document::read(json.as_bytes());
        let value = document.root();
        let is_taken = |check: &Check| match &check.what {
            CheckKind::Values { values, .. } => {
                let text = value.as_str();
                values.iter().any(|known| text.as_deref().is_some_and(|text| known.text == *text))
            }
            // A text has at most as many letters as bytes, and its quotes are none.
            CheckKind::Length { min, max } => {
                min.is_none_or(|min| min <= 1 && json.len() > 2) && max.is_none_or(|max| json.len() <= max)
            }
            _ => false,
        };
        let is_tag = || {
            let by = self.by().filter(|by| *by.key == *self.key && !by.is_open);
            by.is_none_or(|by| value.as_str().is_some_and(|text| by.variants.contains(&text)))
        };
        value.kind() != JsonKind::String || field.checks.iter().all(is_taken) && is_tag()
    }

    /// The value that is meant by one that is not allowed.
    fn of_allowed(&self, value: Value<'_, '_>, allowed: &[&str], got: &str) -> Option<Fix> {
        value.as_json_str()?;
        let write = |meant: &str| [Change::Write(value.id(), quoted(meant))];
        let field = self.field?;
        let is_allowed = |word: &&Text| is_word(word) && allowed.contains(&word.as_str());
        let meant = field.instead.get(got).filter(is_allowed).map(Text::as_str);
        if let Some(meant) = meant.or_else(|| allowed.iter().copied().find(|known| is_same(known, got))) {
            return Some(Fix::safe(write(meant)));
        }
        // A text is a text, whoever says it, if it is where a text is.
        let mut texts = allowed.iter().filter(|known| known.ends_with("text") && got.ends_with("text"));
        if value.document().value(self.parent).get_str("text").is_some()
            && let (Some(only), None) = (texts.next(), texts.next())
        {
            return Some(Fix::safe(write(only)));
        }
        if let Some(near) = allowed.iter().find(|known| is_near(known, got)) {
            let guess = format!("assumes that `{}` was meant to be `{near}`", shorten(got));
            return Some(Fix::guess(guess, write(near)));
        }
        None
    }

    /// The object without a key that another forbids, if it need not be there.
    fn without_conflict(&self, document: &Document<'_>, other: &str) -> Option<Fix> {
        // What a message lacks is not made good by removing what asks for it.
        let is_clear = match self.condition()? {
            Condition::Needs => !other.contains('*'),
            Condition::LessThan | Condition::NotAfter => false,
            _ => true,
        };
        let is_optional = self.field?.required.is_empty() && !other.is_empty();
        let value = document.value(self.value?);
        let may_lack = value.key_span().is_some() && self.may_lack(value.id(), document);
        (is_clear && is_optional && may_lack).then(|| self.removed(value))
    }

    /// The removal of a member that says something.
    fn removed(&self, value: Value<'_, '_>) -> Fix {
        let change = [Change::Remove(value.id())];
        let what =
            format!("`{}` with its value ({})", shorten(&self.key), Counted(value.raw().len(), "byte"));
        let is_setting = self.above.iter().all(|(_, kind)| matches!(kind, None | Some(Kind::Request)));
        match is_setting {
            true => Fix::lossy(what, change),
            // It is beside what is said.
            false => Fix::or_lossy(format!("assumes that {what} is not needed"), what, change),
        }
    }
}

/// A value as an advice says that it is written, if there is only one way: an object in a string, a text in the one place
/// for it, or a word as the one key.
fn as_told(value: Value<'_, '_>, told: &str) -> Option<String> {
    let raw = std::str::from_utf8(value.raw()).ok()?;
    if value.is_object() {
        return (told == "JSON in a string").then(|| quoted(raw));
    }
    let text = value.as_json_str()?.decode();
    let example = Document::read(told.as_bytes());
    let root = example.root();
    let is_whole = example.faults().is_empty() && root.raw().len() == told.len();
    let is_only = |is: &dyn Fn(Value<'_, '_>) -> bool| root.members().map(is).eq([true]);
    let is_place = |member: Value<'_, '_>| member.raw() == PLACE.as_bytes();
    match told.matches('\u{2026}').count() {
        _ if !is_whole || root.is_string() => None,
        0 => is_only(&|member| member.has_key(&text)).then(|| told.to_owned()),
        1 if told.contains(PLACE_OF_TEXT) || is_only(&is_place) => Some(told.replacen(PLACE, raw, 1)),
        _ => None,
    }
}

/// What stands for a text in an example, and where it is what is said.
pub(super) const PLACE: &str = "\"\u{2026}\"";
const PLACE_OF_TEXT: &str = "\"text\": \"\u{2026}\"";
