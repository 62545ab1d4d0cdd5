//! The good bodies of `fixtures/shapes`, and the objects of the shape in them.

use serde_json::Value as Json;
use toolcheck_core::formats::Format;
use toolcheck_core::shape::{ObjectView, Shape};
use toolcheck_core::targets::{self, Target};

use crate::testing::root;

pub(crate) const FORMATS: [&str; 9] = [
    "anthropic",
    "bedrock-converse",
    "cohere",
    "gemini",
    "gemini-interactions",
    "mistral",
    "ollama",
    "openai-chat",
    "openai-responses",
];

/// A format with its own target and its bodies.
pub(crate) struct Bodies {
    pub(crate) format: &'static Format,
    pub(crate) target: &'static Target,
    pub(crate) shape: &'static Shape,
    /// Whether `null` is the same as an absent key.
    pub(crate) null_is_absent: bool,
    /// With their names, sorted.
    pub(crate) all: Vec<(String, Json)>,
}

impl Bodies {
    pub(crate) fn of(format: &str) -> Self {
        let target = targets::find(format).unwrap();
        let file = root().join(format!("crates/toolcheck-core/shapes/{format}.toml"));
        let mut all: Vec<(String, Json)> = std::fs::read_dir(root().join("fixtures/shapes").join(format))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let name = path.to_string_lossy();
                name.ends_with(".json") && !name.ends_with(".expect.json")
            })
            .map(|path| {
                let body = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                (path.file_stem().unwrap().to_string_lossy().into_owned(), body)
            })
            .collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        Self {
            format: toolcheck_core::formats::find(format).unwrap(),
            target,
            shape: target.shape().unwrap(),
            null_is_absent: std::fs::read_to_string(file).unwrap().contains("\nnull-is-absent = true"),
            all,
        }
    }

    /// The value of a field, under either of its names.
    pub(crate) fn member<'b>(&self, object: &'b Json, key: &str) -> Option<(&'b String, &'b Json)> {
        let object = object.as_object()?;
        let found = object.get_key_value(key).or_else(|| object.get_key_value(&snake_case(key)));
        found.filter(|(_, value)| !(self.null_is_absent && value.is_null()))
    }

    /// The objects of a body that the shape describes, in the order of the walk.
    pub(crate) fn objects(&self, body: &Json) -> Vec<Found> {
        let mut found = Vec::new();
        self.walk(body, self.shape.request(), String::new(), &mut found);
        found
    }

    fn walk(&self, value: &Json, first: ObjectView<'static>, pointer: String, found: &mut Vec<Found>) {
        let (mut object, mut bases) = (first, Vec::new());
        // Each key decides once.
        while let Some(by) =
            object.by().filter(|by| !bases.iter().any(|base: &ObjectView<'_>| base.by() == Some(by)))
        {
            let chosen = value.get(by).filter(|chosen| !chosen.is_null());
            let text = chosen.map(|chosen| chosen.as_str().map_or_else(|| chosen.to_string(), str::to_owned));
            let next = match &text {
                Some(text) => object.variants().find(|(value, _)| value == text).map(|(_, next)| next),
                None => object.otherwise(),
            };
            let Some(next) = next else { break };
            bases.push(object);
            object = next;
        }
        found.push(Found { pointer: pointer.clone(), object, bases });
        for field in object.fields() {
            let Some((key, value)) = self.member(value, field.key()) else { continue };
            let pointer = format!("{pointer}/{}", escape(key));
            match value {
                Json::Object(members) => {
                    if let Some(inner) = field.object() {
                        self.walk(value, inner, pointer.clone(), found);
                    }
                    for (key, entry) in members.iter().filter(|(_, entry)| entry.is_object()) {
                        if let Some(inner) = field.entries() {
                            self.walk(entry, inner, format!("{pointer}/{}", escape(key)), found);
                        }
                    }
                }
                Json::Array(elements) => {
                    for (index, element) in
                        elements.iter().enumerate().filter(|(_, element)| element.is_object())
                    {
                        if let Some(inner) = field.items() {
                            self.walk(element, inner, format!("{pointer}/{index}"), found);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// An object of a body that the shape describes.
pub(crate) struct Found {
    pub(crate) pointer: String,
    /// What it is, after everything that decides it.
    pub(crate) object: ObjectView<'static>,
    /// What it was before: each is one of the variants of the one before it.
    pub(crate) bases: Vec<ObjectView<'static>>,
}

/// A key as a step of a JSON Pointer.
pub(crate) fn escape(key: &str) -> String {
    toolcheck_json::escape_step(key).into_owned()
}

pub(crate) fn snake_case(key: &str) -> String {
    let mut snake = String::new();
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
