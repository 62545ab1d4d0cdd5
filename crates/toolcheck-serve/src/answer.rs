//! What an API answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value as Json, json};
use toolcheck_core::RuleId;
use toolcheck_core::targets::ErrorBody;

use crate::content::Content;

#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The frames of a stream in place of a body.
    pub(crate) frames: Option<Vec<Vec<u8>>>,
    /// Whether the connection is closed before the response is complete.
    pub(crate) is_cut: bool,
    /// What is recorded of it, if that is not its body: the events of the stream.
    pub(crate) record: Option<Json>,
    pub(crate) refused: Option<Refused>,
    /// After how many seconds the client may try again.
    pub(crate) retry_after: Option<u64>,
    /// Why the recording that is answered from has no answer.
    pub(crate) missed: Option<String>,
    /// What of it must come back as it is.
    pub(crate) opaque: Vec<Opaque>,
    /// The response as a whole, if clients may ask for it again.
    pub(crate) stored: Option<Json>,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The rule.
    pub rule: RuleId,
    /// What is wrong.
    pub message: String,
    /// Where in the body: a JSON Pointer.
    pub place: String,
    /// What the API says; `None` if no text of it is known.
    pub text: Option<String>,
    /// The status.
    pub status: u16,
    /// Where somebody has seen that the API refuses this, or what says that it does.
    pub source: Option<String>,
    /// What the object of the error has besides.
    pub error: BTreeMap<String, Json>,
}

/// What only the provider can read, and wants back as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opaque {
    /// The text: a signature, encrypted reasoning, the id of a call that the provider has carried out.
    pub text: String,
    /// What stands in the same object as the text, in what is written as JSON; `None` if nothing does.
    pub beside: Option<String>,
    /// The id of what it is in, by which the provider may find it again; `None` if it has none of its own.
    pub id: Option<String>,
}

impl Answer {
    pub(crate) fn content(&self) -> Content {
        match &self.record {
            Some(events) => Content::of(events),
            // What the mock writes is JSON.
            None => Content::of_json(&String::from_utf8_lossy(&self.body)),
        }
    }

    /// Adds a header, in bounds.
    pub(crate) fn tell(&mut self, name: &str, value: &str) {
        let plain = |one: char| if one.is_ascii_graphic() || one == ' ' { one } else { '?' };
        self.headers.push((name.to_owned(), value.chars().map(plain).take(1000).collect()));
    }
}

/// The id of a request, as the headers and the bodies of some APIs have it: no other has the same, as clients take it for
/// the id of the model's message.
pub(crate) fn request_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    format!("req_toolcheck_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn error(errors: Option<&ErrorBody>, status: u16, text: &str) -> Answer {
    error_with(errors, status, text, "", &BTreeMap::new())
}

/// The same about what is at this JSON Pointer, with more in the object of the error.
pub(crate) fn error_with(
    errors: Option<&ErrorBody>,
    status: u16,
    text: &str,
    place: &str,
    more: &BTreeMap<String, Json>,
) -> Answer {
    let (mut record, headers) = match errors {
        Some(errors) => {
            let written = errors.write(status, text, &request_id(), place);
            (written.body, written.headers)
        }
        None => (json!({"error": {"message": text}}), Vec::new()),
    };
    let has_own = record.get("error").is_some_and(Json::is_object);
    let object = if has_own { &mut record["error"] } else { &mut record };
    if let Json::Object(members) = object {
        members.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    let json = ("content-type".to_owned(), "application/json".to_owned());
    Answer {
        status,
        headers: std::iter::once(json).chain(headers).collect(),
        body: record.to_string().into_bytes(),
        ..Answer::default()
    }
}
