//! JSON Schemas of tools: whether one can be used, and whether it allows the arguments of a call, in bounded steps.
//!
//! [`jsonschema`] does the checking. Around it, a schema that is plain is never compiled for arguments that it allows, a
//! [`Fuel`] bounds the steps of a record, and whatever would take too long is a [`Verdict`] of its own.
//!
//! ```
//! use toolcheck_json::Document;
//! use toolcheck_schema::{Fuel, Schemas, Verdict};
//!
//! let schemas = Schemas::new(false);
//! let schema = schemas.of(br#"{"type": "object", "required": ["port"]}"#);
//! let arguments = Document::read(b"{}");
//! let schema = schema.as_ref().as_ref().expect("it can be used");
//! assert_eq!(schema.check(arguments.root(), &mut Fuel::of_record(2)), Verdict::Violated);
//! ```

mod cost;
#[cfg(any(test, target_family = "wasm"))]
mod earlier;
mod fast_accept;
mod fast_validity;
mod fuel;
mod misspelt;
mod pattern;
mod values;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use jsonschema::{Draft, Keyword, PatternOptions, Validator};
use serde_json::{Map, Value as Json, json};
use toolcheck_json::{Document, Value, unescape_step};

use self::cost::{Cost, Plan};
use self::fast_validity::QuickResult;
use self::fuel::Undecided;
pub use self::fuel::{Fuel, OutOfFuel};
pub use self::misspelt::misspelt;
use self::pattern::{Failure, Memory, Pattern};
pub use self::values::Index;

/// The keywords of a schema whose values are strings, which may be the names of types.
pub const KEYWORDS_OF_TEXT: [&str; 4] = ["pattern", "format", "$ref", "$schema"];

/// The schemas that a run has looked at, by their text.
///
/// The transcripts of a log declare the same tools again and again, and compiling a schema is expensive.
#[derive(Debug)]
pub struct Schemas {
    compiled: RefCell<Kept<Compiled>>,
    /// What makes schemas unusable that were not compiled, and whether they may have misspelt keywords.
    seen: RefCell<Kept<(Option<Unusable>, bool)>>,
    /// Whether a key whose value is `null` counts as missing, as in the rows of a table.
    is_padded: bool,
    compilations: Cell<usize>,
}

/// A schema, or why it can't be used.
pub type Compiled = Arc<Result<Schema, Unusable>>;

/// The maximum memory of what is kept of schemas, in bytes: the log of a gateway may have many users, each with their
/// own tools.
const MOST_KEPT: usize = 16 << 20;
/// The memory of a compiled schema for each byte of its text.
const MEMORY_A_BYTE: usize = 16;
/// The memory of regular expressions, in bytes, that is compiled in a step. It takes longer than other steps, but mostly
/// once for a file, and a short request may have a large expression.
const MEMORY_A_STEP: usize = 64;
/// The maximum length of arguments, in bytes, that are checked again to see whether an expression for keys took too long.
const LONGEST_FOR_KEYS: usize = 16 << 10;
/// The steps for a call, and for each byte of its arguments, in which all violations are listed.
const STEPS_TO_LIST: u64 = 20_000;
const STEPS_TO_LIST_A_BYTE: u64 = 8;

/// What is known of schemas, by their text, in bounded memory.
#[derive(Debug)]
struct Kept<T> {
    known: HashMap<Box<[u8]>, T>,
    size: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { known: HashMap::default(), size: 0 }
    }
}

impl<T: Clone> Kept<T> {
    /// Keeps what is known, of this size in memory, and forgets everything else if it is too much.
    fn insert(&mut self, schema: &[u8], known: T, size: usize) {
        let size = size + schema.len() + 64;
        if self.size + size > MOST_KEPT {
            self.known.clear();
            self.size = 0;
        }
        self.size += size;
        self.known.insert(schema.into(), known);
    }
}

/// The memory of a compiled schema, in bytes.
fn size_of(outcome: &Compiled, schema: &[u8]) -> usize {
    outcome.as_ref().as_ref().map_or(0, |compiled| compiled.memory) + MEMORY_A_BYTE * schema.len()
}

impl Schemas {
    /// None is compiled yet. If they are padded, keys whose value is `null` count as missing, as in the rows of a table.
    pub fn new(is_padded: bool) -> Self {
        Self { compiled: RefCell::default(), seen: RefCell::default(), is_padded, compilations: Cell::new(0) }
    }

    /// Returns the schema with this text, compiling it if it is new.
    pub fn of(&self, schema: &[u8]) -> Compiled {
        if let Some(known) = self.compiled.borrow().known.get(schema) {
            return Arc::clone(known);
        }
        self.compilations.set(self.compilations.get() + 1);
        let compile = || Arc::new(Schema::compile(schema, self.is_padded));
        #[cfg(target_family = "wasm")]
        let outcome = earlier::or_compile(schema, self.is_padded, compile);
        #[cfg(not(target_family = "wasm"))]
        let outcome = compile();
        self.compiled.borrow_mut().insert(schema, Arc::clone(&outcome), size_of(&outcome, schema));
        outcome
    }

