//! What a mock has seen.

use serde_json::{Value as Json, json};
use toolcheck_core::text::Counted;
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::{FileReport, Options, lint};

use crate::answer::{Opaque, Refused};
use crate::content::Content;
use crate::route::lacking;

/// What a mock has seen.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MockLog {
    /// The exchanges, in the order in which they were answered.
    pub exchanges: Vec<Exchange>,
    /// How many exchanges were answered and not kept, because there was no room for more.
    pub not_kept: usize,
    /// Why exchanges were refused that were not kept: the first thousand of them.
    pub refused_not_kept: Vec<Refused>,
    /// How many more there were.
    pub refused_not_listed: usize,
    /// The methods and paths of requests that ask for no conversation and that nothing else is known of: each once, in
    /// the order in which they came first.
    pub not_found: Vec<String>,
    /// Conversations that were sent to another API than those that the mock was asked to be: the method and the path, each
    /// once, in the order in which they came first.
    pub unexpected: Vec<String>,
}

/// A request and what was answered.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange {
    /// The path.
    pub path: String,
    /// The id of the format of the request.
    pub format: &'static str,
    /// The request; a string if it is not JSON.
    pub request: Content,
    /// The response: its body, or the events of its stream.
    pub response: Content,
    /// Whether the response broke off, so that only a part of it was sent.
    pub is_cut: bool,
    /// The status; 0 if there was none, as the client has given up before or the API behind a proxy does not answer.
    pub status: u16,
    /// Why it was refused.
    pub refused: Option<Refused>,
    /// Why the API refuses it, though it was answered because these rules are allowed.
    pub allowed: Vec<Refused>,
    /// Why another API would refuse it, if a proxy was asked to say so.
    pub against: Option<Refused>,
    /// After how many seconds the client was asked to try again.
    pub retry_after: Option<u64>,
    /// What of the response must come back as it is.
    pub opaque: Vec<Opaque>,
    /// Whether the request goes on from something that the server keeps, so that it need not bring it back.
    pub goes_on: bool,
    /// Why there is no answer: the recording that a mock answers from has none, or the API behind a proxy gives none.
    pub missed: Option<String>,
    /// The prompt that the chat template makes of the request; `None` if there is no template, or it refuses.
    pub prompt: Option<String>,
    /// When it was answered, in seconds since 1970.
    pub time: f64,
}

impl Exchange {
    /// The exchange as a record that `toolcheck lint` reads, without a line break.
    pub fn json_line(&self) -> String {
        let Self { path, request, response, status, time, .. } = self;
        let mut line = String::with_capacity(request.text().len() + response.text().len() + 200);
        line.push_str("{\"request\":");
        // A line break stands between two values: in a string it would be an escape.
        line.extend(request.text().chars().map(|one| if matches!(one, '\n' | '\r') { ' ' } else { one }));
        line.push_str(",\"response\":");
        line.push_str(response.text());
        let mut rest = json!({"path": path, "time": time});
        if *status > 0 {
            rest["status"] = json!(status);
        }
        let allowed = self.allowed.iter().map(|refused| refused.rule).collect::<Vec<_>>();
        let more = [
            ("allowed", (!allowed.is_empty()).then(|| json!(allowed))),
            ("rendered", self.prompt.as_ref().map(|prompt| json!(prompt))),
            ("cut", self.is_cut.then_some(Json::Bool(true))),
            ("headers", self.retry_after.map(|after| json!({"retry-after": after.to_string()}))),
        ];
        let known = rest.as_object().into_iter().flatten().map(|(key, value)| (&**key, value.clone()));
        let more = more.into_iter().filter_map(|(key, value)| Some((key, value?)));
        for (key, value) in known.chain(more) {
            line.push_str(&format!(",\"{key}\":{value}"));
        }
        line.push('}');
        line
    }

