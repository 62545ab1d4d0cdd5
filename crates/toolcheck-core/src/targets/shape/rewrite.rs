//! Objects that say what every API can say, such as a call or a tool, and say it in no form of this one.
//!
//! What they say is told by their keys, as far as these are alike everywhere, and put into the example of this API.

use std::borrow::Cow;

use toolcheck_json::{Document, Value};

use super::Shape;
use super::advice::MOST_KEYS;
use super::fault::ShapeFault;
use super::fix::{PLACE, quoted};
use super::tables::{JsonType, Kind};
use super::value::respelled;
use crate::fix::{Change, Fix};
use crate::formats;

/// What an object says.
struct Said<'d, 's> {
    /// What the object is called.
    kind: Option<Value<'d, 's>>,
    id: Option<Value<'d, 's>>,
    name: Option<Value<'d, 's>>,
    description: Option<Value<'d, 's>>,
    /// The rest: the schema of a tool, the arguments of a call, the content of a result.
    rest: Vec<Value<'d, 's>>,
}

pub(super) fn is_id(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("Id")
}

fn is_name(key: &str) -> bool {
    key == "name" || key.ends_with("_name") || key.ends_with("Name")
}

/// Whether what somebody or a tool said may stand under a key.
pub(super) fn is_said_in(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["text", "content", "value", "output", "result", "response"].iter().any(|end| key.ends_with(end))
}

/// Whether the arguments of a call may stand under a key.
fn is_passed_in(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["arguments", "args", "input", "parameters", "params"].iter().any(|end| key.ends_with(end))
}

impl<'d, 's> Said<'d, 's> {
    /// What an object says; `None` if it has a key twice.
    fn of(object: Value<'d, 's>) -> Option<Self> {
        let mut said = Self { kind: None, id: None, name: None, description: None, rest: Vec::new() };
        said.read(object)?;
        Some(said)
    }

    fn read(&mut self, object: Value<'d, 's>) -> Option<()> {
        for (count, member) in object.members().filter(|member| !member.is_null()).enumerate() {
            let key = member.key_text().filter(|_| count < MOST_KEYS)?;
            let slot = match &*key {
                _ if member.as_json_str().is_none() => None,
                "type" | "kind" => {
                    self.kind = self.kind.or(Some(member));
                    continue;
                }
                "description" => Some(&mut self.description),
                key if is_id(key) => Some(&mut self.id),
                key if is_name(key) => Some(&mut self.name),
                _ => None,
            };
            match slot {
                Some(slot) if slot.is_some_and(|known| known.raw() != member.raw()) => return None,
                Some(slot) => *slot = Some(member),
                None => self.rest.push(member),
            }
        }
        let names_itself = |value: Value<'_, '_>| {
            value.members().take(MOST_KEYS).any(|member| member.key_text().is_some_and(|key| is_name(&key)))
        };
        match self.rest[..] {
            // What goes around it says nothing.
            [only] if self.name.is_none() && names_itself(only) => {
                self.rest.clear();
                self.read(only)
            }
            _ => Some(()),
        }
    }

    fn rest(&self) -> Option<Value<'d, 's>> {
        let [only] = self.rest[..] else { return None };
        Some(only)
    }

