//! What a mock has seen.

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use toolcheck_core::Level;
use toolcheck_core::text::{Counted, bounded};
use toolcheck_lint::{FileReport, Options, lint};

use crate::provider::{Opaque, Provider, Refused};
use crate::script::Turn;

/// How many bytes of exchanges are kept. Later ones are answered, and counted.
const MOST_KEPT: usize = 256 << 20;

/// What a mock has seen.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Run {
    /// The exchanges, in the order in which they were answered.
    pub exchanges: Vec<Exchange>,
    /// How many exchanges were answered and not kept.
    pub not_kept: usize,
    /// The methods and paths of requests that ask for no conversation and that nothing else is known of: each once, in
    /// the order in which they came first.
    pub not_found: Vec<String>,
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
    pub request: Json,
    /// The text of the request, if it holds halves of characters: those are U+FFFD in `request`.
    pub raw: Option<String>,
    /// The response: its body, or the events of its stream.
    pub response: Json,
    /// The status.
    pub status: u16,
    /// Why it was refused.
    pub refused: Option<Refused>,
    /// Why another API would refuse it, if a proxy was asked to say so.
    pub against: Option<Refused>,
    /// After how many seconds the client was asked to try again.
    pub retry_after: Option<u64>,
    /// What of the response must come back as it is.
    pub opaque: Vec<Opaque>,
    /// When it was answered, in seconds since 1970.
    pub time: f64,
}

/// The body as JSON, or as a string if it is none; and its text, if the JSON is not all of it.
pub(crate) fn read(body: &[u8]) -> (Json, Option<String>) {
    if let Ok(json) = serde_json::from_slice(body) {
        return (json, None);
    }
    let text = String::from_utf8_lossy(body).into_owned();
    match serde_json::from_str(&without_halves(&text)) {
        Ok(json) => (json, Some(text)),
        Err(_) => (Json::String(text), None),
    }
}

/// A text of JSON with U+FFFD in place of each half of a character, which JavaScript and Python send and a Rust string
/// can't hold.
fn without_halves(text: &str) -> String {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let after = || escape.get(6..).and_then(unit);
        let (length, is_half) = match unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(after(), Some(0xDC00..=0xDFFF)) => (12, false),
            Some(0xD800..=0xDFFF) => (6, true),
            Some(_) => (6, false),
            None => (1 + escape[1..].chars().next().map_or(0, char::len_utf8), false),
        };
        whole.push_str(if is_half { "\\ufffd" } else { &escape[..length] });
        rest = &escape[length..];
    }
    whole + rest
}

/// What the threads of a mock share.
#[derive(Debug)]
pub(crate) struct State {
    provider: Mutex<Arc<Provider>>,
    pub(crate) most_body: usize,
    kept: Mutex<Kept>,
    watch: Watch,
}

/// The most paths that are kept of those that nothing is known of, and their length.
const MOST_MISSED: usize = 100;
const LONGEST_PATH: usize = 200;

/// The most different requests whose attempts are counted.
const MOST_COUNTED: usize = 100_000;

#[derive(Debug, Default)]
struct Kept {
    /// How often each request was answered, by its hash.
    attempts: HashMap<u64, u32>,
    /// The numbers of the turns that are given once, and were.
    given: Vec<usize>,
    run: Run,
    bytes: usize,
}

/// What is called with each exchange.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<Watcher>>);

type Watcher = dyn Fn(&Exchange) + Send + Sync;

