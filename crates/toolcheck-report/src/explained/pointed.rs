//! What an error names in a request in which nothing is found that causes it.

use toolcheck_core::RuleId;
use toolcheck_core::ir::Place;
use toolcheck_core::recognise::Recognised;
use toolcheck_core::unsupported::list_of;
use toolcheck_json::{Document, Records, Value};
use toolcheck_lint::{Category, FileReport, Report, Rule, rules};

use super::{Explained, Named, Places};

/// The most values of a text that are looked up.
const MOST_NAMES: usize = 16;

/// How an error names a value. The surest way is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    KeyAtPlace,
    Place,
    Key,
    Text,
}

impl Explained {
    /// Points at what the error names, if nothing is found that causes it. The last one of several requests is the likeliest: it
    /// ended with the error.
    pub(super) fn point_in(&mut self, request: &[u8]) {
        let Some(best) = self.reading.matches.first() else { return };
        if is_seen_in_file(rules::get(best.refusal.rule)) {
            return;
        }
        let Some(Places::Others(others)) = &self.places else { return };
        let [file] = &others.files[..] else { return };
        let mut found: Option<(Way, FileReport)> = None;
        for record in Records::new(request) {
            let document = Document::read(record.bytes);
            let root = document.root();
            if !root.is_array() && list_of(root).is_none() {
                continue;
            }
            let Some((way, value)) = named_in(root, &self.reading.matches, &self.named) else { continue };
            if found.as_ref().is_none_or(|(known, _)| way <= *known) {
                let (place, what) = match way {
                    Way::KeyAtPlace | Way::Key => (Place::of_key(value), "the error names this key"),
                    Way::Place => (Place::of(value), "the error names this place"),
                    Way::Text => (Place::of(value), "the error names this"),
                };
                found = Some((way, file.pointing_at(&document, &record, place, best.refusal.rule, what)));
            }
        }
        if let Some((_, file)) = found
            && let Some(Places::Others(others)) = self.places.take()
        {
            self.places = Some(Places::Named(Report::new(vec![file]), others));
        }
    }
}

/// The value of a request that an error names in the surest way.
fn named_in<'d, 's>(
    root: Value<'d, 's>,
    matches: &[Recognised],
    named: &[Named],
) -> Option<(Way, Value<'d, 's>)> {
    let captures = matches.iter().flat_map(|found| &found.captures);
    let (mut keys, mut paths, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in captures.filter(|(name, _)| !says_nothing(name)) {
        let names = match &**name {
            "field" | "fields" => &mut keys,
            name if name.ends_with("path") || name.ends_with("context") => &mut paths,
            _ => &mut texts,
        };
        let of_list = value.split(", ").map(|one| one.trim_matches(|one| "'\"`".contains(one)));
        for one in of_list.filter(|one| !one.is_empty()) {
            if names.len() < MOST_NAMES && !names.contains(&one) {
                names.push(one);
            }
        }
    }
    let places: Vec<_> =
        named.iter().filter_map(|one| Some((&one.place, one.place.find_in(root)?))).collect();
    let mut at_places = places.iter().flat_map(|(_, place)| keys.iter().map(move |key| (*place, *key)));
    if let Some(value) = at_places.find_map(|(place, key)| place.get(key)) {
        return Some((Way::KeyAtPlace, value));
    }
    // What is not where the error says is not what it means.
    if places.is_empty() {
        keys.append(&mut paths);
        let found = keys.iter().find_map(|key| nearest(root, |value| value.has_key(last_name(key))));
        if let Some(value) = found {
            return Some((Way::Key, value));
        }
    } else if keys.is_empty()
        && let Some((_, value)) = places.iter().find(|(place, value)| place.ends_at(*value))
    {
        return Some((Way::Place, *value));
    }
    let found = texts.iter().find_map(|text| nearest(root, |value| is_text(value, text)));
    found.map(|value| (Way::Text, value))
}

/// Whether the file shows all that a rule needs: which result answers which call, in which order, and what is there at all.
fn is_seen_in_file(rule: &Rule) -> bool {
    match rule.category {
        Category::Pairing | Category::Order => true,
        Category::Ids => rule.id != RuleId::UnresolvedReference,
        _ => rule.id == RuleId::MissingField,
    }
}

/// Whether a placeholder is for what the request need not have, or has in many places: numbers, types and what is allowed.
fn says_nothing(placeholder: &str) -> bool {
    const OTHERS: [&str; 17] = [
        "index",
        "part",
        "member",
        "part-member",
        "line",
        "column",
        "max",
        "min",
        "length",
        "count",
        "model",
        "expected",
        "got",
        "type",
        "rest",
        "tokens",
        "status",
    ];
    OTHERS.contains(&placeholder) || placeholder.starts_with("values")
}

/// The name that a path ends with.
fn last_name(path: &str) -> &str {
    let is_word = |one: char| one.is_alphanumeric() || "_-$".contains(one);
    let mut words = path.rsplit(|one| !is_word(one));
    words.find(|word| word.contains(char::is_alphabetic)).unwrap_or(path)
}

/// Whether a string or a number is a text. Of a long string, nothing is compared.
fn is_text(value: Value<'_, '_>, text: &str) -> bool {
    let raw = value.raw();
    match value.as_json_str() {
        _ if raw.len() > 2 + 6 * text.len() => false,
        Some(_) => value.as_str().is_some_and(|own| own == text),
        None => raw == text.as_bytes(),
    }
}

/// The value that lies nearest to the root of those that are meant.
fn nearest<'d, 's>(root: Value<'d, 's>, is_meant: impl Fn(Value<'d, 's>) -> bool) -> Option<Value<'d, 's>> {
    let mut level = vec![root];
    while !level.is_empty() {
        if let Some(value) = level.iter().find(|value| is_meant(**value)) {
            return Some(*value);
        }
        level = level.into_iter().flat_map(Value::children).collect();
    }
    None
}
