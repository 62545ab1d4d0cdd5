//! Which rules are for a record, and how it is read.

use std::rc::Rc;

use toolcheck_core::detection::{Candidate, Detection};
use toolcheck_core::endpoint::{self, Endpoint};
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::{Buffers, Role, Transcript, TranscriptKind};
use toolcheck_core::targets::Target;
use toolcheck_core::{readers, unsupported};
use toolcheck_json::Value;

use super::by_shape;
use super::format_rules::{FormatRules, KnownRules};
use crate::options::Options;

/// The models whose targets are remembered.
const MOST_MODELS: usize = 16;

/// The rules for the records of a file, which may be of other formats than most of it.
pub(super) struct RecordRules<'r> {
    /// Those of most of the file.
    pub(super) of_file: Rc<FormatRules<'r>>,
    /// The same, and those for records of other formats.
    known: KnownRules<'r>,
    options: &'r Options,
    /// What was asked of targets and models, and the targets that know more of them.
    asked: Vec<(&'r Target, String, Option<&'static Target>)>,
    /// The last address, and what it says.
    address: Option<(String, Endpoint)>,
}

impl<'r> RecordRules<'r> {
    pub(super) fn new(of_file: FormatRules<'r>, options: &'r Options) -> Self {
        let of_file = Rc::new(of_file);
        Self {
            known: KnownRules::with(Rc::clone(&of_file)),
            of_file,
            options,
            asked: Vec::new(),
            address: None,
        }
    }

    /// What an address says. Most requests of a log are sent to one.
    pub(super) fn endpoint_of(&mut self, url: &str) -> Endpoint {
        match &self.address {
            Some((known, endpoint)) if known == url => *endpoint,
            _ => self.address.insert((url.to_owned(), Endpoint::of(url))).1,
        }
    }

    /// The rules for a request that is recorded alone, or with its `response`.
    pub(super) fn for_record(
        &mut self,
        record: Value<'_, '_>,
        response: Option<Value<'_, '_>>,
    ) -> Rc<FormatRules<'r>> {
        if self.options.format.is_some() {
            return Rc::clone(&self.of_file);
        }
        let record = Candidate::new(record);
        let (format, is_sure) = Detection::of_record(self.of_file.format, &record);
        let answered = response.and_then(|response| Detection::of_response(format, &record, response));
        if answered.is_some_and(|answered| by_shape::is_as_good(answered, format, &record)) {
            return self.of_format(answered);
        }
        let format = match (self.options.kind, &self.options.target) {
            (TranscriptKind::Request, None) => by_shape::format_of(format, is_sure, &record),
            (TranscriptKind::Request, Some(target)) => {
                let wanted = target.format.as_deref().and_then(formats::find);
                by_shape::format_for(wanted, format, is_sure, &record)
            }
            _ => format,
        };
        self.of_format(format)
    }

    pub(super) fn of_format(&mut self, format: Option<&'static Format>) -> Rc<FormatRules<'r>> {
        self.known.of(format, self.options)
    }

    /// The rules of the target that knows more of the model of a request, if nobody names a target.
    pub(super) fn of_model(
        &mut self,
        rules: Rc<FormatRules<'r>>,
        transcript: &Transcript<'_>,
    ) -> Rc<FormatRules<'r>> {
        let known = rules.known.filter(|_| self.options.target.is_none());
        let Some((known, model)) = known.zip(transcript.request.model.as_deref()) else { return rules };
        // The requests of a file are mostly to a few models.
        let is_it = |(of, asked, _): &(&Target, String, _)| std::ptr::eq(*of, known) && asked == model;
        let at = self.asked.iter().position(is_it).unwrap_or_else(|| {
            self.asked.truncate(MOST_MODELS - 1);
            self.asked.push((known, model.to_owned(), known.of_model(model)));
            self.asked.len() - 1
        });
        match (self.asked[at].2, rules.format) {
            (Some(target), Some(format)) => self.known.of_api(target, format, self.options),
            _ => rules,
        }
    }

    /// The rules of the API that the request of an exchange was sent to, if its address says which, and it is not the one
    /// of the rules that were `detected`.
    pub(super) fn of_address(
        &mut self,
        (url, endpoint): (&str, Endpoint),
        request: Value<'_, '_>,
        detected: &FormatRules<'r>,
    ) -> Option<Rc<FormatRules<'r>>> {
        if self.options.target.is_some() {
            return None;
        }
        let is_detected = |format: &Format| detected.format.is_some_and(|detected| detected.id == format.id);
        let Some(target) = endpoint.target else {
            return self.of_path(url, detected, request);
        };
        let is_possible = |format: &Format| self.options.format.is_none() && is_like(format, request) > 0;
        let own = endpoint.format.or_else(|| target.format.as_deref().and_then(formats::find));
        let own = own.filter(|format| is_detected(format) || is_possible(format));
        // A path that says nothing takes any format.
        let format = own.or_else(|| detected.format.filter(|_| endpoint.format.is_none()))?;
        Some(self.known.of_api(target, format, self.options))
    }

    /// The rules for a request to an API that is not known: whatever its model is, its path says in which formats it may be.
    fn of_path(
        &mut self,
        url: &str,
        detected: &FormatRules<'r>,
        request: Value<'_, '_>,
    ) -> Option<Rc<FormatRules<'r>>> {
        let is_detected = |format: &Format| detected.format.is_some_and(|detected| detected.id == format.id);
        let formats: Vec<&Format> = endpoint::formats_of(url).collect();
        if self.options.format.is_some() || formats.iter().any(|format| is_detected(format)) {
            return None;
        }
        let sure =
            formats.iter().map(|format| (is_like(format, request), *format)).filter(|(sure, _)| *sure > 0);
        // Of equals the first.
        let (_, format) = sure.rev().max_by_key(|(sure, _)| *sure)?;
        Some(self.of_format(Some(format)))
    }
}

