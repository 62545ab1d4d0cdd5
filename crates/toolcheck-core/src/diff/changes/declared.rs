//! What changed in what a request declares beside its messages: tools, and other parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use toolcheck_json::{Kind as JsonKind, Value};

use super::{At, Finder, FoundChange};
use crate::choice::{chosen, is_choice_key};
use crate::diff::events::Side;
use crate::diff::kinds::{Kind, Level};
use crate::diff::{Change, canonical};
use crate::ir::{Body, Executor, Part, Place, Role, ToolChoiceMode, ToolDef};
use crate::text::{Line, shorten};
use crate::{formats, targets};

/// What a tool is to the model.
struct Declared {
    place: Place,
    schema: (Option<u64>, bool),
    /// Empty if there is none.
    description: String,
    /// The names of its arguments; `None` if they cannot be told.
    arguments: Option<HashSet<String>>,
}

impl Declared {
    /// How bad it is what the other one is instead, if it is something else: formats write schemas in their own ways.
    fn change(&self, other: &Self, is_one_family: bool) -> Option<Level> {
        let gone = |(own, others): (&HashSet<String>, &HashSet<String>)| !own.is_subset(others);
        if other.description.is_empty() && !self.description.is_empty()
            || self.arguments.as_ref().zip(other.arguments.as_ref()).is_some_and(gone)
        {
            return Some(Level::Loss);
        }
        let is_changed =
            self.description != other.description || is_one_family && self.schema != other.schema;
        is_changed.then_some(Level::Change)
    }
}

/// What a definition of a tool says of it.
fn description(tool: Value<'_, '_>) -> String {
    let own = tool.get_any(&["function", "toolSpec", "custom"]).unwrap_or(tool);
    let text = own.get("description").and_then(Value::as_str).unwrap_or_default();
    text.trim().to_owned()
}

/// The names of the arguments in a schema, if it does not have them elsewhere.
fn arguments(schema: Option<Value<'_, '_>>) -> Option<HashSet<String>> {
    let Some(schema) = schema else { return Some(HashSet::default()) };
    let Some(own) = schema.get("properties") else {
        let is_plain = schema.get_any(&["$ref", "allOf", "anyOf", "oneOf", "json"]).is_none();
        return is_plain.then(HashSet::default);
    };
    Some(own.members().filter_map(|member| Some(member.key_text()?.into_owned())).collect())
}

impl<'s> Finder<'_, '_, 's> {
    fn declared(
        &mut self,
        kind: Kind,
        level: Level,
        (before, after): (Option<Place>, Option<Place>),
        name: &str,
    ) {
        let about = Line::from(format!("`{}`", shorten(name)));
        let change = Change { kind, level, inexpressible: false, before, after, about, count: 1 };
        self.found.push(FoundChange { change, at: At(None, None) });
    }

    fn are_bodies(&self) -> bool {
        self.sides.iter().all(|side| side.transcript.is_body)
    }

