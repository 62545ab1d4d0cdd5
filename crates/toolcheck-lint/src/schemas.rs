//! The schemas of tools, compiled once and kept from one transcript to the next.

use std::cell::RefCell;
use std::rc::Rc;

use jsonschema::{PatternOptions, Validator};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use toolcheck_core::tools::Definition;

/// The schemas that a run has compiled, by their text.
///
/// The transcripts of a log declare the same tools again and again, and compiling is dear.
#[derive(Debug)]
pub struct Schemas<'o> {
    compiled: RefCell<FxHashMap<Box<[u8]>, Compiled>>,
    /// The tools that are declared beside the transcripts.
    pub(crate) declared: &'o [Definition],
}

/// What became of a schema.
type Compiled = Option<Rc<Validator>>;

/// How many schemas are kept: a log of a gateway may have any number of users, each with tools of their own.
const MOST_KEPT: usize = 4096;
/// How often a regular expression of a schema may go back over a text. They are not ours, and may be made to take
/// for ever.
const BACKTRACK_LIMIT: usize = 100_000;

impl<'o> Schemas<'o> {
    /// The schemas of tools that are declared beside the transcripts, none compiled yet.
    pub(crate) fn declaring(declared: &'o [Definition]) -> Self {
        Self { compiled: RefCell::default(), declared }
    }

    /// The validator of a schema; `None` where it can't be used: where it is no schema, or refers to another document.
    pub(crate) fn of(&self, schema: &[u8]) -> Option<Rc<Validator>> {
        let mut compiled = self.compiled.borrow_mut();
        if let Some(known) = compiled.get(schema) {
            return known.clone();
        }
        if compiled.len() >= MOST_KEPT {
            compiled.clear();
        }
        let validator = compile(schema).map(Rc::new);
        compiled.insert(schema.into(), validator.clone());
        validator
    }
}

fn compile(schema: &[u8]) -> Option<Validator> {
    let mut schema: Json = serde_json::from_slice(schema).ok()?;
    spell_as_json_schema(&mut schema);
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
    jsonschema::options().offline().with_pattern_options(patterns).build(&schema).ok()
}

/// OpenAPI's spelling as JSON Schema's: types in upper case (as Gemini has them), and `nullable`.
fn spell_as_json_schema(schema: &mut Json) {
    match schema {
        Json::Object(members) => {
            if let Some(Json::String(kind)) = members.get_mut("type") {
                const TYPES: [&str; 7] =
                    ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
                if TYPES.contains(&kind.as_str()) {
                    kind.make_ascii_lowercase();
                }
                if members.get("nullable") == Some(&Json::Bool(true)) {
                    let kind = members["type"].clone();
                    members.insert("type".to_owned(), Json::Array(vec![kind, Json::from("null")]));
                }
            }
            // What is given as an example or a value is no schema.
            let subschemas = members
                .iter_mut()
                .filter(|(key, _)| !matches!(key.as_str(), "enum" | "const" | "default" | "examples"));
            subschemas.for_each(|(_, value)| spell_as_json_schema(value));
        }
        Json::Array(elements) => elements.iter_mut().for_each(spell_as_json_schema),
        _ => {}
    }
}