impl Watch {
    pub(crate) fn new(watch: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(crate) fn see(&self, exchange: &Exchange) {
        if let Some(watch) = &self.0 {
            watch(exchange);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(..)" } else { "Watch" })
    }
}

impl State {
    pub(crate) fn new(provider: Provider, most_body: usize, watch: Watch) -> Self {
        Self { provider: Mutex::new(Arc::new(provider)), most_body, kept: Mutex::default(), watch }
    }

    /// What answers the next request.
    pub(crate) fn provider(&self) -> Arc<Provider> {
        // A provider is replaced as a whole.
        Arc::clone(&self.provider.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the model say other turns from now on.
    pub(crate) fn follow(&self, script: Vec<Turn>) {
        let mut provider = self.provider.lock().unwrap_or_else(PoisonError::into_inner);
        *provider = Arc::new(Provider { script, ..Provider::clone(&provider) });
        drop(provider);
        self.kept().given.clear();
    }

    /// How often the same request was answered before, and the turns that are given once, and were.
    pub(crate) fn attempt(&self, body: &[u8]) -> (u32, Vec<usize>) {
        let mut kept = self.kept();
        let given = kept.given.clone();
        let key = kept.attempts.hasher().hash_one(body);
        if kept.attempts.len() >= MOST_COUNTED && !kept.attempts.contains_key(&key) {
            return (0, given);
        }
        let attempts = kept.attempts.entry(key).or_default();
        *attempts += 1;
        (*attempts - 1, given)
    }

    /// Notes that a turn that is given once was.
    pub(crate) fn give(&self, turn: usize) {
        self.kept().given.push(turn);
    }

    /// Notes a path that nothing is known of.
    pub(crate) fn miss(&self, method: &str, path: &str) {
        let mut kept = self.kept();
        let line = bounded(&format!("{method} {path}"), LONGEST_PATH);
        let missed = &mut kept.run.not_found;
        if missed.len() < MOST_MISSED && !missed.contains(&line) {
            missed.push(line);
        }
    }

    /// Forgets what was seen.
    pub(crate) fn forget(&self) {
        *self.kept() = Kept::default();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // An exchange is added as a whole, so a panic in another thread leaves the list valid.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an exchange whose bodies have this many bytes.
    pub(crate) fn keep(&self, exchange: Exchange, bytes: usize) {
        self.watch.see(&exchange);
        let mut kept = self.kept();
        if kept.bytes + bytes > MOST_KEPT {
            kept.run.not_kept += 1;
            return;
        }
        kept.bytes += bytes;
        kept.run.exchanges.push(exchange);
    }

    /// Looks at what was seen so far.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Run) -> T) -> T {
        look(&self.kept().run)
    }

    /// What was seen, which is forgotten.
    pub(crate) fn take(&self) -> Run {
        std::mem::take(&mut *self.kept()).run
    }
}

impl Exchange {
    /// The exchange as a record that `toolcheck lint` reads, without a line break.
    #[must_use]
    pub fn json_line(&self) -> String {
        let Self { path, request, response, status, time, retry_after, .. } = self;
        let mut line =
            json!({"request": request, "response": response, "status": status, "path": path, "time": time});
        if let Some(after) = retry_after {
            line["headers"] = json!({"retry-after": after.to_string()});
        }
        match &self.raw {
            None => line.to_string(),
            // A line break stands between two values: in a string it would be an escape.
            Some(raw) => {
                line["request"].take();
                let raw = raw.replace(['\n', '\r'], " ");
                line.to_string().replacen("\"request\":null", &format!("\"request\":{raw}"), 1)
            }
        }
    }
}

impl Run {
    /// The requests that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &Refused> {
        self.exchanges.iter().filter_map(|exchange| exchange.refused.as_ref())
    }

    /// The exchanges as JSON Lines, as `toolcheck lint` reads them.
    #[must_use]
    pub fn json_lines(&self) -> String {
        self.exchanges.iter().map(|exchange| exchange.json_line() + "\n").collect()
    }

    /// What the linter finds in the exchanges: in each request, and between a response and the next request.
    #[must_use]
    pub fn lint(&self) -> FileReport {
        lint("exchanges.jsonl", self.json_lines().as_bytes(), &Options::new())
    }

    /// What was refused, as JSON.
    #[must_use]
    pub fn report(&self) -> Json {
        let refused = |refused: &Refused| {
            let Refused { rule, message, place, text, status, source } = refused;
            json!({
                "rule": rule, "message": message, "place": place, "text": text, "status": status, "source": source,
            })
        };
        json!({
            "version": 1,
            "requests": self.exchanges.len() + self.not_kept,
            "not_found": self.not_found,
            "refused": self.refused().map(refused).collect::<Vec<_>>()
        })
    }

    /// Fails if a request was refused, or if the linter finds an error between the requests: even where a client has
    /// swallowed the refusal.
    ///
    /// # Panics
    ///
    /// There is such a request; the message has what is wrong with each, and what the API says.
    #[track_caller]
    pub fn assert_conformant(&self) {
        if self.exchanges.is_empty() {
            return;
        }
        let told: Vec<&str> = self.refused().map(|refused| &*refused.rule).collect();
        let refused = self.refused().map(|refused| {
            let Refused { rule, message, place, text, status, .. } = refused;
            let text = text.as_ref().map_or_else(String::new, |text| format!("\n  the API says: {text}"));
            format!("refused with {status}: {rule} at {place}: {message}{text}")
        });
        let report = self.lint();
        let errors = report.findings.iter().filter(|finding| finding.level == Level::Error);
        let found = errors
            .filter(|finding| !told.contains(&finding.rule))
            .map(|finding| format!("{}: {}", finding.rule, finding.message));
        let all: Vec<String> = refused.chain(found).collect();
        assert!(all.is_empty(), "{}:\n{}", Counted(all.len(), "fault"), all.join("\n"));
    }
}
