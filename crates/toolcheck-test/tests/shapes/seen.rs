//! What somebody has seen of shapes: each fact of each target has a line in the corpus that it explains.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toml::{Table, Value as Toml};
use toolcheck_core::shape::{Shape, ShapeFault};
use toolcheck_core::targets::{self, Pattern, Target};
use toolcheck_json::Document;

use crate::testing::root;

/// Facts that no line can show, each with the reason: the target, the object, the field and the fault.
const WITHOUT_LINE: &[(&str, &str, &str, &str, &str)] = &[
    (
        "openai-chat",
        "request",
        "model",
        "missing",
        "a file may be what somebody has kept of a request, so only the mock asks for the model",
    ),
    (
        "openai-responses",
        "message.typed",
        "role",
        "value",
        "the rule `unknown-role` answers with the roles in their order, and the shape in another",
    ),
];

/// Lines with two findings, each with the reason: the target, and a piece of the line.
const WITH_TWO: &[(&str, &str, &str)] = &[(
    "anthropic",
    r#""model": "claude-haiku-4-5", "max_tokens": 64, "messages": [{"role": "user", "content": "Name a lake."}], "output_config""#,
    "the fact is about a model, which a body with this version does not name",
)];

/// The keys of a fact that ask for nothing.
const ABOUT: &str = "object field fields fault model except-model where unless got status text help evidence sources seen \
    doubt rule checked-by note";

#[test]
fn every_fact_that_was_seen_has_a_line() {
    let mut missing = Vec::new();
    let mut idle = Vec::new();
    let mut count = 0;
    for target in targets::all().filter(|target| target.union.is_empty()) {
        let lines = Lines::of(target);
        let mut used = vec![false; lines.bad.len()];
        let mut facts = facts(target);
        count += facts.len();
        // What holds only sometimes finds its line first.
        facts.sort_by_key(|fact| std::cmp::Reverse(fact.conditions()));
        for fact in &facts {
            let line = (0..lines.bad.len()).find(|line| !used[*line] && lines.is_explained(*line, fact));
            let is_left_out = WITHOUT_LINE.iter().any(|(id, object, field, fault, _)| {
                (*id, *object, *field, *fault) == (&*target.id, &*fact.object, &*fact.field, &*fact.fault)
            });
            match line {
                Some(line) => used[line] = true,
                None if is_left_out => {}
                None => {
                    missing.push(format!("{} {} `{}` {}", target.id, fact.object, fact.field, fact.fault))
                }
            }
            assert!(!(line.is_some() && is_left_out), "{} {} has a line after all", target.id, fact.object);
        }
        let left = used.iter().enumerate().filter(|(_, is_used)| !**is_used);
        idle.extend(left.map(|(line, _)| format!("{} line {}: {}", target.id, line + 1, lines.bad[line])));
    }
    assert!(count > 300, "somebody has seen: {count}");
    assert!(missing.is_empty(), "{} of {count} have no line:\n{}", missing.len(), missing.join("\n"));
    assert!(idle.is_empty(), "these lines show nothing that was seen:\n{}", idle.join("\n"));
}

struct Fact {
    object: String,
    /// Empty if it is about the object as a whole.
    field: String,
    fault: String,
    table: Table,
}

impl Fact {
    fn text(&self, key: &str) -> Option<&str> {
        self.table.get(key).and_then(Toml::as_str)
    }

    fn conditions(&self) -> usize {
        ["model", "except-model", "where", "unless", "got", "refused-values"]
            .iter()
            .filter(|key| self.table.contains_key(**key))
            .count()
    }

    fn fits_model(&self, model: Option<&str>) -> bool {
        let fits =
            |pattern: &str| model.is_some_and(|model| Pattern::from(pattern.to_owned()).is_match(model));
        self.text("model").is_none_or(fits) && !self.text("except-model").is_some_and(fits)
    }

    /// Whether the pieces of the text between the placeholders are in what the API answers, in this order.
    fn fits_text(&self, answer: Option<&str>) -> bool {
        let Some(text) = self.text("text").filter(|text| !text.is_empty()) else { return true };
        let Some(mut rest) = answer else { return false };
        let mut pieces = text.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, piece)| piece));
        pieces.all(|piece| {
            let piece = piece.trim_matches([' ', ':', ',']);
            let found = rest.find(piece);
            rest = found.map_or("", |at| &rest[at + piece.len()..]);
            found.is_some()
        })
    }
}

