//! Why a request is refused, and how an API says it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toolcheck_core::RuleId;
use toolcheck_core::targets::{ErrorBody, Refusal, Target, Verdict};
use toolcheck_lint::{Category, Finding, rules};

use crate::answer::{Answer, Refused, error_with};
use crate::body::NoRequest;

/// The text of an error whose words in the real API are not known.
pub(crate) const UNKNOWN_TEXT: &str = "The request is invalid.";

impl Refused {
    pub(crate) fn of(finding: &Finding, target: Option<&Target>, request: &str) -> Self {
        let known = finding.provider_error.as_ref();
        let verdict =
            known.and_then(|known| Some(target?.verdict(finding.rule, known.case.as_deref(), None, None)));
        let of_target = match verdict {
            Some(Verdict::Refused(refusal)) => Some(refusal),
            _ => None,
        };
        let place = &finding.spot.pointer;
        Self {
            rule: finding.rule,
            message: finding.message.to_string(),
            place: place.to_string(),
            text: known.and_then(|error| error.text.clone()),
            status: known.and_then(|error| error.status).unwrap_or(400),
            source: known.and_then(|error| error.grounds.source.as_deref().map(str::to_owned)),
            error: of_target.map(|refusal| details(refusal, place, request)).unwrap_or_default(),
        }
    }

    pub(crate) fn of_no_request(why: NoRequest) -> Self {
        let NoRequest { rule, message, status } = why;
        Self { rule, message, place: String::new(), text: None, status, source: None, error: BTreeMap::new() }
    }

    /// What is told of it.
    pub fn json(&self) -> Json {
        let Self { rule, message, place, text, status, source, .. } = self;
        json!({
            "rule": rule, "message": message, "place": place, "text": text, "status": status, "source": source,
        })
    }

    /// What it takes to keep it.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.message, &self.place].map(String::len);
        let known = [&self.text, &self.source].map(|text| text.as_ref().map_or(0, String::len));
        size_of::<Self>() + texts.iter().chain(&known).sum::<usize>()
    }

    pub(crate) fn answer(self, errors: Option<&ErrorBody>) -> Answer {
        let is_of_template = self.rule == RuleId::TemplateRefuses;
        // A server answers what the template says itself.
        let said = self.message.split_once(": ").map_or(&*self.message, |(_, said)| said);
        let unless_known = if is_of_template { said } else { UNKNOWN_TEXT };
        let text = self.text.as_deref().unwrap_or(unless_known);
        let mut answer = error_with(errors, self.status, text, &self.place, &self.error);
        answer.tell("x-toolcheck-rule", self.rule.as_str());
        answer.tell("x-toolcheck-place", &self.place);
        if let Some(source) = &self.source {
            answer.tell("x-toolcheck-source", source);
        }
        if self.text.is_none() {
            answer.tell("x-toolcheck-text", "unknown");
        }
        answer.refused = Some(self);
        answer
    }
}

/// What the object of an error has besides, in which `{message}` stands for the number of the message and `{next}` for that of
/// the message after its results.
fn details(refusal: &Refusal, place: &str, request: &str) -> BTreeMap<String, Json> {
    let message = place.split('/').nth(2).unwrap_or_default();
    let fill = |value: &Json| match value.as_str() {
        Some(text) if text.contains("{next}") => match after_results(message, request) {
            Some(next) => text.replace("{next}", &next.to_string()),
            // No message is meant: all of them are.
            None => text.split('.').next().unwrap_or_default().to_owned(),
        }
        .into(),
        Some(text) => Json::from(text.replace("{message}", message)),
        None => value.clone(),
    };
    refusal.error.iter().map(|(key, value)| (key.clone(), fill(value))).collect()
}

fn after_results(message: &str, request: &str) -> Option<usize> {
    let request: Json = serde_json::from_str(request).ok()?;
    let first = message.parse::<usize>().ok()? + 1;
    let rest = request["messages"].as_array()?.get(first..)?;
    Some(first + rest.iter().position(|message| message["role"] != "tool")?)
}

/// Which findings an API reports first: it reads the text, then the shape, then what the messages hold, and then what
/// belongs together.
pub(crate) fn stage(finding: &Finding) -> (u8, usize) {
    let category = rules::get(finding.rule).category;
    let stage = match category {
        Category::Files => 0,
        Category::Fields => 1,
        Category::Pairing | Category::Order | Category::Reasoning => 3,
        _ => 2,
    };
    (stage, finding.spot.record_bytes.start)
}