    /// The schema of a tool.
    fn schema(&self) -> Option<&'s [u8]> {
        let is_schema = |value: &Value<'_, '_>| value.get("properties").or(value.get("type")).is_some();
        let rest = self.rest()?;
        let inner = || rest.members().next().filter(|_| rest.members().count() == 1);
        Some(rest).filter(is_schema).or_else(|| inner().filter(is_schema)).map(Value::raw)
    }

    /// The arguments of a call, as an object.
    fn arguments(&self) -> Option<String> {
        let rest = self.rest().filter(|rest| rest.key_text().is_some_and(|key| is_passed_in(&key)))?;
        match rest.is_object() {
            true => Some(std::str::from_utf8(rest.raw()).ok()?.to_owned()),
            false => respelled(rest, &[JsonType::Object]),
        }
    }

    /// The text of a result or a block.
    fn text(&self) -> Option<Value<'d, 's>> {
        let rest = self.rest().filter(|rest| rest.key_text().is_some_and(|key| is_said_in(&key)))?;
        rest.as_json_str()?.is_text().then_some(rest)
    }

    /// Whether it is a text, and called nothing else.
    fn is_text(&self) -> bool {
        let kind = self.kind.and_then(Value::as_str);
        self.text().is_some() && kind.is_none_or(|kind| kind.ends_with("text"))
    }

    /// Writes it as an example does, and takes what is written.
    fn write(&mut self, example: Value<'_, '_>, json: &mut Vec<u8>) -> Option<()> {
        let key = example.key_text().unwrap_or_default();
        match example.raw() {
            raw if raw == PLACE.as_bytes() => {
                let value = match &*key {
                    "description" => self.description.take()?,
                    key if is_id(key) => self.id.take()?,
                    key if is_name(key) => self.name.take()?,
                    _ => self.text().inspect(|_| self.rest.clear())?,
                };
                json.extend_from_slice(value.raw());
            }
            b"{}" => json.extend(self.arguments().inspect(|_| self.rest.clear())?.bytes()),
            b"\"{}\"" => json.extend(quoted(&self.arguments().inspect(|_| self.rest.clear())?).bytes()),
            _ if example.has("properties") => {
                json.extend_from_slice(self.schema().inspect(|_| self.rest.clear())?);
            }
            raw if example.is_object() || example.is_array() => {
                json.push(raw[0]);
                // What a call has no id of gets one with its result.
                let has_id = self.id.is_some() || self.arguments().is_none();
                let is_said = |part: &Value<'_, '_>| match part.key_text().as_deref() {
                    Some("description") => self.description.is_some(),
                    Some(key) => has_id || !is_id(key),
                    None => true,
                };
                let parts: Vec<_> = example.children().filter(is_said).collect();
                for (number, part) in parts.into_iter().enumerate() {
                    json.extend_from_slice(if number > 0 { b", " } else { b"" });
                    if let Some(key) = part.key_text() {
                        json.extend(format!("{}: ", quoted(&key)).bytes());
                    }
                    self.write(part, json)?;
                }
                json.push(raw[raw.len() - 1]);
            }
            raw => json.extend_from_slice(raw),
        }
        Some(())
    }
}

impl Shape {
    /// The example of what an object of a kind says. Tools have `own` ones.
    fn form_of<'a>(
        &'a self,
        said: &Said<'_, '_>,
        kind: Kind,
        own: Option<Cow<'a, str>>,
    ) -> Option<Cow<'a, str>> {
        let what = match (said.id, said.name) {
            _ if kind == Kind::Tool => return own.filter(|_| said.schema().is_some()),
            _ if kind == Kind::ToolCall => return own.filter(|_| said.arguments().is_some()),
            (_, Some(_)) if said.arguments().is_some() => "call",
            (Some(_), _) if said.text().is_some() => "result",
            (None, None) if said.is_text() && kind == Kind::Content => {
                return self.example_of("text").map(Cow::Borrowed);
            }
            _ => return None,
        };
        let form = match kind {
            Kind::Message => self.message_of(what).or_else(|| self.example_of(what)),
            // Where a message of its own says it, no block does.
            Kind::Content => self.message_of(what).and_then(|_| self.example_of(what)),
            _ => None,
        };
        form.map(Cow::Borrowed)
    }

    /// What writes an object as this API does, if all that it says has a place there.
    pub(super) fn written(
        &self,
        value: Value<'_, '_>,
        kind: Kind,
        own: Option<Cow<'_, str>>,
    ) -> Option<Change> {
        let mut said = Said::of(value)?;
        let form = self.form_of(&said, kind, own)?;
        let example = form.replace("{\u{2026}}", "{}");
        let example = Document::read(example.as_bytes());
        let mut json = Vec::new();
        said.write(example.root(), &mut json)?;
        let mut json = String::from_utf8(json).ok()?;
        if let Some(id) = said.id.take() {
            // A call may have an id that the example leaves out.
            let key = formats::find(self.format)?.fix_style.call_id.unwrap_or("id");
            let own = std::str::from_utf8(id.raw()).ok()?;
            json = json.replacen("\"name\"", &format!("{}: {own}, \"name\"", quoted(key)), 1);
        }
        // The call of a result says the name of its tool.
        let is_named = said.name.is_none() || kind != Kind::Tool && !json.contains("\"name\"");
        let is_all = is_named && said.description.is_none() && said.rest.is_empty();
        is_all.then(|| Change::Write(value.id(), json))
    }
}

impl<'f> ShapeFault<'f> {
    /// How this API writes what the object says that has no key of its own.
    pub fn own_form(&self, document: &Document<'_>) -> Option<Cow<'f, str>> {
        let said = Said::of(document.value(self.parent))?;
        self.shape.form_of(&said, self.object_kind()?, self.object_example())
    }

    /// What writes the object as this API does, if all that it says has a place there.
    pub fn rewritten(&self, document: &Document<'_>) -> Option<Fix> {
        let kind = self.object_kind()?;
        let change = self.shape.written(document.value(self.parent), kind, self.object_example())?;
        let guess = format!("assumes that the {} says what its keys say in other APIs", kind.name());
        Some(Fix::guess(guess, [change]))
    }
}