    /// Why a schema can't be used, whatever the arguments. It is compiled only if that can't be seen at a glance.
    pub fn unusable(&self, schema: Value<'_, '_>) -> Option<Unusable> {
        self.look(schema).0
    }

    /// The same, and whether the schema may have [misspelt] keywords.
    pub fn look(&self, schema: Value<'_, '_>) -> (Option<Unusable>, bool) {
        let text = schema.raw();
        if let Some(known) = self.seen.borrow().known.get(text) {
            return known.clone();
        }
        let (glance, may_be_misspelt) = fast_validity::look(schema, self.is_padded);
        let is_fine = match glance {
            QuickResult::Valid => true,
            QuickResult::Refers => read(text, self.is_padded)
                .is_ok_and(|schema| matches!(Plan::of(&schema).cost(), Cost::Bounded | Cost::OfValue)),
            QuickResult::Unsure => false,
        };
        let unusable = if is_fine { None } else { self.of(text).as_ref().as_ref().err().cloned() };
        let seen = (unusable, may_be_misspelt);
        self.seen.borrow_mut().insert(text, seen.clone(), 0);
        seen
    }
}

/// A schema that can be used.
#[derive(Debug)]
pub struct Schema {
    /// The schema, if arguments that it surely allows need no validator.
    plain: Option<Json>,
    /// Compiled when arguments may be wrong, if the schema is plain.
    validator: OnceLock<Validator>,
    plan: Plan,
    /// The memory of its regular expressions, in bytes, and of those that would be too large.
    memory: usize,
    /// Whether one of its regular expressions backtracks, and may therefore take forever.
    has_backtracking: bool,
}

/// What checking arguments against a schema has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The schema allows the arguments.
    Allowed,
    /// It does not allow them.
    Violated,
    /// It is unknown whether it does, because checking takes too long.
    TooSlow,
    /// It is unknown, because a regular expression is too large.
    TooLarge,
    /// It is unknown, because a text or the arguments are too long for a regular expression that backtracks.
    TooLong,
    /// It is unknown, which is reported elsewhere.
    Unknown,
}

/// Why a schema can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
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
    /// It has a regular expression for keys that would be too large.
    TooLarge,
}

fn read(schema: &[u8], is_padded: bool) -> Result<Json, Unusable> {
    let mut schema: Json = serde_json::from_slice(schema).map_err(|_| Unusable::Unreadable)?;
    if is_padded {
        remove_padding(&mut schema);
    }
    spell_as_json_schema(&mut schema);
    Ok(schema)
}

impl Schema {
    /// Compiles a schema from its text. If it is padded, keys whose value is `null` are ignored.
    ///
    /// # Errors
    ///
    /// It can't be used.
    pub fn compile(schema: &[u8], is_padded: bool) -> Result<Self, Unusable> {
        let json = read(schema, is_padded)?;
        let document = Document::read(schema);
        let glance = fast_validity::glance(document.root(), is_padded);
        let plan = Plan::of(&json);
        let is_affordable = matches!(plan.cost(), Cost::Bounded | Cost::OfValue);
        if glance == QuickResult::Unsure || !is_affordable || has_patterns(&json) {
            return Self::planned(&json, plan);
        }
        let (validator, plain) = (OnceLock::new(), Some(json));
        Ok(Self { plain, validator, plan, memory: 0, has_backtracking: false })
    }

    /// Compiles a schema that is written in JSON Schema.
    ///
    /// # Errors
    ///
    /// It can't be used.
    pub fn of(schema: &Json) -> Result<Self, Unusable> {
        Self::planned(schema, Plan::of(schema))
    }

    fn planned(schema: &Json, plan: Plan) -> Result<Self, Unusable> {
        if plan.cost() == Cost::Endless {
            return Err(Unusable::Endless);
        }
        let memory = Memory::default();
        check_patterns_of_keys(schema, &memory)?;
        let validator = validator(schema, &memory, None)?;
        if plan.cost() == Cost::Unknown {
            // It is valid, but its cost is unknown.
            return Err(Unusable::Foreign);
        }
        let has_backtracking = has_backtracking(schema);
        let (validator, plain) = (OnceLock::from(validator), None);
        Ok(Self { plain, validator, plan, memory: memory.tried(), has_backtracking })
    }

    /// The validator; `None` if it can't be compiled, which no schema shows that is valid at a glance.
    fn validator(&self) -> Option<&Validator> {
        if let (None, Some(plain)) = (self.validator.get(), &self.plain) {
            let draft = is_alike_in_draft_07(plain).then_some(Draft::Draft7);
            let _ = self.validator.set(validator(plain, &Memory::default(), draft).ok()?);
        }
        self.validator.get()
    }

