//! What an API answers to a fault, in its own words.

use std::fmt::Write as _;

use toolcheck_json::{Document, JsonStr, Kind as JsonKind, Value};
use toolcheck_toml::Text;

use super::Shape;
use super::case::snake_case;
use super::fault::{Detail, PathStep, ShapeFault};
use super::tables::{JsonType, ShapeFaultKind};

/// What fills in the text of an error.
pub(super) struct ErrorText<'a, 'f, 'd, 's> {
    pub(super) fault: &'a ShapeFault<'f>,
    pub(super) shape: &'f Shape,
    pub(super) document: &'d Document<'s>,
    pub(super) model: Option<&'a str>,
}

/// How a path is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `messages[1].content[0].text`
    Brackets,
    /// `messages.1.content.0.text`
    Dots,
    /// The same, with the variants.
    Tags,
    /// `messages.2.member.content.1.member.text`
    Members,
    /// `contents[0].parts[0].inline_data`, entries by number
    Proto,
    /// The same, entries by name
    Named,
}

impl ErrorText<'_, '_, '_, '_> {
    /// The text without placeholders; `None` if something that it names is not known.
    pub(super) fn fill(&self, text: &str) -> Option<String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let placeholder = after.split_once('}').filter(|(name, _)| crate::text::is_placeholder(name));
            let Some((name, after)) = placeholder else {
                filled.push('{');
                rest = after;
                continue;
            };
            if name == "rest" {
                crate::targets::leave_out(&mut filled, after);
            } else {
                filled.push_str(&crate::text::kept(&self.value(name)?));
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }

    fn value(&self, name: &str) -> Option<String> {
        let fault = self.fault;
        if let Some(style) = style(name) {
            return Some(self.path(&fault.path, style));
        }
        if let Some(style) = name.strip_prefix("parent-").and_then(style) {
            return Some(self.path(&fault.path[..fault.path.len() - fault.own_steps], style));
        }
        Some(match (name, &fault.detail) {
            ("field", _) => fault.key.trim_end_matches("[]").trim_end_matches("{}").to_owned(),
            ("name", _) => crate::text::shorten(&fault.name(self.document)?).into_owned(),
            ("model", _) => crate::text::shorten(self.model?).into_owned(),
            ("schema-context", _) => self.schema_context(),
            ("keys", _) => {
                let members = self.document.value(fault.parent).members().take(MOST_KEYS);
                let keys: Vec<_> = members.filter_map(|member| member.key_text()).collect();
                crate::text::bounded(&keys.join(", "), 400)
            }
            ("value", Detail::Values { got, .. } | Detail::Value { got } | Detail::Pattern { got, .. })
            | ("length" | "count", Detail::Limit { got, .. }) => got.clone(),
            ("value", _) => discreet(self.document.value(fault.value?)),
            ("json", Detail::Values { got, .. }) if self.document.value(fault.value?).is_string() => {
                format!("\"{got}\"")
            }
            ("json", _) => {
                let value = self.document.value(fault.value?);
                let shown = discreet(value);
                if value.is_string() { format!("\"{shown}\"") } else { shown }
            }
            ("index" | "outer-index", _) => {
                let steps = &fault.path[..fault.path.len() - fault.own_steps];
                let mut indexes = steps.iter().filter_map(|step| match step {
                    PathStep::Index(index) => Some(index),
                    _ => None,
                });
                let index = if name == "index" { indexes.next_back() } else { indexes.next() };
                index?.to_string()
            }
            ("values", Detail::None) if fault.kind == ShapeFaultKind::Unknown => {
                fault.known_keys().collect::<Vec<_>>().join(", ")
            }
            ("values-list", Detail::Values { allowed, .. }) => allowed.join(", "),
            ("values", Detail::Values { allowed, .. }) => listed(allowed, "or", false),
            ("values-and", Detail::Values { allowed, .. }) => listed(allowed, "and", true),
            ("values", Detail::Union { of, .. }) => of.join(", "),
            ("values", Detail::Other { values, .. }) => listed(values, "or", false),
            ("count", Detail::Union { count, .. }) => count.to_string(),
            ("expected", Detail::Types { expected, .. }) => self.expected(expected),
            ("got", Detail::Types { got, .. }) => {
                let own = self.shape.enforced.words.get(&*format!("got-{}", got.name()));
                own.map_or(got.with_article(), Text::as_str).to_owned()
            }
            ("min", Detail::Limit { min, is_low: true, .. }) => min.clone()?,
            ("max", Detail::Limit { max, is_low: false, .. }) => max.clone()?,
            ("pattern", Detail::Pattern { pattern, .. }) => (*pattern).to_owned(),
            ("bare-pattern", Detail::Pattern { pattern, .. }) => {
                pattern.trim_start_matches('^').trim_end_matches('$').to_owned()
            }
            _ => return None,
        })
    }

