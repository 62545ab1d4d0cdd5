//! Values: their types, and what may be asked of one by itself.

use toolcheck_json::{Document, Kind as JsonKind, NodeId, Value};

use super::compile::{Check, CheckKind, bit};
use super::fault::Detail;
use super::tables::{JsonType, Scalar};

impl Check {
    /// What is wrong with a value by itself.
    pub(super) fn failed_by(&self, value: Value<'_, '_>, got: JsonType) -> Option<Detail<'_>> {
        match &self.what {
            CheckKind::Type(types, mask) => {
                (mask & bit(got) == 0).then_some(Detail::Types { expected: types, got })
            }
            CheckKind::Values { values, any_case } => {
                // Where only strings are listed, a number is a matter of the type.
                let is_listed =
                    |scalar: Value<'_, '_>| scalar.is_string() || values.iter().any(|value| !value.is_string);
                let wrong = scalars(value)
                    .find(|scalar| is_listed(*scalar) && !is_one_of(values, *any_case, *scalar))?;
                let allowed = values.iter().map(|value| &*value.text).collect();
                Some(Detail::Values { allowed, got: short(wrong) })
            }
            CheckKind::Refused(values) => {
                let wrong = scalars(value).find(|scalar| is_one_of(values, false, *scalar))?;
                Some(Detail::Values { allowed: Vec::new(), got: short(wrong) })
            }
            CheckKind::Starts(starts) => {
                // The text is long, and an escape is no part of what is looked for.
                let raw = value.as_json_str()?.raw();
                let start = starts.iter().find(|start| raw.starts_with(start.as_bytes()))?;
                Some(Detail::Values { allowed: Vec::new(), got: start.to_string() })
            }
            CheckKind::Pattern(pattern) => {
                let text = scalars(value).filter_map(Value::as_str).find(|text| !pattern.is_match(text))?;
                // Names and ids may be printed, other texts may be secrets.
                let is_name = text.len() <= LONGEST_NAME && names_something(value);
                let got = if is_name { short(value) } else { String::new() };
                Some(Detail::Pattern { pattern: pattern.as_str(), got })
            }
            CheckKind::RefusedPattern(pattern) => {
                let is_refused = value.as_str().is_some_and(|text| pattern.is_match(&text));
                is_refused.then(|| Detail::Values { allowed: Vec::new(), got: String::new() })
            }
            CheckKind::Length { min, max } => {
                let text = value.as_json_str()?;
                // A text has at most as many characters as bytes.
                let is_short = max.is_none_or(|max| text.raw().len() <= max);
                if is_short && min.is_none_or(|min| min == 0 || min == 1 && !text.is_empty()) {
                    return None;
                }
                out_of(*min, *max, text.char_count())
            }
            CheckKind::Items { min, max } => match value.kind() {
                JsonKind::Array => out_of(*min, *max, value.elements().count()),
                // A single object may stand for a list of one.
                JsonKind::Object => out_of(None, *max, value.members().count()),
                _ => None,
            },
            CheckKind::Range { min, max } => {
                let number: f64 = std::str::from_utf8(value.raw()).ok()?.parse().ok()?;
                let is_number = value.kind() == JsonKind::Number;
                let is_out = min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max);
                (is_number && is_out).then(|| Detail::Limit {
                    min: min.map(|min| min.to_string()),
                    max: max.map(|max| max.to_string()),
                    got: short(value),
                    is_low: min.is_some_and(|min| number < min),
                })
            }
            CheckKind::Base64 => {
                let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_\\".contains(byte);
                let is_wrong = |scalar: Value<'_, '_>| {
                    scalar.as_json_str().is_some_and(|text| !text.raw().iter().take(LOOKED_AT).all(is_base64))
                };
                scalars(value).any(is_wrong).then_some(Detail::None)
            }
            CheckKind::EntryPattern(pattern) => {
                let mut keys = value.members().filter_map(|member| member.key_text());
                let wrong = keys.find(|key| !pattern.is_match(key))?;
                let got = crate::text::shorten(&wrong).into_owned();
                Some(Detail::Pattern { pattern: pattern.as_str(), got })
            }
            _ => None,
        }
    }
}

fn out_of(min: Option<usize>, max: Option<usize>, count: usize) -> Option<Detail<'static>> {
    let is_low = min.is_some_and(|min| count < min);
    (is_low || max.is_some_and(|max| count > max)).then(|| Detail::Limit {
        min: min.map(|min| min.to_string()),
        max: max.map(|max| max.to_string()),
        got: count.to_string(),
        is_low,
    })
}

/// Whether a value is a name or an id, by its key.
fn names_something(value: Value<'_, '_>) -> bool {
    let key = value.key_text().unwrap_or_default().to_ascii_lowercase();
    ["name", "id"].iter().any(|ending| key.ends_with(ending))
}

/// The longest text that is taken for a name, which a message may print.
const LONGEST_NAME: usize = 128;

/// The bytes of a text that are looked at to tell whether it is Base64: the data may be megabytes long, and logs cut it.
const LOOKED_AT: usize = 40;

