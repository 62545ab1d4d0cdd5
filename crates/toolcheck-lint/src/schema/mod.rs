//! The schemas of tools, compiled once and kept from one transcript to the next.

mod cost;
mod values;

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use jsonschema::error::{ValidationError, ValidationErrorKind};
use jsonschema::{PatternOptions, Validator};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::tools::Definition;
use toolcheck_json::Value;

use self::cost::Cost;
use self::values::{Read, Spanned};

/// The schemas that a run has compiled, by their text.
///
/// The transcripts of a log declare the same tools again and again, and compiling is dear.
#[derive(Debug)]
pub(crate) struct Schemas {
    compiled: RefCell<FxHashMap<Box<[u8]>, Compiled>>,
    /// The tools that are declared beside the transcripts.
    pub(crate) declared: Arc<[Definition]>,
    /// Whether a key with `null` is a key that is not there, as in the rows of a table.
    is_padded: bool,
}

/// What became of a schema.
type Compiled = Arc<Result<Schema, Unusable>>;

/// How many schemas are kept: a log of a gateway may have any number of users, each with tools of their own.
const MOST_KEPT: usize = 4096;
/// How often a regular expression of a schema may go back over a text. They are not ours, and may be made to take
/// for ever.
const BACKTRACK_LIMIT: usize = 100_000;
/// The longest arguments for which a regular expression that does not end is the schema's fault and not theirs, in bytes.
const LONGEST_FOR_PATTERNS: usize = 16 << 10;

impl Schemas {
    /// The schemas of transcripts of this kind, of which none is compiled yet, with the tools that are declared beside
    /// them.
    pub(crate) fn declaring(declared: Arc<[Definition]>, kind: TranscriptKind) -> Self {
        Self { compiled: RefCell::default(), declared, is_padded: kind == TranscriptKind::Dataset }
    }

    /// What became of a schema, given its text.
    pub(crate) fn of(&self, schema: &[u8]) -> Compiled {
        let mut compiled = self.compiled.borrow_mut();
        if let Some(known) = compiled.get(schema) {
            return Arc::clone(known);
        }
        if compiled.len() >= MOST_KEPT {
            compiled.clear();
        }
        let outcome = Arc::new(Schema::compile(schema, self.is_padded));
        compiled.insert(schema.into(), Arc::clone(&outcome));
        outcome
    }
}

/// A schema that arguments can be held against.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator<Spanned>,
    /// The schema itself, where holding arguments against it may take for ever.
    costly: Option<Json>,
    /// Whether one of its regular expressions goes back over the text, and so may take for ever.
    has_backtracking: bool,
}

/// Why a schema can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It is no JSON.
    Unreadable,
    /// It is no JSON Schema: the place inside it, as a JSON Pointer.
    NoSchema(String),
    /// It holds a regular expression that is none: the place inside it, as a JSON Pointer.
    Pattern(String),
    /// It refers to something inside it that is not there.
    DeadReference,
    /// It refers to another document, or is written in a language of its own.
    Foreign,
    /// Its references branch again and again, or lead too deep.
    Endless,
}

impl Schema {
    /// Compiles a schema. Where it is padded, keys with `null` are left out.
    pub(crate) fn compile(schema: &[u8], is_padded: bool) -> Result<Self, Unusable> {
        let mut schema: Json = serde_json::from_slice(schema).map_err(|_| Unusable::Unreadable)?;
        if is_padded {
            take_padding_out(&mut schema);
        }
        spell_as_json_schema(&mut schema);
        Self::of(schema)
    }

