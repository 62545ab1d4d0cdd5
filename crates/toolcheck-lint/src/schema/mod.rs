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
/// The transcripts of a log declare the same tools again and again, and compiling a schema is expensive.
#[derive(Debug)]
pub(crate) struct Schemas {
    compiled: RefCell<FxHashMap<Box<[u8]>, Compiled>>,
    /// The tools that are declared outside the transcripts.
    pub(crate) declared: Arc<[Definition]>,
    /// Whether a key whose value is `null` counts as missing, as in the rows of a table.
    is_padded: bool,
}

/// The result of compiling a schema.
type Compiled = Arc<Result<Schema, Unusable>>;

/// The maximum number of schemas that are kept: the log of a gateway may have many users, each with their own tools.
const MOST_KEPT: usize = 4096;
/// The maximum number of times that a regular expression of a schema may backtrack. The expressions come from the
/// linted file, and may be written to take forever.
const BACKTRACK_LIMIT: usize = 100_000;
/// The maximum length of arguments, in bytes, for which the schema is blamed if a regular expression takes too long.
const LONGEST_FOR_PATTERNS: usize = 16 << 10;

impl Schemas {
    /// The schemas of transcripts of this kind, and of tools that are declared outside them. None is compiled yet.
    pub(crate) fn declaring(declared: Arc<[Definition]>, kind: TranscriptKind) -> Self {
        Self { compiled: RefCell::default(), declared, is_padded: kind == TranscriptKind::Dataset }
    }

    /// Returns the schema with this text, compiling it if it is new.
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

/// A schema to check arguments against.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator<Spanned>,
    /// The schema as JSON, if checking arguments against it may take forever.
    costly: Option<Json>,
    /// Whether one of its regular expressions backtracks, and may therefore take forever.
    has_backtracking: bool,
}

/// Why a schema can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It is not valid JSON.
    Unreadable,
    /// It is not a valid JSON Schema at this JSON Pointer.
    NoSchema(String),
    /// It has an invalid regular expression at this JSON Pointer.
    Pattern(String),
    /// It refers to a part of itself that does not exist.
    DeadReference,
    /// It refers to another document, or has a regular expression that is not supported.
    Foreign,
    /// Its references branch again and again, or are nested too deeply.
    Endless,
}

impl Schema {
    /// Compiles a schema from its text. If it is padded, keys whose value is `null` are ignored.
    pub(crate) fn compile(schema: &[u8], is_padded: bool) -> Result<Self, Unusable> {
        let mut schema: Json = serde_json::from_slice(schema).map_err(|_| Unusable::Unreadable)?;
        if is_padded {
            remove_padding(&mut schema);
        }
        spell_as_json_schema(&mut schema);
        Self::of(schema)
    }

    /// Compiles a schema that is written in JSON Schema.
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
            // It is valid, but its cost is unknown.
            return Err(Unusable::Foreign);
        }
        let has_backtracking = has_backtracking(&schema);
        Ok(Self { validator, costly: (cost == Cost::OfArguments).then_some(schema), has_backtracking })
    }

    /// Whether it allows the arguments, which must be valid JSON; `None` if checking them would take too long.
    pub(crate) fn allows(&self, arguments: Value<'_, '_>) -> Option<bool> {
        let is_affordable = |schema| cost::is_affordable(schema, arguments);
        self.costly.as_ref().is_none_or(is_affordable).then(|| self.validator.is_valid(Read(arguments)))
    }

    /// Whether there may be arguments that can't be checked against it in bounded time.
    pub(crate) fn may_take_for_ever(&self) -> bool {
        self.costly.is_some() || self.has_backtracking
    }

    /// Whether these arguments can't be checked against it in bounded time.
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

    /// The errors in the arguments. Call it only after [`Self::allows`] has returned `Some(false)`.
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
            // Not every regular expression of ECMA-262 is supported, and some are too large.
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

/// Whether a key of a schema contains values, such as examples, and not schemas.
fn holds_values(key: &str) -> bool {
    matches!(key, "enum" | "const" | "default" | "examples")
}

/// Removes keys whose value is `null`: in a table, every schema has the keys of all of them.
fn remove_padding(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            members.retain(|_, value| !value.is_null());
            let subschemas = members.iter_mut().filter(|(key, _)| !holds_values(key));
            subschemas.for_each(|(_, value)| remove_padding(value));
        }
        Json::Array(elements) => elements.iter_mut().for_each(remove_padding),
        _ => {}
    }
}

/// Rewrites OpenAPI's dialect as JSON Schema: types in upper case and integers as strings (as protobuf writes them in
/// JSON), and `nullable`.
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
            // Examples and values are not schemas.
            let subschemas = members.iter_mut().filter(|(key, _)| !holds_values(key));
            subschemas.for_each(|(_, value)| spell_as_json_schema(value));
        }
        Json::Array(elements) => elements.iter_mut().for_each(spell_as_json_schema),
        _ => {}
    }
}

/// Rewrites a type in lower case, and returns whether it was in upper case.
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

/// Changes a schema to allow `null` too.
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

/// Whether a regular expression is invalid in every dialect: an unmatched bracket or parenthesis, a backslash at the
/// end, or a repetition of nothing at the start.
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

/// Whether a regular expression of the schema needs an engine that backtracks.
fn has_backtracking(schema: &Json) -> bool {
    let is_plain = |pattern: &str| {
        // The linear engine supports neither lookaround nor backreferences.
        !pattern.contains("(?=")
            && !pattern.contains("(?!")
            && !pattern.contains("(?<")
            && !pattern.contains("(?>")
            && !pattern.bytes().zip(pattern.bytes().skip(1)).any(|pair| {
                matches!(pair, (b'\\', b'1'..=b'9' | b'k')) // a backreference
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
