//! What a target puts around the text of an error.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::refusal::Evidence;

/// How a target writes an error: a body and headers, in which `{text}`, `{kind}`, `{status}` and `{request-id}` stand for
/// what is different each time.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct ErrorBody {
    /// The body, as JSON. A string that is only a placeholder becomes its value; `{status}` is a number.
    #[serde(deserialize_with = "json")]
    pub body: Json,
    /// The word for each status.
    #[serde(default)]
    pub kinds: BTreeMap<String, String>,
    /// Whether the API says in the header `retry-after` how long to wait.
    #[serde(default, rename = "retry-after")]
    pub retry_after: bool,
    /// The headers of the response.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What errors with certain texts say besides.
    #[serde(skip)]
    pub details: Vec<ErrorDetail>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<String>,
    /// The day it was last seen, or the days.
    pub seen: String,
}

/// What an error says besides a certain text, in the object that has the text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ErrorDetail {
    /// What is in the text.
    pub has: String,
    /// The code.
    pub code: Option<String>,
    /// What is wrong in the request, of which nothing is said if it is empty; `{quoted}` stands for what the text has in its
    /// first quotes, `{place}` for the path of the fault, `{parent}` for that of what it is in, and `{parameters}` for that of
    /// the parameters it is in.
    pub param: Option<String>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<String>,
    /// The day it was last seen, or the days.
    pub seen: String,
}

impl ErrorDetail {
    fn add_to(&self, body: &mut Json, text: &str, place: &str) {
        let has_own = body.get("error").is_some_and(Json::is_object);
        let object = if has_own { &mut body["error"] } else { body };
        let quoted = text.split('\'').nth(1).unwrap_or_default();
        let parent = place.rsplit_once('/').map_or(place, |(parent, _)| parent);
        let parameters = place.split_inclusive("/parameters").next().unwrap_or_default();
        let param = self.param.as_ref().map(|param| match &**param {
            "{place}" => path(place),
            "{parent}" => path(parent),
            "{parameters}" => path(parameters),
            param => param.replace("{quoted}", quoted),
        });
        for (key, value) in [("code", self.code.clone()), ("param", param)] {
            if let Some(value) = value {
                object[key] = if value.is_empty() { Json::Null } else { value.into() };
            }
        }
    }
}

/// A JSON Pointer as a path, such as `messages[0].role`.
fn path(pointer: &str) -> String {
    let steps = pointer.split('/').skip(1).map(|step| match step.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{}", step.replace("~1", "/").replace("~0", "~")),
    });
    steps.collect::<String>().trim_start_matches('.').to_owned()
}

/// An error as a target writes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WrittenError {
    /// The body.
    pub body: Json,
    /// The headers, besides those of every response.
    pub headers: Vec<(String, String)>,
}

pub(super) fn json<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Json, D::Error> {
    let text = String::deserialize(value)?;
    serde_json::from_str(&text).map_err(serde::de::Error::custom)
}

impl ErrorBody {
    /// The word for a status; of one that the data do not name, that of the status of its hundred.
    pub fn kind(&self, status: u16) -> Option<&str> {
        let of = |status: u16| self.kinds.get(&status.to_string()).map(String::as_str);
        of(status).or_else(|| of(status / 100 * 100))
    }

    /// Writes an error about what is at this JSON Pointer.
    pub fn write(&self, status: u16, text: &str, request_id: &str, place: &str) -> WrittenError {
        let kind = self.kind(status).unwrap_or_default();
        let fill = |template: &str| match template {
            "{status}" => Json::from(status),
            "{text}" => Json::from(text),
            _ => Json::from(template.replace("{kind}", kind).replace("{request-id}", request_id)),
        };
        let mut body = self.body.clone();
        fill_all(&mut body, &fill);
        if let Some(detail) = self.details.iter().find(|detail| text.contains(&*detail.has)) {
            detail.add_to(&mut body, text, place);
        }
        let headers = self.headers.iter().filter_map(|(name, template)| {
            let value = fill(template);
            Some((name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
                .filter(|(_, value)| !value.is_empty())
        });
        WrittenError { body, headers: headers.collect() }
    }

    /// The header with which every response names its request, whether or not it is an error.
    pub fn request_header(&self) -> Option<&str> {
        self.headers.iter().find(|(_, template)| *template == "{request-id}").map(|(name, _)| &**name)
    }
}

/// Fills the placeholders of each string in a value. The templates are those of a file, which nests little.
pub(super) fn fill_all(value: &mut Json, fill: &impl Fn(&str) -> Json) {
    match value {
        Json::String(text) => *value = fill(text),
        Json::Array(elements) => elements.iter_mut().for_each(|element| fill_all(element, fill)),
        Json::Object(members) => members.values_mut().for_each(|member| fill_all(member, fill)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