/// The facts of a target's own file that somebody has seen, or that ask for more than the documents.
fn facts(target: &Target) -> Vec<Fact> {
    let file = root().join(format!("crates/toolcheck-core/targets/{}.toml", target.id));
    let table: Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let all = table.get("shape").and_then(|shape| shape.get("fact")).and_then(Toml::as_array);
    let is_shown = |fact: &&Table| {
        let is_seen = matches!(fact["evidence"].as_str(), Some("recorded" | "reported"));
        is_seen || fact.keys().any(|key| ABOUT.split(' ').all(|about| about != key))
    };
    let mut facts = Vec::new();
    for table in all.into_iter().flatten().filter_map(Toml::as_table).filter(is_shown) {
        let fields = match (table.get("field"), table.get("fields").and_then(Toml::as_array)) {
            (_, Some(fields)) => fields.iter().map(|field| field.as_str().unwrap()).collect(),
            (Some(field), None) => vec![field.as_str().unwrap()],
            (None, None) => vec![""],
        };
        facts.extend(fields.into_iter().map(|field| Fact {
            object: table["object"].as_str().unwrap().to_owned(),
            field: field.to_owned(),
            fault: table["fault"].as_str().unwrap().to_owned(),
            table: table.clone(),
        }));
    }
    facts
}

struct Lines {
    shape: Option<&'static Shape>,
    bad: Vec<String>,
}

impl Lines {
    fn of(target: &'static Target) -> Self {
        let folder = root().join("fixtures/shapes").join(&*target.id);
        let bad = lines(&folder.join("seen.jsonl"));
        let good = lines(&folder.join("seen-fixed.jsonl"));
        assert_eq!(bad.len(), good.len(), "{}: each line has a clean twin", target.id);
        for (number, (bad, good)) in bad.iter().zip(&good).enumerate() {
            assert_ne!(bad, good, "{} line {}", target.id, number + 1);
        }
        let counts = findings(&folder.join("seen.expect.json"), bad.len());
        for (number, (line, count)) in bad.iter().zip(counts).enumerate() {
            let has_two = WITH_TWO.iter().any(|(id, piece, _)| *id == &*target.id && line.contains(piece));
            assert_eq!(count, if has_two { 2 } else { 1 }, "{} line {}: {line}", target.id, number + 1);
        }
        Self { shape: target.shape(), bad }
    }

    /// Whether a line has a fault that a fact is about.
    fn is_explained(&self, line: usize, fact: &Fact) -> bool {
        let Some(shape) = self.shape else { return false };
        let text = &self.bad[line];
        let document = Document::read(text.as_bytes());
        let body: Json = serde_json::from_str(text).unwrap();
        let model = body.get("model").or_else(|| body.get("modelId")).and_then(Json::as_str);
        let faults = shape.check_request(&shape.facts_for(model), document.root(), true);
        faults.iter().any(|fault| {
            let is_whole = fact.field.is_empty() && matches!(&*fact.fault, "unknown" | "union" | "none");
            fault.kind.name() == fact.fault
                && (is_whole || fault.key == fact.field)
                && is_named(shape, fault, &fact.object)
                && fact.text("got").is_none_or(|got| type_name(&document, fault) == got)
                && fact.fits_model(model)
                && fact.fits_text(fault.answer(shape, &document, model).text.as_deref())
        })
    }
}

/// How many findings an expectation has for each line.
fn findings(path: &Path, lines: usize) -> Vec<usize> {
    let mut counts = vec![0; lines];
    if let Ok(expectation) = std::fs::read(path) {
        let expectation: Json = serde_json::from_slice(&expectation).unwrap();
        for finding in expectation["findings"].as_array().unwrap() {
            counts[finding["record"].as_u64().unwrap_or_default() as usize] += 1;
        }
    }
    counts
}

fn lines(path: &Path) -> Vec<String> {
    let path: PathBuf = path.into();
    if !path.exists() {
        return Vec::new();
    }
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Whether the object of a fault has a name, or adds to one that has it.
fn is_named(shape: &Shape, fault: &ShapeFault<'_>, name: &str) -> bool {
    fault.object() == name
        || shape
            .objects()
            .into_iter()
            .any(|object| object.name() == fault.object() && object.bases().any(|base| base == name))
}

/// The JSON type of what is wrong.
fn type_name(document: &Document<'_>, fault: &ShapeFault<'_>) -> &'static str {
    let raw = document.value(fault.node()).raw();
    match raw.first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "boolean",
        Some(b'"') => "string",
        Some(b'[') => "array",
        Some(b'{') => "object",
        _ => "number",
    }
}