    pub(super) fn tools(&mut self) {
        let [before, after] = self.sides;
        if !self.are_bodies() {
            return;
        }
        let is_one_format = before.transcript.format == after.transcript.format;
        let named = |side: &'_ Side<'_, 's>| {
            // Providers have different names for their own tools.
            let is_compared = |tool: &&ToolDef<'_>| self.is_one_family || tool.executor == Executor::Client;
            let tools = side.transcript.request.tools.declared().filter(is_compared);
            let tools = tools.filter_map(|tool| {
                let schema = tool.schema.map(|place| side.document.value(place.node));
                // Whether calls are held to the schema.
                let own = side.document.value(tool.place.node);
                let own = own.get_any(&["function", "toolSpec"]).unwrap_or(own).get("strict");
                let is_strict = is_one_format && own.and_then(Value::as_bool) == Some(true);
                let name = tool.name.as_ref().filter(|name| name.instead.is_none())?;
                let own = Declared {
                    place: tool.place,
                    schema: (schema.map(canonical::of_value), is_strict),
                    description: description(side.document.value(tool.place.node)),
                    arguments: if tool.takes_text { None } else { arguments(schema) },
                };
                Some((name.text.to_string(), own))
            });
            let mut seen: HashSet<String> = HashSet::default();
            // One without a name cannot be called.
            tools.filter(|(name, _)| !name.is_empty() && seen.insert(name.clone())).collect::<Vec<_>>()
        };
        let (old, new) = (named(before), named(after));
        let known: HashMap<&str, &Declared> = new.iter().map(|(name, tool)| (&**name, tool)).collect();
        // Tools in a form that is not read may be any.
        let is_open = |side: &Side<'_, '_>| {
            let tools = &side.transcript.request.tools;
            !tools.in_text.is_empty() || tools.hides_some || tools.place.is_some() && tools.list.is_none()
        };
        for (name, tool) in &old {
            let Some(other) = known.get(&**name) else {
                if !is_open(after) {
                    self.declared(Kind::ToolLost, Level::Loss, (Some(tool.place), None), name);
                }
                continue;
            };
            if let Some(level) = tool.change(other, self.is_one_family) {
                let places = (Some(tool.place), Some(other.place));
                self.declared(Kind::ToolChanged, level, places, name);
            }
        }
        let known: HashSet<&str> = old.iter().map(|(name, _)| &**name).collect();
        for (name, tool) in new.iter().filter(|(name, _)| !known.contains(&**name)) {
            if !is_open(before) {
                self.declared(Kind::ToolAdded, Level::Change, (None, Some(tool.place)), name);
            }
        }
    }

    pub(super) fn tool_choice(&mut self) {
        let [before, after] = self.sides;
        if !self.are_bodies() {
            return;
        }
        let [old, new] = [before, after].map(|side| side.transcript.request.tool_choice.as_ref());
        // The model decides if a request does not say who does.
        let is_said =
            |wanted: &ToolChoiceMode<'_>| !matches!(wanted, ToolChoiceMode::Free | ToolChoiceMode::Invalid);
        // Another API's form may say the same.
        let [old_said, new_said] = [(before, old), (after, new)]
            .map(|(side, choice)| chosen(side.document.value(choice?.place.node)));
        let is_elsewhere = || {
            let root = before.document.value(before.transcript.place.node);
            let is_choice = |key: Cow<'_, str>| is_choice_key(&key);
            root.members().any(|other| other.key_text().is_some_and(is_choice) && chosen(other) == new_said)
        };
        match (old, new) {
            (Some(_), Some(_)) if old_said.is_some() && old_said == new_said => {}
            (Some(old), None)
                if is_said(&old.wanted) && !before.document.value(old.place.node).says_nothing() =>
            {
                // Not every format has a place for it.
                let is_same = before.transcript.format == after.transcript.format;
                let level = if is_same { Level::Loss } else { Level::Change };
                self.declared(Kind::ParameterLost, level, (Some(old.place), None), &old.key);
            }
            (None, Some(_)) if new_said.is_some() && is_elsewhere() => {}
            (None, Some(new)) if is_said(&new.wanted) => {
                self.declared(Kind::ParameterAdded, Level::Change, (None, Some(new.place)), &new.key);
            }
            (Some(old), Some(new)) if meaning(&old.wanted) != meaning(&new.wanted) => {
                let places = (Some(old.place), Some(new.place));
                self.declared(Kind::ParameterChanged, Level::Change, places, &old.key);
            }
            _ => {}
        }
    }

    /// The other parameters. Each format has its own.
    pub(super) fn parameters(&mut self) {
        let [before, after] = self.sides;
        if !self.are_bodies() || before.transcript.format != after.transcript.format {
            return;
        }
        let compared = [before, after].map(compared_elsewhere);
        let parameters = |side: &Side<'_, 's>| -> Vec<(String, Place, u64)> {
            let root = side.document.value(side.transcript.place.node);
            let mut seen: HashSet<String> = HashSet::default();
            let own = root.members().filter(|member| !member.is_null()).filter_map(|member| {
                let key = member.key_text()?.into_owned();
                let is_own = !compared.iter().any(|keys| keys.contains(&key));
                (is_own && seen.insert(key.clone()))
                    .then(|| (key, Place::of(member), canonical::of_value(member)))
            });
            own.collect()
        };
        let (old, new) = (parameters(before), parameters(after));
        let named: HashMap<&str, _> =
            new.iter().map(|(key, place, value)| (&**key, (*place, *value))).collect();
        let gone = old.iter().filter(|(key, ..)| !named.contains_key(&**key));
        let renamed = Renamed::find(self.sides, gone.map(|(key, place, _)| (&**key, *place)));
        for (key, place, value) in &old {
            match (named.get(&**key), renamed.of(key)) {
                (None, Some((there, is_same))) => {
                    let places = (Some(*place), Some(there));
                    // It may have become another value there, such as the limit.
                    let (kind, level) = match is_same {
                        true => (Kind::ParameterRenamed, Level::Form),
                        false => (Kind::ParameterChanged, Level::Change),
                    };
                    self.declared(kind, level, places, key);
                }
                (None, None) if before.document.value(place.node).says_nothing() => {}
                (None, None) => match self.said_in_message(*place) {
                    None => self.declared(Kind::ParameterLost, Level::Loss, (Some(*place), None), key),
                    said => self.declared(Kind::ParameterRenamed, Level::Form, (Some(*place), said), key),
                },
                (Some((other, now)), _) if now != value && !renamed.explain(key, Some(*place), *other) => {
                    if !self.members_gone(key, *place, *other) {
                        let places = (Some(*place), Some(*other));
                        self.declared(Kind::ParameterChanged, Level::Change, places, key);
                    }
                }
                (Some(_), _) => {}
            }
        }
        let known: HashSet<&str> = old.iter().map(|(key, ..)| &**key).collect();
        for (key, place, _) in new.iter().filter(|(key, ..)| !known.contains(&**key)) {
            if !renamed.explain(key, None, *place) {
                self.declared(Kind::ParameterAdded, Level::Change, (None, Some(*place)), key);
            }
        }
    }
}