/// How surely a request is in a format that its path has. What only has the list of the format's messages counts least.
fn is_like(format: &Format, request: Value<'_, '_>) -> u8 {
    match (format.sniff)(request) {
        0 => u8::from(format.read(request).is_some()),
        sure => sure,
    }
}

/// Whether a document in a format is written in another one that the user did not ask for. If the user names a format,
/// a request in another format is just an unrelated file of the folder.
pub(super) fn is_of_another(options: &Options, root: Value<'_, '_>) -> bool {
    options.format.is_some_and(|format| Detection::instead_of(format.key(), root).is_some())
}

/// Whether a document, for which the user has named a format, shows a protocol that is not read yet.
fn is_of_other_protocol(options: &Options, format: &Format, root: Value<'_, '_>) -> bool {
    options.format.is_some() && unsupported::conversation(root).is_some() && (format.sniff)(root) == 0
}

/// Reads a transcript; an empty one if the format does not recognise it.
pub(super) fn parse<'s>(
    options: &Options,
    rules: &FormatRules<'_>,
    root: Value<'_, 's>,
    buffers: Buffers<'s>,
) -> Transcript<'s> {
    let format = rules.format.filter(|format| !is_of_other_protocol(options, format, root));
    let read = format.and_then(|format| (format.read_with)(root, buffers));
    let is_misspelt =
        |list: Value<'_, '_>| list.key_text().is_some_and(|key| unsupported::is_misspelt_list(&key));
    let is_body = || {
        let is_known = |list| rules.format.is_some_and(|format| Detection::knows(format.id, list));
        rules.target().shape().is_some_and(|shape| {
            shape.knows_request(root, is_of_another(options, root))
                || shape.knows_stored(root)
                || unsupported::list_of(root).is_some_and(is_known)
                || unsupported::misnamed_list(root).is_some_and(is_misspelt)
        })
    };
    let is_row = options.kind == TranscriptKind::Dataset;
    match (read, format) {
        (Some(read), _) if is_row && has_no_message(&read, root) => Transcript::unrecognised(root),
        (Some(mut read), _) => {
            if is_row {
                readers::add_tools(&mut read, root);
            }
            if let Some(model) = &options.as_model {
                read.request.model = Some(model.to_string().into());
            }
            read
        }
        // Only what has keys can be one, and the shape need not be compiled for anything else.
        // The shapes of rows of data sets are not checked, so nothing would say that theirs has no list.
        (None, Some(format)) if !is_row && root.is_object() && is_body() => {
            Transcript::without_messages(format.key(), root)
        }
        _ => Transcript::unrecognised(root),
    }
}

/// Whether nothing in a list is a message, as in `[null]`.
fn has_no_message(read: &Transcript<'_>, root: Value<'_, '_>) -> bool {
    let list = || if root.is_array() { Some(root) } else { unsupported::list_of(root) };
    !read.messages.is_empty()
        && read.messages.iter().all(|message| message.role == Role::Unknown)
        && list().is_some_and(|list| !list.elements().any(Value::is_object))
}