    /// Compiles a schema that is spelt as JSON Schema.
    pub(crate) fn of(schema: Json) -> Result<Self, Unusable> {
        let cost = cost::of(&schema);
        if cost == Cost::Endless {
            return Err(Unusable::Endless);
        }
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let validator = jsonschema::options_for::<Spanned>()
            .offline()
            .with_pattern_options(patterns)
            .build(&schema)
            .map_err(|error| Unusable::because(&error, &schema))?;
        if cost == Cost::Unknown {
            // It is sound, but what it costs can't be told.
            return Err(Unusable::Foreign);
        }
        let has_backtracking = has_backtracking(&schema);
        Ok(Self { validator, costly: (cost == Cost::OfArguments).then_some(schema), has_backtracking })
    }

    /// Whether it allows the arguments, which have to be JSON as a whole; `None` where finding out would take for ever.
    pub(crate) fn allows(&self, arguments: Value<'_, '_>) -> Option<bool> {
        let is_bearable = |schema| cost::is_bearable(schema, arguments);
        self.costly.as_ref().is_none_or(is_bearable).then(|| self.validator.is_valid(Read(arguments)))
    }

    /// Whether there may be arguments that can't be held against it in bounded time.
    pub(crate) fn may_take_for_ever(&self) -> bool {
        self.costly.is_some() || self.has_backtracking
    }

    /// Whether these arguments can't be held against it in bounded time.
    pub(crate) fn takes_for_ever_with(&self, arguments: Value<'_, '_>) -> bool {
        let is_endless = |error: ValidationError<'_>| {
            matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. })
        };
        match self.allows(arguments) {
            None => true,
            Some(true) => false,
            Some(false) => {
                self.has_backtracking
                    && arguments.raw().len() <= LONGEST_FOR_PATTERNS
                    && self.errors(arguments).any(is_endless)
            }
        }
    }

    /// What it does not allow of the arguments. To be asked where [`Self::allows`] says that there is something.
    pub(crate) fn errors<'i>(
        &'i self,
        arguments: Value<'i, 'i>,
    ) -> impl Iterator<Item = ValidationError<'i>> {
        self.validator.iter_errors(Read(arguments))
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("is not valid JSON"),
            Self::NoSchema(pointer) if pointer.is_empty() => f.write_str("is not a valid JSON Schema"),
            Self::NoSchema(pointer) => write!(f, "is not a valid JSON Schema at `{pointer}`"),
            Self::Pattern(pointer) => write!(f, "contains an invalid regular expression at `{pointer}`"),
            Self::DeadReference => f.write_str("refers to a part of itself that does not exist"),
            Self::Foreign => f.write_str(
                "refers to another document, or contains a regular expression that is not supported",
            ),
            Self::Endless => f.write_str("branches without end"),
        }
    }
}

impl Unusable {
    fn because(error: &ValidationError<'_>, schema: &Json) -> Self {
        let pointer = error.instance_path().to_string();
        match error.kind() {
            ValidationErrorKind::Referencing(error) => match error {
                jsonschema::ReferencingError::PointerToNowhere { .. } => Self::DeadReference,
                _ => Self::Foreign,
            },
            // Not every expression of ECMA-262 can be translated, and not every one that can is small enough.
            ValidationErrorKind::Format { .. } => {
                let value = schema.pointer(&pointer).and_then(Json::as_str);
                let key = pointer.rsplit('/').next().map(|key| key.replace("~1", "/").replace("~0", "~"));
                if value.map(str::to_owned).or(key).is_some_and(|pattern| is_broken(&pattern)) {
                    Self::Pattern(pointer)
                } else {
                    Self::Foreign
                }
            }
            _ => Self::NoSchema(pointer),
        }
    }
}

/// Whether what stands under a key of a schema is an example or a value, and so no schema.
fn holds_values(key: &str) -> bool {
    matches!(key, "enum" | "const" | "default" | "examples")
}

/// Takes out the keys with `null`: a table has one type for the schemas of all its rows, and gives each the keys of all.
fn take_padding_out(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            members.retain(|_, value| !value.is_null());
            let subschemas = members.iter_mut().filter(|(key, _)| !holds_values(key));
            subschemas.for_each(|(_, value)| take_padding_out(value));
        }
        Json::Array(elements) => elements.iter_mut().for_each(take_padding_out),
        _ => {}
    }
}