    /// Takes the steps of compiling it, from each record that needs it: whether an earlier one did is chance.
    ///
    /// # Errors
    ///
    /// There are fewer left.
    pub fn take_compiling(&self, fuel: &mut Fuel) -> Result<(), OutOfFuel> {
        fuel.take((self.memory / MEMORY_A_STEP) as u64)
    }

    /// Whether it allows the arguments, which must be valid JSON. Takes steps from those of the record.
    pub fn check(&self, arguments: Value<'_, '_>, fuel: &mut Fuel) -> Verdict {
        if self.plan.take(arguments, fuel).is_err() {
            return Verdict::TooSlow;
        }
        if self.plain.as_ref().is_some_and(|plain| fast_accept::allows(plain, arguments)) {
            return Verdict::Allowed;
        }
        let Some(validator) = self.validator() else { return Verdict::Unknown };
        let instance = values::json(arguments);
        let (is_valid, undecided) = fuel.lend(|| validator.is_valid(&instance));
        match undecided {
            Some(Undecided::Large) => Verdict::TooLarge,
            Some(Undecided::Slow) => Verdict::TooSlow,
            Some(Undecided::Long) => Verdict::TooLong,
            None if is_valid => Verdict::Allowed,
            None if self.has_backtracking => check_keys(validator, &instance, arguments.raw().len()),
            None => Verdict::Violated,
        }
    }

    /// Calls `see` with the errors in the arguments. Call it only after [`Self::check`] has found a violation. If they are
    /// padded, keys whose value is `null` count as missing where the schema does not allow `null`.
    pub fn with_errors<R>(
        &self,
        arguments: Value<'_, '_>,
        is_padded: bool,
        see: impl FnOnce(Errors<'_>) -> R,
    ) -> R {
        let mut instance = values::json(arguments);
        if is_padded {
            let errors = self.errors(arguments, &instance).listed.into_iter();
            let of_null = errors.filter(|error| error.instance().is_null());
            let paths: Vec<String> = of_null.map(|error| error.instance_path().to_string()).collect();
            paths.iter().for_each(|path| values::remove_null(&mut instance, path));
        }
        see(self.errors(arguments, &instance))
    }

    fn errors<'i>(&'i self, arguments: Value<'_, '_>, instance: &'i Json) -> Errors<'i> {
        let Some(validator) = self.validator() else { return Errors { listed: Vec::new(), are_all: true } };
        let length = arguments.raw().len();
        let mut to_list = Fuel::steps(STEPS_TO_LIST + STEPS_TO_LIST_A_BYTE * length as u64);
        if self.plan.take(arguments, &mut to_list).is_ok() {
            // Unlike the check before, it does not stop at the first error.
            let mut fuel = Fuel::of_record(8 * length);
            let (errors, undecided) = fuel.lend(|| validator.iter_errors(instance).collect());
            if undecided.is_none() {
                return Errors { listed: errors, are_all: true };
            }
        }
        let mut fuel = Fuel::of_record(8 * length);
        let (first, undecided) = fuel.lend(|| validator.validate(instance).err());
        Errors { listed: first.filter(|_| undecided.is_none()).into_iter().collect(), are_all: false }
    }
}

/// What is wrong with arguments.
#[derive(Debug)]
pub struct Errors<'i> {
    /// The errors in the order of the schema: the first at most, if there may be very many.
    pub listed: Vec<ValidationError<'i>>,
    /// Whether no others are left out.
    pub are_all: bool,
}

/// Compiles a schema, with what its regular expressions take.
fn validator(schema: &Json, memory: &Memory, draft: Option<Draft>) -> Result<Validator, Unusable> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(pattern::BACKTRACK_LIMIT)
        .size_limit(pattern::MOST_MEMORY)
        .dfa_size_limit(pattern::MOST_STATES);
    let of_pattern = memory.clone();
    let options = jsonschema::options();
    let options = match draft {
        Some(draft) => options.with_draft(draft),
        None => options,
    };
    options
        .offline()
        .with_pattern_options(patterns)
        .with_keyword("pattern", move |_, value, _| pattern_keyword(value, &of_pattern))
        .build(schema)
        .map_err(|error| Unusable::because(&error, schema))
}

/// The verdict about arguments of this length, in bytes, that are not allowed, if an expression for keys may have backtracked for too long.
fn check_keys<'i>(validator: &'i Validator, instance: &'i Json, length: usize) -> Verdict {
    if length > LONGEST_FOR_KEYS {
        return Verdict::TooLong;
    }
    let is_endless = |error: ValidationError<'i>| {
        matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. })
    };
    let mut fuel = Fuel::of_record(length);
    let (is_endless, undecided) = fuel.lend(|| validator.iter_errors(instance).any(is_endless));
    if is_endless && undecided.is_none() { Verdict::TooSlow } else { Verdict::Violated }
}

