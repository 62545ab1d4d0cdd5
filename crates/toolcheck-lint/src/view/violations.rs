//! Where a value violates a schema, and how, in words of what the value is.

use std::borrow::Cow;
use std::cell::LazyCell;

use foldhash::{HashMap, HashSet};
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use toolcheck_core::ir::Place;
use toolcheck_core::suggest::similar;
use toolcheck_core::text::shorten;
use toolcheck_json::{NodeId, Value, unescape_step};
use toolcheck_schema::{Index, Schema};

use crate::view::arguments::{self, Locate};

/// The most violations that are reported for one value.
const MOST: usize = 20;

/// How messages name the parts of a value.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) member: &'static str,
    /// The whole value, if it is an object.
    pub(crate) object: &'static str,
    /// The whole value, if it is anything else.
    pub(crate) whole: &'static str,
    /// Whether the keys that a schema requires are quoted: not if the schema stands in a text of the transcript.
    pub(crate) quotes_required: bool,
}

/// The places and messages of the violations of a schema. If the value is padded, keys whose value is `null` count as
/// missing. `declared` is the schema as the file has it, if it does, whose keys are suggested. Call it only after [`Schema::check`] has found a violation.
pub(crate) fn list(
    schema: &Schema,
    declared: Option<Value<'_, '_>>,
    root: Value<'_, '_>,
    is_padded: bool,
    words: &Words,
    locate: &Locate<'_>,
) -> Vec<(Place, String)> {
    let index = Index::default();
    schema.with_errors(root, is_padded, |errors| {
        let at = |error: &ValidationError<'_>| arguments::value_of(root, &index, error);
        let has_type =
            |error: &&ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Type { .. });
        let of_types = errors.listed.iter().filter(has_type).filter_map(at);
        let of_types: HashSet<NodeId> = of_types.map(Value::id).collect();
        let misspelt =
            Misspelt::find(errors.listed.iter().filter_map(|error| Some((at(error)?, error))), declared);
        let listed = errors.listed.iter().flat_map(|error| match at(error) {
            Some(at) if is_padded && at.is_null() => Vec::new(),
            // A value of the wrong type is none of the allowed ones, whatever they are.
            Some(at) if of_types.contains(&at.id()) && is_of_values(error) => Vec::new(),
            Some(at) if misspelt.explains(at.id(), error) => Vec::new(),
            Some(at) => messages(error, at, &misspelt, at.id() == root.id(), is_padded, words, locate),
            None => Vec::new(),
        });
        let mut reported = HashSet::default();
        let listed = listed.filter(|violation| reported.insert(violation.clone()));
        let mut violations: Vec<_> = listed.take(MOST).collect();
        if violations.is_empty() && !errors.are_all {
            violations.push((locate(root, false), format!("{} does not match", words.whole)));
        }
        violations
    })
}

/// Keys that an object must not have, in place of those that it lacks.
struct Misspelt {
    /// For each object its keys, each with the one that is meant.
    meant: HashMap<NodeId, Vec<(String, String)>>,
}

impl Misspelt {
    fn find<'e, 'v: 'e, 'd, 's: 'd>(
        errors: impl Iterator<Item = (Value<'d, 's>, &'e ValidationError<'v>)> + Clone,
        declared: Option<Value<'_, '_>>,
    ) -> Self {
        let mut missing: HashMap<NodeId, Vec<&str>> = HashMap::default();
        for (at, error) in errors.clone() {
            if let Some(name) = missing_key(error) {
                let names = missing.entry(at.id()).or_default();
                names.extend(Some(name).filter(|_| names.len() < MOST));
            }
        }
        let mut meant: HashMap<NodeId, Vec<(String, String)>> = HashMap::default();
        for (object, error) in errors {
            let Some(unexpected) = unexpected(error) else { continue };
            let at = object.id();
            let optional = || declared.map_or_else(Vec::new, |schema| properties_at(schema, error));
            let optional = LazyCell::new(optional);
            for key in unexpected.iter().take(MOST) {
                let names = missing.get(&at).into_iter().flatten().copied();
                let required = similar(key, names).name().map(str::to_owned);
                if let Some(name) = &required
                    && let Some(names) = missing.get_mut(&at)
                {
                    names.retain(|known| known != name);
                }
                let free = || optional.iter().map(|name| &**name).filter(|name| object.get(name).is_none());
                let name = required.or_else(|| similar(key, free()).name().map(str::to_owned));
                let Some(name) = name else { continue };
                meant.entry(at).or_default().push((key.clone(), name));
            }
        }
        Self { meant }
    }

    /// Whether an error says only that a key is missing that is there with a mistake in it.
    fn explains(&self, at: NodeId, error: &ValidationError<'_>) -> bool {
        let Some(name) = missing_key(error) else { return false };
        self.meant.get(&at).is_some_and(|keys| keys.iter().any(|(_, meant)| meant == name))
    }

    fn of(&self, at: NodeId, key: &str) -> Option<&str> {
        let keys = self.meant.get(&at)?;
        keys.iter().find(|(own, _)| own == key).map(|(_, meant)| &**meant)
    }
}