/// Whether a scalar is one of these. A number may be written in another way: `1.0` is 1.
pub(super) fn is_one_of(values: &[Scalar], any_case: bool, value: Value<'_, '_>) -> bool {
    let text = value.as_str();
    let is_same = |allowed: &str| {
        let number = |text: &str| text.parse::<f64>().ok();
        let of_value = std::str::from_utf8(value.raw()).ok().filter(|_| value.kind() == JsonKind::Number);
        of_value.and_then(number).is_some_and(|own| number(allowed) == Some(own))
    };
    values.iter().any(|allowed| match &text {
        Some(text) => {
            allowed.is_string
                && (allowed.text == **text || any_case && allowed.text.eq_ignore_ascii_case(text))
        }
        None => !allowed.is_string && (allowed.text.as_bytes() == value.raw() || is_same(&allowed.text)),
    })
}

/// The scalar itself, or the strings of an array.
pub(super) fn scalars<'d, 's>(value: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let is_scalar = matches!(value.kind(), JsonKind::String | JsonKind::Number | JsonKind::Bool);
    is_scalar.then_some(value).into_iter().chain(value.elements().filter(|element| element.is_string()))
}

/// A scalar for a message; nothing of an array or an object.
pub(super) fn short(value: Value<'_, '_>) -> String {
    match value.kind() {
        JsonKind::String => crate::text::shorten(&value.as_str().unwrap_or_default()).into_owned(),
        JsonKind::Number | JsonKind::Bool | JsonKind::Null => {
            crate::text::shorten(&String::from_utf8_lossy(value.raw())).into_owned()
        }
        _ => String::new(),
    }
}

pub(super) fn is_empty(value: Value<'_, '_>) -> bool {
    matches!(value.kind(), JsonKind::Array | JsonKind::Object) && value.children().next().is_none()
}

#[inline]
pub(super) fn bit_of(value: Value<'_, '_>) -> u8 {
    match value.kind() {
        JsonKind::Null => bit(JsonType::Null),
        JsonKind::Bool => bit(JsonType::Boolean),
        JsonKind::String => bit(JsonType::String),
        JsonKind::Array => bit(JsonType::Array),
        JsonKind::Object => bit(JsonType::Object),
        JsonKind::Number | JsonKind::Invalid => bit(type_of(value)),
    }
}

pub(super) fn type_of(value: Value<'_, '_>) -> JsonType {
    match value.kind() {
        JsonKind::Null => JsonType::Null,
        JsonKind::Bool => JsonType::Boolean,
        JsonKind::String => JsonType::String,
        JsonKind::Array => JsonType::Array,
        JsonKind::Object => JsonType::Object,
        JsonKind::Number | JsonKind::Invalid => {
            let raw = value.raw();
            let is_plain = !raw.iter().any(|byte| b".eE".contains(byte));
            let is_whole = || {
                let number = std::str::from_utf8(raw).ok().and_then(|text| text.parse::<f64>().ok());
                number.is_some_and(|number| number.fract() == 0.0)
            };
            if is_plain || is_whole() { JsonType::Integer } else { JsonType::Number }
        }
    }
}

/// The text of a block that has nothing else, as it is spelled.
pub(super) fn text_of<'s>(block: Value<'_, 's>) -> Option<&'s str> {
    let is_kind = |kind: Value<'_, '_>| kind.as_str().is_some_and(|kind| kind.ends_with("text"));
    let count = 1 + usize::from(block.get("type").is_some_and(is_kind));
    raw_text(block.get("text").filter(|_| block.members().count() == count)?)
}

/// A text as it is spelled.
pub(super) fn raw_text<'s>(text: Value<'_, 's>) -> Option<&'s str> {
    std::str::from_utf8(text.as_json_str()?.raw()).ok()
}

/// A value that only is quoted wrongly, as JSON in one of the expected types.
pub(super) fn respelled(value: Value<'_, '_>, expected: &[JsonType]) -> Option<String> {
    let takes = |json_type| expected.contains(&json_type);
    match value.kind() {
        JsonKind::Number | JsonKind::Bool if takes(JsonType::String) => {
            Some(format!("\"{}\"", std::str::from_utf8(value.raw()).ok()?))
        }
        JsonKind::String => {
            let text = value.as_str()?;
            let text = text.trim();
            let document = Document::read(text.as_bytes());
            let inner = document.value(NodeId::ROOT);
            let is_one_line = !text.contains(['\n', '\r']);
            // An empty text has no fault that says so.
            let is_json = document.faults().is_empty() && inner.raw().len() == text.len() && is_one_line;
            if takes(JsonType::Boolean) && (text == "True" || text == "False") {
                return Some(text.to_ascii_lowercase());
            }
            let is_wanted = match inner.kind() {
                JsonKind::Object => takes(JsonType::Object),
                JsonKind::Array => takes(JsonType::Array),
                JsonKind::Bool => takes(JsonType::Boolean),
                JsonKind::Number => {
                    takes(JsonType::Number) || takes(JsonType::Integer) && text.parse::<i64>().is_ok()
                }
                _ => false,
            };
            (is_json && is_wanted).then(|| text.to_owned())
        }
        _ => None,
    }
}