/// Whether a schema that is valid at a glance says the same in draft 7. Its meta-schema, which is compiled to compile any
/// other, takes a third of the time that the one of the latest draft does.
fn is_alike_in_draft_07(schema: &Json) -> bool {
    match schema {
        Json::Object(members) => members.iter().all(|(key, value)| {
            !key.starts_with('$') && key != "format" && key != "prefixItems" && is_alike_in_draft_07(value)
        }),
        Json::Array(elements) => elements.iter().all(is_alike_in_draft_07),
        _ => true,
    }
}

fn has_patterns(schema: &Json) -> bool {
    match schema {
        // A property may have the name of a keyword: its value is a schema.
        Json::Object(members) => members.iter().any(|(key, value)| match (key.as_str(), value) {
            ("pattern", Json::String(_)) | ("patternProperties", Json::Object(_)) => true,
            (_, value) => has_patterns(value),
        }),
        Json::Array(elements) => elements.iter().any(has_patterns),
        _ => false,
    }
}

fn pattern_keyword<'a>(
    value: &'a Json,
    memory: &Memory,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let text = value.as_str().ok_or_else(|| ValidationError::schema("no string"))?;
    match Pattern::compile(text, memory) {
        Ok(pattern) => Ok(Box::new(pattern)),
        Err(_) => Err(ValidationError::schema("not a regular expression")),
    }
}

/// Checks that the expressions in `patternProperties`, which the library compiles, are small enough.
fn check_patterns_of_keys(schema: &Json, memory: &Memory) -> Result<(), Unusable> {
    match schema {
        Json::Object(members) => {
            for (key, value) in members {
                if let ("patternProperties", Json::Object(patterns)) = (key.as_str(), value) {
                    for pattern in patterns.keys() {
                        // Whether it is invalid is for the library to say.
                        if pattern::check(pattern, memory) == Err(Failure::TooLarge) {
                            return Err(Unusable::TooLarge);
                        }
                    }
                }
                check_patterns_of_keys(value, memory)?;
            }
            Ok(())
        }
        Json::Array(elements) => elements.iter().try_for_each(|inner| check_patterns_of_keys(inner, memory)),
        _ => Ok(()),
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
            Self::TooLarge => f.write_str("contains a regular expression that is too large"),
        }
    }
}

impl Unusable {
    /// Takes the steps of finding out that the schema is unusable.
    ///
    /// # Errors
    ///
    /// There are fewer left.
    pub fn take_compiling(&self, fuel: &mut Fuel) -> Result<(), OutOfFuel> {
        if *self == Self::TooLarge {
            fuel.take((pattern::MOST_MEMORY / MEMORY_A_STEP) as u64)
        } else {
            Ok(())
        }
    }

    fn because(error: &ValidationError<'_>, schema: &Json) -> Self {
        let pointer = match error.kind() {
            // The keyword that is ours only knows where it stands in the schema.
            ValidationErrorKind::Custom { .. } => error.schema_path().to_string(),
            _ => error.instance_path().to_string(),
        };
        match error.kind() {
            ValidationErrorKind::Referencing(error) => match error {
                jsonschema::ReferencingError::PointerToNowhere { .. } => Self::DeadReference,
                _ => Self::Foreign,
            },
            // Not every regular expression of ECMA-262 is supported, and some are too large.
            ValidationErrorKind::Format { .. } | ValidationErrorKind::Custom { .. } => {
                let value = schema.pointer(&pointer).and_then(Json::as_str);
                let key = || pointer.rsplit('/').next().map(unescape_step);
                if value.map(Cow::from).or_else(key).is_some_and(|pattern| is_broken(&pattern)) {
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

/// Whether a regular expression needs no engine that backtracks: no lookaround and no backreferences.
fn is_plain(pattern: &str) -> bool {
    !pattern.contains("(?=")
        && !pattern.contains("(?!")
        && !pattern.contains("(?<")
        && !pattern.contains("(?>")
        && !pattern.bytes().zip(pattern.bytes().skip(1)).any(|pair| {
            matches!(pair, (b'\\', b'1'..=b'9' | b'k')) // a backreference
        })
}

/// Whether a regular expression for keys needs an engine that backtracks.
fn has_backtracking(schema: &Json) -> bool {
    match schema {
        Json::Object(members) => members.iter().any(|(key, value)| match (key.as_str(), value) {
            ("patternProperties", Json::Object(patterns)) => {
                patterns.keys().any(|pattern| !is_plain(pattern)) || patterns.values().any(has_backtracking)
            }
            (_, value) => has_backtracking(value),
        }),
        Json::Array(elements) => elements.iter().any(has_backtracking),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
