//! A conversation as the body of a request.

use serde_json::Value as Json;
use toolcheck_core::conversation::Feature;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::Body;
use toolcheck_core::readers::NextRequest;
use toolcheck_core::{Conversation, targets};
use toolcheck_json::{JsonStr, SyntaxErrorKind};
use toolcheck_lint::observe::Context;

use crate::json_text::write_json;

/// A conversation as the body of a request: what an agent would send of its log, or the same request for another API.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request {
    /// The body, without the name of a model; `None` if it is not known which API it is for.
    pub body: Option<Json>,
    /// The format of the body.
    pub format: Option<&'static Format>,
    /// What the conversation holds and the format cannot say.
    pub dropped: Vec<Feature>,
    /// The number of images, files and parts of other kinds, which are not written.
    pub left_out: usize,
    /// Whether half a character may be in it.
    has_halves: bool,
}

impl Request {
    /// The text of the body, with the halves of characters that are sent.
    pub fn text(&self) -> Option<String> {
        let mut text = Vec::new();
        write_json(self.body.as_ref()?, &mut text).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        if !self.has_halves {
            return Some(text);
        }
        let half = |character: char| {
            let unit = u32::from(character).checked_sub(JsonStr::HALVES);
            unit.filter(|unit| (0xD800..=0xDFFF).contains(unit))
        };
        let mut written = String::with_capacity(text.len());
        for character in text.chars() {
            match half(character) {
                Some(unit) => written.push_str(&format!("\\u{unit:04x}")),
                None => written.push(character),
            }
        }
        Some(written)
    }

    pub(super) fn of(context: &Context<'_, '_>) -> Self {
        let transcript = context.transcript;
        let has_halves =
            context.document.faults().iter().any(|fault| fault.kind == SyntaxErrorKind::LoneSurrogate);
        let is_other = |body: &Body<'_>| matches!(body, Body::Media | Body::Opaque);
        let left_out = transcript.parts.iter().filter(|part| is_other(&part.body)).count();
        let Some(format) = format_of(context) else {
            return Self { body: None, format: None, dropped: Vec::new(), left_out, has_halves };
        };
        let mut conversation = match transcript.sent_next_by.and_then(NextRequest::of) {
            Some(agent) => agent.repaired(Conversation::of_next(transcript, context.document)),
            None => Conversation::of(transcript, context.document),
        };
        if format.can_hold(Feature::CallIds) && conversation.lacks_ids() {
            conversation = conversation.numbered();
        }
        let written = format.write_request(&conversation);
        Self {
            body: Some(written.body),
            format: Some(format),
            dropped: written.dropped,
            left_out,
            has_halves,
        }
    }
}

/// The format of the API that the user names, or else of the one that the file is for.
fn format_of(context: &Context<'_, '_>) -> Option<&'static Format> {
    let of_target = |format: Option<&str>| format.and_then(formats::find);
    if let Some(target) = context.named_target() {
        return of_target(target.format.as_deref());
    }
    let id = context.transcript.format?.id;
    formats::find(id)
        .or_else(|| of_target(targets::find(context.transcript.sent_next_to?)?.format.as_deref()))
}