/// The properties of an object that has a key too many, as far as the schema names them where it forbids others.
fn properties_at<'s>(schema: Value<'_, 's>, error: &ValidationError<'_>) -> Vec<Cow<'s, str>> {
    let path = error.schema_path().to_string();
    let (around, _) = path.rsplit_once('/').unwrap_or_default();
    let properties = schema.pointer(around).and_then(|around| around.get("properties"));
    let properties = properties.into_iter().flat_map(|properties| properties.members());
    properties.take(MOST_PROPERTIES).filter_map(Value::key_text).collect()
}

/// The most properties that are compared with a key.
const MOST_PROPERTIES: usize = 64;

/// The names of the properties on the way to a value, such as `where.city`: only those that the schema names, as the keys of a
/// map may be data.
fn way_to(error: &ValidationError<'_>, at: Value<'_, '_>) -> Option<String> {
    let key = at.key_text()?;
    let path = error.schema_path().to_string();
    let mut steps = path.split('/').skip(1);
    let (mut way, mut last) = (String::new(), None);
    while let Some(step) = steps.next() {
        match step {
            "properties" => {
                let name = unescape_step(steps.next()?).into_owned();
                way = if way.is_empty() { name.clone() } else { format!("{way}.{name}") };
                last = Some(name);
            }
            "items" => {
                way.push_str("[]");
                last = None;
            }
            "additionalProperties" | "patternProperties" if steps.clone().next().is_some() => {
                way.push_str(".*");
                last = None;
            }
            _ => {}
        }
    }
    (last.as_deref() == Some(&*key)).then_some(way)
}

/// The key that an object lacks, if that is the error.
fn missing_key<'e>(error: &'e ValidationError<'_>) -> Option<&'e str> {
    match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str(),
        _ => None,
    }
}

/// The keys that an object must not have, of an error that lists them.
fn unexpected<'e>(error: &'e ValidationError<'_>) -> Option<&'e [String]> {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => Some(unexpected),
        _ => None,
    }
}

fn is_of_values(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. })
}

/// The places and messages of an error. The messages contain no values from the transcript.
fn messages(
    error: &ValidationError<'_>,
    at: Value<'_, '_>,
    misspelt: &Misspelt,
    is_whole: bool,
    is_padded: bool,
    words: &Words,
    locate: &Locate<'_>,
) -> Vec<(Place, String)> {
    let Words { member: kind, object, whole, quotes_required } = words;
    let way = if is_whole { None } else { way_to(error, at) };
    let below = |key: &str| {
        let way = way.as_deref().map_or_else(|| key.to_owned(), |way| format!("{way}.{key}"));
        shorten(&way).into_owned()
    };
    let title = match at.key_text() {
        Some(key) if !is_whole => format!("{kind} `{}`", shorten(way.as_deref().unwrap_or(&key))),
        _ if is_whole && at.is_object() => (*object).to_owned(),
        _ if is_whole => (*whole).to_owned(),
        _ => "an array element".to_owned(),
    };
    let members = at.members().filter(|member| !(is_padded && member.is_null()));
    let members = members.filter_map(|member| Some((member.key_text()?, member)));
    let unknown = |(key, member): (Cow<'_, str>, Value<'_, '_>)| {
        let meant = similar(&key, misspelt.of(at.id(), &key).filter(|_| *quotes_required));
        (locate(member, true), format!("unknown {kind} `{}`{meant}", below(&key)))
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or("?");
            // A table has its key.
            let place = at.get(name).map_or_else(|| locate(at, false), |null| locate(null, true));
            let quoted = if *quotes_required { format!(" `{}`", below(name)) } else { String::new() };
            vec![(place, format!("missing {kind}{quoted}"))]
        }
        ValidationErrorKind::AdditionalProperties { .. }
        | ValidationErrorKind::UnevaluatedProperties { .. } => {
            let unexpected = unexpected(error).unwrap_or_default();
            let unexpected: HashSet<&str> = unexpected.iter().map(String::as_str).collect();
            members.filter(|(key, _)| unexpected.contains(&**key)).map(unknown).collect()
        }
        // If a schema declares no arguments and allows no others, each one is unknown.
        ValidationErrorKind::FalseSchema
            if at.is_object() && error.schema_path().to_string().ends_with("/additionalProperties") =>
        {
            members.map(unknown).collect()
        }
        ValidationErrorKind::FalseSchema => {
            vec![(locate(at, !is_whole), format!("{title} is not allowed"))]
        }
        // The keys of a map may be data, so they are not quoted.
        ValidationErrorKind::PropertyNames { .. } => {
            vec![(locate(at, false), format!("{title} has a key that is not allowed"))]
        }
        ValidationErrorKind::Contains => {
            vec![(locate(at, false), format!("{title} has no element that matches `contains`"))]
        }
        ValidationErrorKind::Type { kind } => {
            vec![(locate(at, false), format!("{title} is not of type {}", expected(kind)))]
        }
        _ if is_of_values(error) => {
            vec![(locate(at, false), format!("{title} is not one of the allowed values"))]
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            vec![(locate(at, false), format!("{title} does not match any of the allowed alternatives"))]
        }
        // A text that takes too long to match says nothing about the value.
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. }
        | ValidationErrorKind::Referencing(_) => Vec::new(),
        _ => {
            let masked = error.masked().to_string();
            vec![(locate(at, false), format!("{title} is invalid: {}", shorten(&masked)))]
        }
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}