/// OpenAPI's spelling as JSON Schema's: types in upper case and whole numbers as strings (as protobuf has them in JSON),
/// and `nullable`.
fn spell_as_json_schema(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            if members.get("type").and_then(Json::as_str) == Some("TYPE_UNSPECIFIED") {
                members.remove("type");
            }
            let is_protobuf = match members.get_mut("type") {
                Some(Json::Array(kinds)) => {
                    kinds.iter_mut().fold(false, |is_upper, kind| is_upper | spell_type(kind))
                }
                Some(kind) => spell_type(kind),
                None => false,
            };
            const NUMBERS: [&str; 6] =
                ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
            for key in NUMBERS.into_iter().filter(|_| is_protobuf) {
                let text = members.get(key).and_then(Json::as_str);
                if let Some(number) = text.and_then(|text| text.parse::<u64>().ok()) {
                    members.insert(key.to_owned(), Json::from(number));
                }
            }
            if members.get("nullable") == Some(&Json::Bool(true)) {
                allow_null(members);
            }
            // What is given as an example or a value is no schema.
            let subschemas = members.iter_mut().filter(|(key, _)| !holds_values(key));
            subschemas.for_each(|(_, value)| spell_as_json_schema(value));
        }
        Json::Array(elements) => elements.iter_mut().for_each(spell_as_json_schema),
        _ => {}
    }
}

/// Writes a type in lower case; says whether it was in upper case.
fn spell_type(kind: &mut Json) -> bool {
    const TYPES: [&str; 7] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
    match kind {
        Json::String(kind) if TYPES.contains(&kind.as_str()) => {
            kind.make_ascii_lowercase();
            true
        }
        _ => false,
    }
}

/// Lets a schema allow `null` too.
fn allow_null(schema: &mut Map<String, Json>) {
    if let Some(kind @ Json::String(_)) = schema.get("type").cloned() {
        schema.insert("type".to_owned(), Json::Array(vec![kind, Json::from("null")]));
    }
    if let Some(Json::Array(values)) = schema.get_mut("enum") {
        values.push(Json::Null);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Json::Array(forms)) = schema.get_mut(key) {
            forms.push(json!({"type": "null"}));
        }
    }
}

/// Whether a regular expression is broken in every dialect: a bracket or parenthesis without its other half, a backslash
/// at the end, a repetition of nothing at the beginning.
fn is_broken(pattern: &str) -> bool {
    let (mut depth, mut in_class) = (0usize, false);
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next().is_none() => return true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class && depth == 0 => return true,
            ')' if !in_class => depth -= 1,
            _ => {}
        }
    }
    in_class || depth > 0 || pattern.starts_with(['*', '+', '?'])
}

/// Whether a regular expression of the schema needs an engine that goes back over the text.
fn has_backtracking(schema: &Json) -> bool {
    let is_plain = |pattern: &str| {
        // Looking around and referring back are what the linear engine does not know.
        !pattern.contains("(?=")
            && !pattern.contains("(?!")
            && !pattern.contains("(?<")
            && !pattern.contains("(?>")
            && !pattern.bytes().zip(pattern.bytes().skip(1)).any(|pair| {
                matches!(pair, (b'\\', b'1'..=b'9' | b'k')) // a reference back
            })
    };
    match schema {
        Json::Object(members) => members.iter().any(|(key, value)| match (key.as_str(), value) {
            ("pattern", Json::String(pattern)) => !is_plain(pattern),
            ("patternProperties", Json::Object(patterns)) => {
                patterns.keys().any(|pattern| !is_plain(pattern)) || patterns.values().any(has_backtracking)
            }
            (_, value) => has_backtracking(value),
        }),
        Json::Array(elements) => elements.iter().any(has_backtracking),
        _ => false,
    }
}
