//! Requests that a recording shows to be refused, although no rule says why.

use toolcheck_core::endpoint::Endpoint;
use toolcheck_core::exchange::Exchange;
use toolcheck_core::ir::{Contents, Place};
use toolcheck_core::recognise::recognise;
use toolcheck_core::text::Line;
use toolcheck_core::{Level, RuleId, response};
use toolcheck_json::{Document, Record, Value};

use crate::category::Category;
use crate::finding::Draft;
use crate::report::{Refusal, locate_places};
use crate::rules;
use crate::server_state::RemoteHistory;

/// A request that was refused, in its record.
#[derive(Debug)]
pub(super) struct Refused {
    place: Place,
    status: u16,
    message: Option<Line>,
}

/// Statuses that say nothing of the request's body: who sends it, where to, and how often.
const NOT_OF_BODY: [u16; 9] = [401, 402, 403, 404, 405, 407, 408, 409, 429];

impl Refused {
    /// The request of an exchange, if it was refused, none of its findings is an error, and the answer is about none.
    pub(super) fn of(exchange: &Exchange<'_, '_>, found: &[Draft]) -> Option<Self> {
        let is_of_body = |status: &u16| (400..499).contains(status) && !NOT_OF_BODY.contains(status);
        let status = exchange.status.filter(is_of_body)?;
        if found.iter().any(|finding| finding.level == Level::Error) {
            return None;
        }
        let message = exchange.response.and_then(response::error_text);
        if message.as_deref().is_some_and(|text| is_about_any(text, found)) {
            return None;
        }
        let message = message.map(|text| Line::from(text.into_owned()));
        Some(Self { place: Place::of(exchange.request), status, message })
    }

    /// The refusals of a record, with their places in the file.
    pub(super) fn locate(refused: Vec<Self>, document: &Document<'_>, record: &Record<'_>) -> Vec<Refusal> {
        if refused.is_empty() {
            return Vec::new();
        }
        let places: Vec<Place> = refused.iter().map(|refused| refused.place).collect();
        let spots = locate_places(document, record, &places);
        let refused = refused.into_iter().zip(spots);
        refused
            .map(|(refused, spot)| Refusal { spot, status: refused.status, message: refused.message })
            .collect()
    }
}

/// Whether the text of an error is about a finding: a warning, if it is not certain what the target refuses.
fn is_about_any(error: &str, found: &[Draft]) -> bool {
    !found.is_empty()
        && recognise(error).iter().any(|known| found.iter().any(|finding| finding.rule == known.refusal.rule))
}

/// The categories of what an API has in its own way.
const OF_FORM: [Category; 4] = [Category::Ids, Category::Content, Category::Fields, Category::Reasoning];

/// Believes an API that does not have what a request names, though nobody has seen it told so.
pub(super) fn believe_missing(exchange: &Exchange<'_, '_>, server: Option<&mut RemoteHistory>) {
    let Some(server) = server.filter(|server| !server.is_clear()) else { return };
    let is_refused = exchange.status.is_some_and(|status| (400..500).contains(&status));
    let Some(error) = exchange.response.filter(|_| is_refused).and_then(response::error_text) else { return };
    if recognise(&error).iter().any(|known| known.refusal.rule == RuleId::UnresolvedReference) {
        server.lacks_what_is_named(&error);
    }
}

/// Why a finding is only a warning although the target refuses it.
const ACCEPTED: &str = "the recording shows that the API accepted this request";

/// Makes warnings errors where the API gave the very answer that was in doubt, and errors warnings that the answer to the
/// request contradicts: it was sent to another API than the one whose
/// answers are known, or these are out of date. Another API has keys, ids and signatures of its own.
pub(super) fn believe(exchange: &Exchange<'_, '_>, found: &mut Vec<Draft>) {
    let url = exchange.url.filter(|_| !found.is_empty()).and_then(Value::as_str);
    let stranger = url.and_then(|url| Endpoint::of(&url).stranger);
    if stranger.is_some_and(|is_certain| is_certain || exchange.is_accepted()) {
        found.retain(|finding| {
            let is_answered = finding.said().is_some_and(|said| said.provider_error.is_some());
            !is_answered || !OF_FORM.contains(&rules::get(finding.rule).category)
        });
    }
    if !exchange.is_accepted() {
        let answered = exchange.response.filter(|_| !found.is_empty()).and_then(response::error_text);
        for finding in found.iter_mut().filter(|_| answered.is_some()) {
            let is_by_target = finding.level == finding.target_level;
            let answer = finding.said_mut().and_then(|said| said.provider_error.as_mut());
            let given = answer.filter(|answer| is_by_target && answer.text.as_deref() == answered.as_deref());
            if given.and_then(|answer| answer.only_warns.take()).is_some() {
                finding.level = Level::Error;
                finding.target_level = Level::Error;
            }
        }
        return;
    }
    // Whether it takes such a key or item, which a header may decide, was in doubt only before it did.
    found.retain(|finding| {
        let answer = finding.said().and_then(|said| said.provider_error.as_ref());
        let is_of_form = rules::get(finding.rule).category == Category::Fields;
        !(is_of_form || finding.rule == RuleId::DuplicateItemId)
            || answer.is_none_or(|answer| answer.only_warns.is_none())
    });
    for finding in found.iter_mut().filter(|finding| finding.level == Level::Error) {
        let rule = rules::get(finding.rule);
        let is_of_request = matches!(rule.category, Category::Pairing | Category::Order)
            && !rule.looks_at.intersects(Contents::ANSWER);
        // Those that are only counted may have been answered too.
        let may_be_answered = finding.is_on_wire || is_of_request;
        match finding.said_mut().and_then(|said| said.provider_error.as_mut()) {
            Some(answer) => answer.only_warns = Some(ACCEPTED.to_owned()),
            None if may_be_answered => {}
            // What an agent lost is lost, whatever the API accepts.
            None => continue,
        }
        finding.level = Level::Warning;
    }
}
