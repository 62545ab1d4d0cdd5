//! The mock beside what an API has answered.

use toolcheck_core::response::error_text;
use toolcheck_json::Document;
use toolcheck_lint::TargetRef;
use toolcheck_lint::server_state::ServerState;

use crate::answer::Refused;
use crate::provider::{MOST_BODY, Provider, keep};
use crate::recording::{Recorded, Recording};
use crate::route::path;

/// The statuses by which an API says that a request itself is wrong.
const REFUSALS: [u16; 5] = [400, 404, 413, 415, 422];

/// What a mock answers to the requests of a recording, beside what the API has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// How many requests the mock and the API take both.
    pub taken: usize,
    /// How many requests both refuse, in the same words or with a text that the mock does not know.
    pub refused: usize,
    /// How many were not compared: they are for another API than those of the mock or for one that is not known, were answered
    /// with a status that is not about the request, such as 429, or were refused and go on from what is not in the recording.
    pub left_out: usize,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// A request that the mock and the API answer differently.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of the exchange in the recording, from 1.
    pub number: usize,
    /// The path of the request.
    pub path: String,
    /// Why the mock refuses it; `None` if it takes it.
    pub mock: Option<Refused>,
    /// The status of the API's answer.
    pub status: u16,
    /// What the API says, if that is an error.
    pub text: Option<String>,
}

impl Provider {
    pub(crate) fn compare(&self, recording: &Recording) -> Comparison {
        let server = ServerState::default();
        let mut comparison = Comparison::default();
        for (number, recorded) in recording.all().iter().enumerate() {
            self.compare_one((number + 1, recorded), &server, &mut comparison);
        }
        comparison
    }

    fn compare_one(
        &self,
        (number, recorded): (usize, &Recorded),
        server: &ServerState,
        comparison: &mut Comparison,
    ) {
        let Recorded { format, path: own, request, status, .. } = recorded;
        let path = if own.is_empty() { path(format, "model", false) } else { own.clone() };
        let is_refused = REFUSALS.contains(status);
        // Without targets of its own, the mock is the API that was asked.
        let as_asked = recorded
            .target
            .filter(|_| self.targets.is_empty())
            .map(|target| Self { targets: vec![TargetRef::from(target)], ..self.clone() });
        let provider = as_asked.as_ref().or(Some(self).filter(|own| !own.targets.is_empty()));
        let asked = provider.and_then(|provider| Some((provider, provider.asked(&path, "").ok()?)));
        let asked = asked.filter(|_| is_refused || *status < 300);
        let Some((provider, asked)) = asked.filter(|(_, asked)| asked.format.family == format.family) else {
            comparison.left_out += 1;
            return;
        };
        let checked = provider.check(&asked, Some(request.as_bytes()), None, MOST_BODY, server);
        let value = recorded.value();
        if let Some(sent) = checked.sent().filter(|_| !is_refused) {
            keep(server, sent, format, &value, false);
        }
        // The recording may begin after what the request goes on from.
        if checked.refused.is_none() && is_refused && !checked.is_clear() {
            comparison.left_out += 1;
            return;
        }
        let body = value.to_string();
        let text = error_text(Document::read(body.as_bytes()).root()).map(|text| text.into_owned());
        let text = text.filter(|_| is_refused);
        let known = checked.refused.as_ref().and_then(|refused| refused.text.as_ref());
        match (&checked.refused, is_refused) {
            (None, false) => comparison.taken += 1,
            (Some(_), true) if known.is_none() || known == text.as_ref() => comparison.refused += 1,
            (mock, _) => {
                let mock = mock.clone();
                comparison.differences.push(Difference { number, path, mock, status: *status, text });
            }
        }
    }
}