impl Finder<'_, '_, '_> {
    /// The message of instructions that has the text of a parameter now.
    fn said_in_message(&self, parameter: Place) -> Option<Place> {
        let [before, after] = self.sides;
        let text = before.document.value(parameter.node).as_str()?;
        let is_said = |part: &Part<'_>| matches!(&part.body, Body::Text(own) if own.string.eq_str(&text));
        let mut messages = after.transcript.messages_with_parts();
        let said = messages.find(|(message, parts)| {
            matches!(message.role, Role::System) && matches!(parts, [part] if is_said(part))
        });
        said.map(|(message, _)| message.place)
    }

    /// The members of a parameter that are gone, and under no other key. What is deeper than that is only changed. Returns
    /// whether nothing else is.
    fn members_gone(&mut self, key: &str, before: Place, after: Place) -> bool {
        let [old, new] = [(0, before), (1, after)]
            .map(|(side, place): (usize, Place)| self.sides[side].document.value(place.node));
        if !old.is_object() || !new.is_object() {
            return false;
        }
        let known: HashMap<_, _> = new
            .members()
            .filter_map(|member| Some((member.key_text()?, canonical::of_value(member))))
            .collect();
        let values: HashSet<u64> = known.values().copied().collect();
        let gone = old.members().filter(|member| !member.says_nothing()).filter_map(|member| {
            let key = member.key_text()?;
            let is_gone = !known.contains_key(&key) && !values.contains(&canonical::of_value(member));
            is_gone.then(|| (key.into_owned(), Place::of(member)))
        });
        let gone = gone.collect::<Vec<_>>();
        let said = old.members().filter(|member| !member.says_nothing());
        let said: HashMap<_, _> =
            said.filter_map(|member| Some((member.key_text()?, canonical::of_value(member)))).collect();
        let kept = known.iter().filter(|(key, value)| said.get(*key) == Some(value));
        let is_all =
            !gone.is_empty() && said.len() == known.len() + gone.len() && kept.count() == known.len();
        for (member, place) in gone {
            let name = format!("{key}.{member}");
            self.declared(Kind::ParameterLost, Level::Loss, (Some(place), None), &name);
        }
        is_all
    }
}