    fn word(&self, json_type: JsonType) -> &str {
        self.shape.enforced.words.get(json_type.name()).map_or(json_type.with_article(), Text::as_str)
    }

    fn expected(&self, types: &[JsonType]) -> String {
        let takes_last = self.shape.enforced.words.get("expected").is_some_and(|how| how == "last");
        let types: Vec<JsonType> = match types {
            [only] => vec![*only],
            several => several.iter().copied().filter(|json_type| *json_type != JsonType::Null).collect(),
        };
        match types.as_slice() {
            [] => String::new(),
            [.., last] if takes_last || types.len() == 1 => self.word(*last).to_owned(),
            _ => {
                let bare = |json_type: &JsonType| {
                    let word = self.word(*json_type);
                    word.strip_prefix("an ").or_else(|| word.strip_prefix("a ")).unwrap_or(word).to_owned()
                };
                let mut words = types.iter();
                let first = words.next().map_or("null", |first| self.word(*first));
                words.fold(format!("one of {first}"), |listed, word| format!("{listed} or {}", bare(word)))
            }
        }
    }

    fn path(&self, path: &[PathStep], style: Style) -> String {
        let mut written = String::new();
        let separate = |written: &mut String| {
            if !written.is_empty() {
                written.push('.');
            }
        };
        for step in path {
            match (step, style) {
                (PathStep::Variant(tag), Style::Tags) => {
                    separate(&mut written);
                    written.push_str(tag);
                }
                (PathStep::Variant(_), _) => {}
                (PathStep::Index(index), Style::Dots | Style::Tags) => {
                    separate(&mut written);
                    let _ = write!(written, "{index}");
                }
                (PathStep::Index(index), Style::Members) => {
                    let _ = write!(written, ".{}.member", index + 1);
                }
                (PathStep::Index(index), _) => {
                    let _ = write!(written, "[{index}]");
                }
                (PathStep::Entry(_, index), Style::Proto) => {
                    let _ = write!(written, "[{index}].value");
                }
                (PathStep::Entry(key, _), Style::Named) => {
                    let _ = write!(written, "[{}]", crate::text::shorten(key));
                }
                (PathStep::Entry(key, _), _) => {
                    separate(&mut written);
                    written.push_str(&crate::text::shorten(key));
                }
                (PathStep::Key(key), Style::Proto | Style::Named) => {
                    separate(&mut written);
                    written.push_str(&snake_case(&crate::text::shorten(key)));
                }
                (PathStep::Key(key), _) => {
                    separate(&mut written);
                    written.push_str(&crate::text::shorten(key));
                }
            }
        }
        written
    }

    /// The path below a schema as a Python tuple.
    fn schema_context(&self) -> String {
        let path = &self.fault.path;
        let end = path.len() - self.fault.own_steps;
        let steps = path.get(self.fault.schema_start..end).unwrap_or_default();
        let names: Vec<String> = steps
            .iter()
            .filter_map(|step| match step {
                PathStep::Key(key) | PathStep::Entry(key, _) => {
                    Some(format!("'{}'", crate::text::shorten(key)))
                }
                PathStep::Index(index) => Some(format!("'{index}'")),
                PathStep::Variant(_) => None,
            })
            .collect();
        match names.as_slice() {
            [one] => format!("({one},)"),
            names => format!("({})", names.join(", ")),
        }
    }
}

/// A value that may be anything, as far as it is no secret: a number, `true`, `false`, `null` or an empty text.
fn discreet(value: Value<'_, '_>) -> String {
    match value.kind() {
        JsonKind::Number | JsonKind::Bool | JsonKind::Null => {
            crate::text::shorten(&String::from_utf8_lossy(value.raw())).into_owned()
        }
        JsonKind::String if value.as_json_str().is_some_and(JsonStr::is_empty) => String::new(),
        _ => "…".to_owned(),
    }
}

/// The most keys that a text lists.
const MOST_KEYS: usize = 20;

fn style(name: &str) -> Option<Style> {
    Some(match name {
        "path" => Style::Brackets,
        "dotted-path" => Style::Dots,
        "tagged-path" => Style::Tags,
        "member-path" => Style::Members,
        "proto-path" => Style::Proto,
        "named-path" => Style::Named,
        _ => return None,
    })
}

/// Values in quotes, with a word before the last.
fn listed(values: &[&str], word: &str, has_comma: bool) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, last] => format!("{first} {word} {last}"),
        [others @ .., last] if has_comma => format!("{}, {word} {last}", others.join(", ")),
        [others @ .., last] => format!("{} {word} {last}", others.join(", ")),
    }
}