    /// What it takes to keep it.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [self.path.len(), self.request.text().len(), self.response.text().len()];
        let refused = self.refused.iter().chain(&self.allowed).chain(&self.against).map(Refused::bytes);
        let missed = [&self.missed, &self.prompt].map(|text| text.as_ref().map_or(0, String::len));
        let missed: usize = missed.iter().sum();
        let opaque = self.opaque.iter().map(|opaque| size_of::<Opaque>() + opaque.text.len());
        size_of::<Self>() + missed + texts.into_iter().chain(refused).chain(opaque).sum::<usize>()
    }
}

impl MockLog {
    /// The requests that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &Refused> {
        let kept = self.exchanges.iter().filter_map(|exchange| exchange.refused.as_ref());
        kept.chain(&self.refused_not_kept)
    }

    /// The requests that the recording has no answer to: their paths, and what is known of it.
    pub fn missed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.exchanges.iter().filter_map(|exchange| Some((&*exchange.path, exchange.missed.as_deref()?)))
    }

    /// The exchanges as JSON Lines, as `toolcheck lint` reads them.
    pub fn json_lines(&self) -> String {
        self.exchanges.iter().map(|exchange| exchange.json_line() + "\n").collect()
    }

    /// What the linter finds in the exchanges: in each request, and between a response and the next request.
    pub fn lint(&self) -> FileReport {
        lint("exchanges.jsonl", self.json_lines().as_bytes(), &Options::new())
    }

    /// How many requests it has answered as an API.
    pub fn requests(&self) -> usize {
        self.exchanges.len() + self.not_kept
    }

    /// What was refused, as JSON.
    pub fn report(&self) -> Json {
        let allowed = self.exchanges.iter().flat_map(|exchange| &exchange.allowed);
        let missed: Vec<Json> =
            self.missed().map(|(path, why)| json!({"path": path, "message": why})).collect();
        let lacking = |line: &String| {
            let (_, path) = line.split_once(' ')?;
            Some((line.clone(), Json::from(lacking(path)?)))
        };
        let hints: serde_json::Map<String, Json> = self.not_found.iter().filter_map(lacking).collect();
        json!({
            "version": 1,
            "requests": self.requests(),
            "not_recorded": missed,
            "not_kept": self.not_kept,
            "not_found": self.not_found,
            "not_found_hints": hints,
            "unexpected": self.unexpected,
            "refused": self.refused().map(Refused::json).collect::<Vec<_>>(),
            "refused_not_listed": self.refused_not_listed,
            "allowed": allowed.map(Refused::json).collect::<Vec<_>>(),
        })
    }

    /// Fails if a request was refused, if one was sent to another API than those that the mock was asked to be, or if the
    /// linter finds an error between the requests: even where a client has swallowed the refusal.
    ///
    /// # Panics
    ///
    /// There is such a request; the message has what is wrong with each, and what the API says.
    #[track_caller]
    pub fn assert_conformant(&self) {
        let unexpected = self.unexpected.iter().map(|path| format!("not expected: {path}"));
        let allowed = self.exchanges.iter().flat_map(|exchange| &exchange.allowed);
        let told: Vec<RuleId> = self.refused().chain(allowed).map(|refused| refused.rule).collect();
        let refused = self.refused().map(|refused| {
            let Refused { rule, message, place, text, status, .. } = refused;
            let text = text.as_ref().map_or_else(String::new, |text| format!("\n  the API says: {text}"));
            format!("refused with {status}: {rule} at {place}: {message}{text}")
        });
        let missed = self.missed().map(|(path, why)| format!("{path}: {why}"));
        let not_kept = (self.not_kept > 0).then(|| {
            format!("{} not checked: there was no room to keep them", Counted(self.not_kept, "exchange"))
        });
        let report = (!self.exchanges.is_empty()).then(|| self.lint());
        let findings = report.iter().flat_map(|report| &report.findings);
        let errors = findings.filter(|finding| finding.level == Level::Error);
        let found = errors
            .filter(|finding| !told.contains(&finding.rule))
            .map(|finding| format!("{}: {}", finding.rule, finding.message));
        let all: Vec<String> = unexpected.chain(refused).chain(missed).chain(not_kept).chain(found).collect();
        assert!(all.is_empty(), "{}:\n{}", Counted(all.len(), "fault"), all.join("\n"));
    }
}