/// The parameters that are under another key now, as the description of the format knows it.
struct Renamed<'f, 's> {
    sides: [&'f Side<'f, 's>; 2],
    /// The keys before, with the ways to where they are now,
    /// and whether they have the same value there.
    ways: Vec<(String, Vec<&'static str>, Place, bool)>,
}

impl<'f, 's> Renamed<'f, 's> {
    fn find<'k>(sides: [&'f Side<'f, 's>; 2], mut gone: impl Iterator<Item = (&'k str, Place)>) -> Self {
        let mut ways = Vec::new();
        let Some(first) = gone.next() else { return Self { sides, ways } };
        let own = sides[1].transcript.format.map(|format| format.id);
        let formats = own.into_iter().chain(sides[1].named_as);
        let fix_style = own.and_then(formats::find).map(|format| format.fix_style);
        let shapes: Vec<_> = formats.filter_map(|format| targets::find(format)?.shape()).collect();
        let root = sides[1].document.value(sides[1].transcript.place.node);
        let lists = root.members().filter(|member| member.is_array());
        let lists: HashMap<u64, Value<'_, '_>> =
            lists.map(|list| (canonical::of_value(list), list)).collect();
        for (key, place) in std::iter::once(first).chain(gone) {
            let value = canonical::of_value(sides[0].document.value(place.node));
            let choice = || Some(fix_style.filter(|_| is_choice_key(key))?.choice);
            let found = shapes.iter().find_map(|shape| {
                let way: Vec<&str> = shape.meant_parameter(key).or_else(choice)?.split('.').collect();
                let there = root.get_in(&way)?;
                Some((way, there))
            });
            // The same list under another key is the same.
            let found = found.or_else(|| Some((Vec::new(), *lists.get(&value)?)));
            let Some((way, there)) = found else { continue };
            // What takes a list may have had one value.
            let is_element = || {
                let mut elements = there.elements().map(canonical::of_value);
                elements.next() == Some(value) && elements.next().is_none()
            };
            let said = || chosen(sides[0].document.value(place.node));
            let is_choice = || is_choice_key(key) && said().is_some() && said() == chosen(there);
            let is_same = canonical::of_value(there) == value || is_element() || is_choice();
            let own = sides[0].document.value(sides[0].transcript.place.node);
            let is_scalar = |value: Value<'_, '_>| matches!(value.kind(), JsonKind::Number | JsonKind::Bool);
            let is_new = || own.get_in(&way).is_none();
            if is_same || is_scalar(there) && is_scalar(sides[0].document.value(place.node)) && is_new() {
                ways.push((key.to_owned(), way, Place::of(there), is_same));
            }
        }
        Self { sides, ways }
    }

    fn of(&self, key: &str) -> Option<(Place, bool)> {
        self.ways.iter().find(|(own, ..)| own == key).map(|(.., place, is_same)| (*place, *is_same))
    }

    /// Whether a parameter is new or another one only because others were moved into it.
    fn explain(&self, key: &str, before: Option<Place>, after: Place) -> bool {
        let is_in = |way: &&[&str]| way.first() == Some(&key);
        let ways: Vec<&[&str]> = self.ways.iter().map(|(_, way, ..)| &**way).filter(is_in).collect();
        if ways.iter().any(|way| way.len() == 1) {
            return before.is_none();
        }
        let has_moved = |key: &str| ways.iter().any(|way| way[1] == key);
        let rest = |side: &Side<'_, 's>, place: Place, is_after: bool| {
            let members = side.document.value(place.node).members().filter_map(|member| {
                let key = member.key_text()?;
                (!is_after || !has_moved(&key)).then(|| (key.into_owned(), canonical::of_value(member)))
            });
            members.collect::<BTreeMap<_, _>>()
        };
        let old = before.map(|place| rest(self.sides[0], place, false)).unwrap_or_default();
        !ways.is_empty() && old == rest(self.sides[1], after, true)
    }
}

/// The keys of a request with what is compared by its meaning: messages, instructions, tools and the choice of one.
fn compared_elsewhere(side: &Side<'_, '_>) -> HashSet<String> {
    let transcript = side.transcript;
    let request = &transcript.request;
    let messages = transcript.messages.iter().map(|message| message.place);
    let tools = [request.tools.place, request.tools.second_place, request.instructions];
    let choice = request.tool_choice.as_ref().map(|choice| choice.place);
    let declared = request.tools.declared().map(|tool| tool.place);
    let places = tools.into_iter().flatten().chain(choice).chain(messages).chain(declared);
    let mut starts: Vec<u32> = places.map(|place| place.span.start).collect();
    starts.sort_unstable();
    let root = side.document.value(transcript.place.node);
    let holds = |span: toolcheck_json::Span| {
        let first = starts.partition_point(|start| *start < span.start);
        starts.get(first).is_some_and(|start| *start < span.end)
    };
    let holding = root.members().filter(|member| holds(member.span()));
    holding.filter_map(|member| member.key_text()).map(Cow::into_owned).collect()
}

fn meaning<'w>(wanted: &'w ToolChoiceMode<'_>) -> (u8, Option<&'w str>) {
    match wanted {
        ToolChoiceMode::Free => (0, None),
        ToolChoiceMode::Nothing => (1, None),
        ToolChoiceMode::Any => (2, None),
        ToolChoiceMode::Tool(tool) => (3, Some(&tool.text)),
        ToolChoiceMode::Other | ToolChoiceMode::Among(_) => (4, None),
        ToolChoiceMode::Invalid => (5, None),
    }
}
